// Columns of values (values.hpp), of one byte a position or two.

#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstring>
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

// ---- columns of structures without pieces ----
//
// Sets hold them as [pair of kings][structure], tables as [structure][pair of kings].

constexpr size_t TILE = 64;

// Calls copy(first row, rows, first column, columns) for tiles of a matrix, which stay in the cache while they are
// turned.
template <class Copy>
void each_tile(size_t rows, size_t columns, Copy copy) {
    for (size_t column = 0; column < columns; column += TILE)
        for (size_t row = 0; row < rows; row += TILE)
            copy(row, std::min(TILE, rows - row), column, std::min(TILE, columns - column));
}

template <class T>
void require_turned(size_t pairs, size_t structures, size_t first, const Array<T, nb::ndim<2>>& out, size_t at) {
    require(first <= structures && out.shape(0) <= structures - first, "structures that are not painted");
    require(at <= out.shape(1) && pairs <= out.shape(1) - at, "columns that are shorter than their pairs");
}

// out(structure, at + pair) = in(pair, first + structure)
template <class T>
void turn_points(Array<const T, nb::ndim<2>> in, size_t first, Array<T, nb::ndim<2>> out, size_t at) {
    require_turned(in.shape(0), in.shape(1), first, out, at);
    nb::gil_scoped_release release;
    const size_t from = in.shape(1), to = out.shape(1);
    each_tile(in.shape(0), out.shape(0), [&](size_t pair, size_t pairs, size_t structure, size_t structures) {
        T tile[TILE][TILE];
        for (size_t i = 0; i < pairs; ++i) {
            const T* const painted = in.data() + (pair + i) * from + first + structure;
            for (size_t s = 0; s < structures; ++s) tile[s][i] = painted[s];
        }
        for (size_t s = 0; s < structures; ++s)
            std::memcpy(out.data() + (structure + s) * to + at + pair, tile[s], pairs * sizeof(T));
    });
}

// out(structure, at + pair) = whether the set of a pair has the structure `first + structure`
void turn_bits(Array<const uint64_t, nb::ndim<2>> in, size_t first, Array<uint8_t, nb::ndim<2>> out, size_t at) {
    require_turned(in.shape(0), 64 * in.shape(1), first, out, at);
    nb::gil_scoped_release release;
    const size_t to = out.shape(1);
    each_tile(in.shape(0), out.shape(0), [&](size_t pair, size_t pairs, size_t structure, size_t structures) {
        uint8_t tile[TILE][TILE];
        for (size_t i = 0; i < pairs; ++i) {
            const uint64_t* const set = in.data() + (pair + i) * in.shape(1);
            for (size_t s = 0; s < structures; ++s) {
                const size_t bit = first + structure + s;
                tile[s][i] = set[bit / 64] >> bit % 64 & 1;
            }
        }
        for (size_t s = 0; s < structures; ++s)
            std::memcpy(out.data() + (structure + s) * to + at + pair, tile[s], pairs);
    });
}

// Fills the slots of each structure that hold no position, by marks of those that do. Returns how many do.
template <class T>
uint64_t fill_marked(Array<T, nb::ndim<2>> columns, Array<const uint8_t, nb::ndim<2>> marks) {
    const size_t size = marks.shape(1), words = size / 64;
    require(columns.shape(0) == marks.shape(0) && columns.shape(1) == size && size % 64 == 0,
            "a column does not fit its marks");
    nb::gil_scoped_release release;
    uint64_t counted = 0;
    std::vector<uint64_t> held(words);
    for (size_t structure = 0; structure < marks.shape(0); ++structure) {
        for (size_t w = 0; w < words; ++w) {
            held[w] = 0;
            for (size_t byte = 0; byte < 8; ++byte) {
                uint64_t eight;
                std::memcpy(&eight, marks.data() + structure * size + 64 * w + 8 * byte, 8);
                held[w] |= eight * 0x0102040810204080 >> 56 << 8 * byte;
            }
            counted += static_cast<uint64_t>(__builtin_popcountll(held[w]));
        }
        columns_in<T>(kernels()).fill(columns.data() + structure * size, held.data(), words);
    }
    return counted;
}

template <class T>
void bind_columns(nb::module_& m) {
    m.def("turn_points", turn_points<T>, STRICT, PLAIN, STRICT, PLAIN);
    m.def("fill_marked", fill_marked<T>, STRICT, STRICT);
    m.def("paint", paint<T>, PLAIN, STRICT, PLAIN, STRICT);
    m.def("fill", fill<T>, STRICT, STRICT);
    m.def("equal", equal<T>, STRICT, PLAIN, STRICT);
    m.def("signs", signs<T>, STRICT, STRICT, STRICT);
}

}  // namespace

void bind_values(nb::module_& m) {
    m.def("turn_bits", turn_bits, STRICT, PLAIN, STRICT, PLAIN);
    bind_columns<int8_t>(m);
    bind_columns<int16_t>(m);
    nb::class_<Painting>(m, "Painting")
        .def(nb::init<const Domain&, Pairs, std::vector<Painting::Layer>>(), "domain"_a, "pairs"_a, "layers"_a)
        .def("paint", &Painting::paint<int8_t>, PLAIN, PLAIN, PLAIN, STRICT, STRICT, PLAIN)
        .def("paint", &Painting::paint<int16_t>, PLAIN, PLAIN, PLAIN, STRICT, STRICT, PLAIN);
}

}  // namespace kingpair
