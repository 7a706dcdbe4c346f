// The binding of the kernels that code and decode the values of Syzygy files.

#include <algorithm>
#include <array>
#include <tuple>

#include "binding.hpp"
#include "syzygy_checksum.hpp"
#include "syzygy_decoder.hpp"
#include "syzygy_pairs.hpp"

namespace kingpair::syzygy {

void bind_coding(nb::module_&);

namespace {

template <class T>
using Rows = Array<const T, nb::ndim<1>>;

class CodedValues {
  public:
    // `spans`, `sizes` and `data` are (first byte, bytes) in the file.
    using Part = std::pair<size_t, size_t>;

    CodedValues(Stream file, Decoder decoder, Part spans, Part sizes, Part data, std::pair<int, int> logs)
        : file_(std::move(file)),
          decoder_(std::move(decoder)),
          parts_{part(spans), part(sizes), part(data), logs.first, logs.second} {
        require(logs.first >= 0 && logs.first < 32 && logs.second >= 0 && logs.second < 48, "no such block or span");
    }

    int value(uint64_t place) const { return decoder_.value(parts_, place); }

    void values(uint64_t place, Array<uint16_t, nb::ndim<1>> out) const {
        nb::gil_scoped_release release;
        decoder_.values(parts_, place, {out.data(), out.size()});
    }

  private:
    Bytes part(Part p) const {
        require(p.first <= file_.size() && p.second <= file_.size() - p.first, "the file is too short");
        return {file_.data() + p.first, p.second};
    }

    Stream file_;  // keeps the bytes alive
    Decoder decoder_;
    Decoder::Parts parts_;
};

Decoder decoder_of(int shortest, const std::vector<uint16_t>& offsets,
                   const Array<const uint16_t, nb::ndim<2>>& pairs) {
    require(pairs.shape(1) == 2, "a symbol has two halves");
    std::vector<Symbol> symbols(pairs.shape(0));
    for (size_t i = 0; i < symbols.size(); ++i) symbols[i] = {pairs(i, 0), pairs(i, 1)};
    return Decoder(shortest, offsets, std::move(symbols));
}

// `pause` may raise. So may Ctrl-C: Python's handler runs in the main thread alone, and raises there.
nb::tuple coded(PairingRoom& room, Rows<uint16_t> values, int symbols, std::pair<int, int> logs,
                const nb::callable& pause) {
    require(values.size() > 0, "no values");
    CodedTable table;
    {
        nb::gil_scoped_release release;
        table = code_values({values.data(), values.size()}, {symbols, logs.first, logs.second}, room, [&] {
            nb::gil_scoped_acquire acquire;
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
            pause();
        });
    }
    std::vector<uint16_t> halves;
    for (const auto& [first, second] : table.symbols) halves.insert(halves.end(), {first, second});
    return nb::make_tuple(table.shortest, table.offsets, owned(std::move(halves)), table.block_log2,
                          owned(std::move(table.sizes)), owned(std::move(table.data)));
}

}  // namespace

void bind_coding(nb::module_& m) {
    nb::exception<DamagedCode>(m, "DamagedCode", PyExc_ValueError);
    nb::class_<Decoder>(m, "SyzygyDecoder").def(nb::new_(&decoder_of));
    nb::class_<CodedValues>(m, "SyzygyValues")
        .def(nb::init<Stream, Decoder, CodedValues::Part, CodedValues::Part, CodedValues::Part, std::pair<int, int>>())
        .def("value", &CodedValues::value)
        .def("values", &CodedValues::values, PLAIN, STRICT);
    m.def("syzygy_checksum", [](const Stream& file) {
        require(file.size() > 0, "no bytes");
        std::array<uint8_t, 16> sum;
        {
            nb::gil_scoped_release release;
            sum = checksum_of({file.data(), file.size()});
        }
        return nb::bytes(sum.data(), sum.size());
    });
    nb::class_<PairingRoom>(m, "SyzygyPairingRoom").def(nb::init<>());
    m.def("syzygy_code", &coded);
    m.def("syzygy_estimate", [](Rows<uint16_t> values, int symbols) {
        nb::gil_scoped_release release;
        return estimate_bytes({values.data(), values.size()}, symbols);
    });
    m.def(
        "syzygy_choose_free",
        [](Array<uint16_t, nb::ndim<1>> values, bool all) {
            nb::gil_scoped_release release;
            return choose_free({values.data(), values.size()}, all);
        },
        STRICT, PLAIN);
    m.def("syzygy_counts", [](Rows<uint16_t> values) {
        std::vector<uint64_t> found;
        {
            nb::gil_scoped_release release;
            found = count_values({values.data(), values.size()});
        }
        return owned(std::move(found));
    });
    m.def(
        "syzygy_replace",
        [](Array<uint16_t, nb::ndim<1>> values, Rows<uint16_t> table) {
            require(table.size() == 1 << 16, "a value for each");
            nb::gil_scoped_release release;
            std::transform(values.data(), values.data() + values.size(), values.data(),
                           [&](uint16_t value) { return table.data()[value]; });
        },
        STRICT, PLAIN);
}

}  // namespace kingpair::syzygy
