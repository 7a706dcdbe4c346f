// Values of children in the frame of a domain (child_view.hpp), and the sets that they make.

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "binding.hpp"
#include "child_view.hpp"

namespace kingpair {
namespace {

template <class T>
const ColumnKernels<T>& columns_in(const Kernels& kernels) {
    if constexpr (sizeof(T) == 1) return kernels.narrow;
    else return kernels.wide;
}

// The set of slots of a partition that hold a position, and two more, aligned.
class Sets {
  public:
    explicit Sets(size_t words)
        : words_(words), memory_(static_cast<uint64_t*>(std::aligned_alloc(64, 3 * words * 8)), std::free) {
        if (!memory_) throw std::bad_alloc();
    }
    uint64_t* legal() { return memory_.get(); }
    uint64_t* won() { return memory_.get() + words_; }
    uint64_t* lost() { return memory_.get() + 2 * words_; }

  private:
    size_t words_;
    std::unique_ptr<uint64_t, void (*)(void*)> memory_;
};

// Writes a partition of a layer; `word(i)` are its words. They fill whole rows.
template <class Word>
void write(const Domain& d, int pair, Layer layer, Word word) {
    const size_t rows = d.rows(), at = static_cast<size_t>(d.slot[pair]);
    uint64_t* const words = layer.words + at * rows * 64;
    uint32_t live = 0;
    for (size_t row = 0; row < rows; ++row) {
        unsigned marks = 0;
        for (size_t w = row * 64; w < row * 64 + 64; ++w) {
            words[w] = word(w);
            marks |= unsigned{words[w] != 0} << w % 64 / 8;
        }
        layer.occupied[at * rows + row] = static_cast<uint8_t>(marks);
        live += marks != 0;
    }
    layer.live[at] = live;
}

class BoundView {
  public:
    using Rows = Array<const int32_t, nb::ndim<2>>;
    using Views = Array<const int32_t, nb::ndim<1>>;
    using Seen = Array<const int32_t, nb::ndim<3>>;
    using Maps = Array<const uint32_t, nb::ndim<2>>;

    // `child` are the rows, pairs and slots of the columns that are read.
    BoundView(Rows rows, Views views, Seen seen, Maps maps, const std::vector<size_t>& child)
        : rows_(rows), views_(views), seen_(seen), maps_(maps) {
        require(child.size() == 3, "a child has rows, pairs and slots");
        require(rows.shape(1) == 2 && rows.shape(0) == views.shape(0), "two rows and a view for each place");
        require(seen.shape(2) == 3, "seen: [view][pair][3]");
        const auto below = [](const auto& array, size_t count) {
            return std::all_of(array.data(), array.data() + array.size(),
                               [&](auto v) { return v >= 0 && static_cast<size_t>(v) < count; });
        };
        require(below(rows, child[0]) && below(views, seen.shape(0)) && below(maps, child[2]),
                "a place that reads beyond the child");
        for (size_t i = 0; i < seen.size(); i += 3) {
            const int32_t* const s = seen.data() + i;
            require(s[0] >= 0 && static_cast<size_t>(s[0]) < child[1] && (s[1] == 0 || s[1] == 1) && s[2] >= 0 &&
                        static_cast<size_t>(s[2]) < maps.shape(0),
                    "a view that reads beyond the child");
        }
        for (size_t i = 0; i < maps.shape(0); ++i)
            eights_.push_back(eights_of(maps.data() + i * maps.shape(1), maps.shape(1)));
        view_ = {
            rows.shape(0), seen.shape(0), seen.shape(1), maps.shape(1), child[0],
            child[1],      child[2],      rows.data(),   views.data(),  reinterpret_cast<const SeenPair*>(seen.data()),
            maps.data(),   eights_.data()};
    }

    // The positions that are lost, not won and won for the side to move. The column has the child's pairs from `first`
    // on.
    template <class T>
    void judge(const Domain& d, const Pairs& pairs, int to_move, const Array<const T, nb::ndim<3>>& column,
               size_t first, const LayerArrays& lost, const LayerArrays& not_won, const LayerArrays& won,
               const ScratchSpace& s) const {
        const auto parts = parts_of(d, pairs);
        const ChildColumn<T> read_from = require_fit(d, parts, to_move, column, first);
        const Layer out[3] = {lost.get(d, parts), not_won.get(d, parts), won.get(d, parts)};
        auto scratch = s.get(d);
        nb::gil_scoped_release release;
        const bool are_points = view_.left == 1;
        std::vector<T> values(d.slots() * (are_points ? parts.count : 1));
        if (are_points) view_.read_points(parts.pair, parts.count, read_from, values.data(), d.slots());
        Sets sets(d.slots() / 64);
        for (size_t i = 0; i < parts.count; ++i) {
            const int pair = parts.pair[i];
            const T* const read = values.data() + (are_points ? i * d.slots() : 0);
            if (!are_points) view_.read(static_cast<size_t>(pair), read_from, values.data());
            kernels_of(d).legal(d, pair, to_move, sets.legal(), scratch);
            columns_in<T>(kernels_of(d)).signs(read, d.slots() / 64, sets.won(), sets.lost());
            write(d, pair, out[0], [&](size_t w) { return sets.legal()[w] & sets.lost()[w]; });
            write(d, pair, out[1], [&](size_t w) { return sets.legal()[w] & ~sets.won()[w]; });
            write(d, pair, out[2], [&](size_t w) { return sets.legal()[w] & sets.won()[w]; });
        }
    }

    // The values of some pairs, zero where there is no position; `out` is [pair][slot] of all of them.
    template <class T>
    void values(const Domain& d, const Pairs& pairs, int to_move, const Array<const T, nb::ndim<3>>& column,
                size_t first, const Array<T, nb::ndim<2>>& out, const ScratchSpace& s) const {
        const auto parts = parts_of(d, pairs);
        const ChildColumn<T> read_from = require_fit(d, parts, to_move, column, first);
        require(out.shape(0) == view_.pairs && out.shape(1) == d.slots(), "columns that do not fit the domain");
        auto scratch = s.get(d);
        nb::gil_scoped_release release;
        const bool are_points = view_.left == 1;
        std::vector<T> points(are_points ? d.slots() * parts.count : 0);
        if (are_points) view_.read_points(parts.pair, parts.count, read_from, points.data(), d.slots());
        Sets sets(d.slots() / 64);
        for (size_t i = 0; i < parts.count; ++i) {
            const int pair = parts.pair[i];
            T* const found = out.data() + static_cast<size_t>(pair) * d.slots();
            if (are_points) std::copy_n(points.data() + i * d.slots(), d.slots(), found);
            else view_.read(static_cast<size_t>(pair), read_from, found);
            kernels_of(d).legal(d, pair, to_move, sets.legal(), scratch);
            for (size_t w = 0; w < d.slots() / 64; ++w)
                for (uint64_t absent = ~sets.legal()[w]; absent; absent &= absent - 1)
                    found[64 * w + static_cast<size_t>(__builtin_ctzll(absent))] = T{0};
        }
    }

  private:
    template <class T>
    ChildColumn<T> require_fit(const Domain& d, const Parts& parts, int to_move,
                               const Array<const T, nb::ndim<3>>& column, size_t first) const {
        require_side(to_move);
        const size_t count = column.shape(1);
        require(column.shape(0) == view_.child_rows && column.shape(2) == view_.child_slots &&
                    first <= view_.child_pairs && count <= view_.child_pairs - first,
                "a column that does not fit the child");
        require(static_cast<size_t>(d.pairs) == view_.pairs && d.structures.count == view_.places &&
                    size_t{1} << (6 * d.men) == view_.left && d.slots() % 64 == 0,
                "a view that does not fit the domain");
        for (size_t view = 0; count < view_.child_pairs && view < view_.views; ++view)
            for (size_t i = 0; i < parts.count; ++i) {
                const auto pair = static_cast<size_t>(view_.seen[view * view_.pairs + parts.pair[i]].pair);
                require(pair >= first && pair - first < count, "a pair that the column does not have");
            }
        return {column.data(), first, count};
    }

    Rows rows_;
    Views views_;
    Seen seen_;
    Maps maps_;
    std::vector<Eights> eights_;
    ChildView view_{};
};

template <class T, class Class>
void bind_values_of(Class& bound) {
    bound.def("judge", &BoundView::judge<T>, PLAIN, PLAIN, PLAIN, STRICT, PLAIN, PLAIN, PLAIN, PLAIN, PLAIN);
    bound.def("values", &BoundView::values<T>, PLAIN, PLAIN, PLAIN, STRICT, PLAIN, STRICT, PLAIN);
}

}  // namespace

void bind_child_views(nb::module_& m) {
    nb::class_<BoundView> bound(m, "ChildView");
    bound.def(
        nb::init<BoundView::Rows, BoundView::Views, BoundView::Seen, BoundView::Maps, const std::vector<size_t>&>());
    bind_values_of<int8_t>(bound);
    bind_values_of<int16_t>(bound);
}

}  // namespace kingpair
