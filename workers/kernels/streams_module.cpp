// Layers to and from streams of bytes (streams.hpp).

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "binding.hpp"

namespace kingpair {
namespace {

// One buffer with the streams of the partitions, and where each ends. The buffer belongs to the thread and is good
// until the thread packs again.
nb::tuple pack(const Domain& d, const Pairs& pairs, const LayerArrays& layer) {
    auto parts = parts_of(d, pairs);
    auto l = layer.get(d, parts);
    // Kept from call to call. It has room for a full layer, of seven men 146 MiB, and takes memory for what was
    // written.
    static thread_local std::unique_ptr<uint8_t[]> buffer;
    static thread_local size_t room = 0;
    std::vector<size_t> ends;
    size_t end = 0;
    {
        nb::gil_scoped_release release;
        const size_t most = parts.count * packed_max(d.rows());
        if (room < most) {
            buffer = std::make_unique_for_overwrite<uint8_t[]>(most);
            room = most;
        }
        for (size_t i = 0; i < parts.count; ++i) {
            end += kernels_of(d).pack(d, parts.pair[i], l, buffer.get() + end);
            ends.push_back(end);
        }
    }
    char* const bytes = reinterpret_cast<char*>(buffer.get());
    PyObject* const streams = PyMemoryView_FromMemory(bytes, static_cast<Py_ssize_t>(end), PyBUF_READ);
    if (!streams) throw nb::python_error();
    return nb::make_tuple(nb::steal(streams), ends);
}

bool take_out(const Domain& d, int pair, Stream stream, const LayerArrays& open) {
    auto l = open.get(d, pair);
    nb::gil_scoped_release release;
    return kernels_of(d).take_out(d, pair, stream.data(), stream.size(), l);
}

bool put_in(const Domain& d, int pair, Stream stream, const LayerArrays& open) {
    auto l = open.get(d, pair);
    nb::gil_scoped_release release;
    return kernels_of(d).put_in(d, pair, stream.data(), stream.size(), l);
}

bool restore(const Domain& d, int pair, Stream stream, const LayerArrays& layer, const nb::object& less) {
    auto l = layer.get(d, pair);
    auto o = layer_or_none(less, d, pair);
    nb::gil_scoped_release release;
    return kernels_of(d).restore(d, pair, stream.data(), stream.size(), l, o);
}

// The same for the streams of some partitions in one buffer. False if one of them does not unpack.
bool restore_all(const Domain& d, const Pairs& pairs, Stream streams, const std::vector<size_t>& ends,
                 const LayerArrays& layer, const nb::object& less) {
    auto parts = parts_of(d, pairs);
    require(ends.size() == parts.count, "where the stream of each partition ends");
    for (size_t i = 0; i < ends.size(); ++i)
        require(ends[i] <= streams.size() && (i == 0 || ends[i] >= ends[i - 1]), "a stream ends beyond the buffer");
    auto l = layer.get(d, parts);
    auto o = layer_or_none(less, d, parts);
    nb::gil_scoped_release release;
    bool sound = true;
    size_t begin = 0;
    for (size_t i = 0; i < parts.count; begin = ends[i++])
        sound &= kernels_of(d).restore(d, parts.pair[i], streams.data() + begin, ends[i] - begin, l, o);
    return sound;
}

template <class T>
using ValuesOfPairs = Array<const T, nb::ndim<2>>;

// The layers that some columns hold: by value the streams of all partitions in one buffer, and where each ends. Zero
// is left out.
template <class T>
nb::dict layers_of(const Domain& domain, ValuesOfPairs<T> values) {
    require(values.shape(1) == domain.slots() && values.shape(1) % 64 == 0, "columns that do not fit the domain");
    Domain d = domain;  // each partition is packed from the beginning of a buffer
    for (int pair = 0; pair < d.pairs; ++pair) d.slot[pair] = 0;
    require(values.shape(0) == static_cast<size_t>(d.pairs), "a column for each partition");
    std::map<int, std::pair<std::vector<uint8_t>, std::vector<size_t>>> found;
    {
        nb::gil_scoped_release release;
        const size_t rows = d.rows(), words = values.shape(1) / 64;
        std::vector<uint8_t> memory(rows * 512 + 64), packed(packed_max(rows)), occupied(rows);
        auto* set = reinterpret_cast<uint64_t*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) & ~uintptr_t{63});
        uint32_t live = 1;
        const std::vector<uint8_t> nothing(8 * ((rows + 63) / 64));
        for (int pair = 0; pair < d.pairs; ++pair) {
            const T* column = values.data() + static_cast<size_t>(pair) * values.shape(1);
            std::set<int> present;
            for (size_t i = 0; i < values.shape(1); ++i)
                if (column[i] && (i == 0 || column[i] != column[i - 1])) present.insert(column[i]);
            for (int value : present) {
                auto& [streams, ends] = found[value];
                while (ends.size() < static_cast<size_t>(pair)) {
                    streams.insert(streams.end(), nothing.begin(), nothing.end());
                    ends.push_back(streams.size());
                }
                if constexpr (sizeof(T) == 1) kernels_of(d).narrow.equal(column, value, words, set);
                else kernels_of(d).wide.equal(column, value, words, set);
                std::fill(set + words, set + rows * 64, 0);
                for (size_t row = 0; row < rows; ++row) {
                    unsigned marks = 0;
                    for (size_t w = 0; w < 64; ++w) marks |= unsigned{set[row * 64 + w] != 0} << w / 8;
                    occupied[row] = static_cast<uint8_t>(marks);
                }
                const size_t size = kernels_of(d).pack(d, pair, {set, occupied.data(), &live}, packed.data());
                streams.insert(streams.end(), packed.begin(), packed.begin() + static_cast<ptrdiff_t>(size));
                ends.push_back(streams.size());
            }
        }
        for (auto& [value, layer] : found)
            while (layer.second.size() < static_cast<size_t>(d.pairs)) {
                layer.first.insert(layer.first.end(), nothing.begin(), nothing.end());
                layer.second.push_back(layer.first.size());
            }
    }
    nb::dict out;
    for (auto& [value, layer] : found)
        out[nb::int_(value)] = nb::make_tuple(owned(std::move(layer.first)), layer.second);
    return out;
}

void refresh(const Domain& d, int pair, const LayerArrays& layer) {
    auto l = layer.get(d, pair);
    nb::gil_scoped_release release;
    kernels_of(d).refresh(d, pair, l);
}

}  // namespace

void bind_streams(nb::module_& m) {
    m.def("pack", pack);
    m.def("take_out", take_out);
    m.def("put_in", put_in);
    m.def("restore", restore, PLAIN, PLAIN, PLAIN, PLAIN, nb::arg().none() = nb::none());
    m.def("restore_all", restore_all, PLAIN, PLAIN, PLAIN, PLAIN, PLAIN, nb::arg().none() = nb::none());
    m.def("layers_of", layers_of<int8_t>, PLAIN, STRICT);
    m.def("layers_of", layers_of<int16_t>, PLAIN, STRICT);
    m.def("refresh", refresh);
}

}  // namespace kingpair
