// Columns of values (values.hpp), of one byte a position or two.

#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>
#include <vector>

#include "binding.hpp"

namespace kingpair {
namespace {

template <class T>
using Column = Array<T, nb::ndim<1>>;

template <class T>
const ColumnKernels<T>& columns_in(const Kernels& kernels) {
    if constexpr (sizeof(T) == 1) return kernels.narrow;
    else return kernels.wide;
}

template <class T>
bool paint(const Domain& d, Stream stream, int value, Column<T> column) {
    require_column(d, column);
    nb::gil_scoped_release release;
    return columns_in<T>(kernels_of(d)).paint(d, stream.data(), stream.size(), value, column.data());
}

// Layers that paint some partitions. Each is (side to move, value, streams in one buffer, where each ends, and of each
// partition the place of its stream or -1).
class Painting {
  public:
    using Ends = Array<const uint64_t, nb::ndim<1>>;
    using Layer = std::tuple<int, int, Stream, Ends, Pairs>;

    Painting(const Domain& d, Pairs pairs, std::vector<Layer> layers) : pairs_(pairs), layers_(std::move(layers)) {
        parts_of(d, pairs_);
        for (const auto& [side, value, streams, ends, places] : layers_) {
            require_side(side);
            require(places.size() == pairs_.size(), "a place or -1 for each partition");
            for (size_t i = 0; i < places.size(); ++i)
                require(places.data()[i] >= -1 && places.data()[i] < static_cast<int64_t>(ends.size()),
                        "no such stream");
            for (size_t i = 0; i < ends.size(); ++i)
                require((i ? ends.data()[i - 1] : 0) <= ends.data()[i] && ends.data()[i] <= streams.size(),
                        "a stream ends before it begins, or beyond the buffer");
        }
    }

    // Paints consecutive partitions, the first given by its number among those of the layers. False if a stream is
    // none.
    template <class T>
    bool paint(const Domain& d, size_t first, ConstWords canonical, Array<T, nb::ndim<2>> columns,
               Array<int64_t, nb::ndim<2>> counted, const ScratchSpace& s) const {
        const size_t slots = d.slots();
        require(columns.shape(0) == 2 && counted.shape(0) == 2, "a row for each side");
        const size_t count = counted.shape(1);
        require(columns.shape(1) == count * slots, "columns do not fit the partitions");
        require(first <= pairs_.size() && count <= pairs_.size() - first, "more partitions than the layers have");
        const uint64_t* masks = canonical_of(d, canonical);
        for (const auto& layer : layers_)
            require(static_cast<T>(std::get<1>(layer)) == std::get<1>(layer), "a value does not fit");
        auto scratch = s.get(d);
        nb::gil_scoped_release release;
        for (size_t i = 0; i < count; ++i) {
            auto streams = streams_of(first + i);
            T* const column[2] = {columns.data() + i * slots, columns.data() + (count + i) * slots};
            uint64_t found[2];
            if (!columns_in<T>(kernels_of(d))
                     .paint_partition(d, pairs_.data()[first + i], streams.data(), streams.size(), masks, column, found,
                                      scratch))
                return false;
            for (int side : {STRONGER, WEAKER}) counted.data()[side * count + i] = static_cast<int64_t>(found[side]);
        }
        return true;
    }

  private:
    // The streams that paint one partition.
    std::vector<PaintedStream> streams_of(size_t partition) const {
        std::vector<PaintedStream> painted;
        for (const auto& [side, value, streams, ends, places] : layers_) {
            const int place = places.data()[partition];
            if (place < 0) continue;
            const uint64_t begin = place ? ends.data()[place - 1] : 0, end = ends.data()[place];
            painted.push_back({streams.data() + begin, end - begin, side, value, 0});
        }
        return painted;
    }

    Pairs pairs_;
    std::vector<Layer> layers_;
};

template <class T>
void fill(Column<T> column, ConstWords counted) {
    require(column.size() == 64 * counted.size(), "a column does not fit its slots");
    nb::gil_scoped_release release;
    columns_in<T>(kernels()).fill(column.data(), counted.data(), counted.size());
}

template <class T>
void equal(Column<const T> column, int value, Words out) {
    require(column.size() == 64 * out.size(), "a column does not fit its slots");
    nb::gil_scoped_release release;
    columns_in<T>(kernels()).equal(column.data(), value, out.size(), out.data());
}

template <class T>
void signs(Column<const T> column, Words won, Words lost) {
    require(column.size() == 64 * won.size() && won.size() == lost.size(), "a column does not fit its slots");
    nb::gil_scoped_release release;
    columns_in<T>(kernels()).signs(column.data(), won.size(), won.data(), lost.data());
}

template <class T>
void bind_columns(nb::module_& m) {
    m.def("paint", paint<T>, PLAIN, STRICT, PLAIN, STRICT);
    m.def("fill", fill<T>, STRICT, STRICT);
    m.def("equal", equal<T>, STRICT, PLAIN, STRICT);
    m.def("signs", signs<T>, STRICT, STRICT, STRICT);
}

}  // namespace

void bind_values(nb::module_& m) {
    bind_columns<int8_t>(m);
    bind_columns<int16_t>(m);
    nb::class_<Painting>(m, "Painting")
        .def(nb::init<const Domain&, Pairs, std::vector<Painting::Layer>>(), "domain"_a, "pairs"_a, "layers"_a)
        .def("paint", &Painting::paint<int8_t>, PLAIN, PLAIN, PLAIN, STRICT, STRICT, PLAIN)
        .def("paint", &Painting::paint<int16_t>, PLAIN, PLAIN, PLAIN, STRICT, STRICT, PLAIN);
}

}  // namespace kingpair
