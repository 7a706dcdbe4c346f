// The steps of the analysis (kernels.cpp), each over some partitions.

#include <algorithm>
#include <vector>

#include "binding.hpp"
#include "xiangqi.hpp"

namespace kingpair {
namespace {

using SmallerSets = std::vector<nb::object>;

struct SmallerSize {
    size_t words_each, partitions;
};

// Of the sets that captures lead to: one for each man, in Chinese chess also for frame men by side and letter.
std::vector<SmallerSize> smaller_sizes(const Domain& d) {
    const auto partitions = static_cast<size_t>(d.pairs);
    if (!d.frame) {
        const size_t words = d.men ? 64 * rows_of(d.men - 1, d.structures.count) : 0;
        return std::vector<SmallerSize>(static_cast<size_t>(d.men), {words, partitions});
    }
    const xiangqi::Frame& frame = *d.frame;
    std::vector<SmallerSize> sizes(EXITS_MAX, {0, partitions});
    for (size_t i = 0; i < frame.without.size(); ++i) sizes[i].words_each = frame.inner * frame.without[i].rows * 64;
    for (size_t letter = 0; letter < xiangqi::LETTERS; ++letter) {
        sizes[xiangqi::FREE_MAX + letter] = {frame.smaller_inner[letter] * frame.axes.rows * 64, partitions};
        sizes[xiangqi::FREE_MAX + xiangqi::LETTERS + letter] = {frame.rows() * 64, frame.smaller_blocks[letter]};
    }
    return sizes;
}

// Per man an array, an array with marks of the partitions that hold anything, or None.
Exits exits_of(const Domain& d, const SmallerSets& smaller) {
    Exits exits{};
    const std::vector<SmallerSize> sizes = smaller_sizes(d);
    require(smaller.empty() || smaller.size() == sizes.size(), "one smaller set or None for each man");
    for (size_t i = 0; i < smaller.size(); ++i) {
        if (smaller[i].is_none()) continue;
        const bool marked = nb::isinstance<nb::tuple>(smaller[i]);
        auto words = nb::cast<ConstWords>(marked ? nb::object(smaller[i][0]) : smaller[i]);
        const auto [words_each, partitions] = sizes[i];
        require(words.size() == words_each * partitions && aligned(words.data()), "a smaller set does not fit");
        exits.words[i] = words.data();
        if (!marked) continue;
        auto live = nb::cast<Array<const uint8_t, nb::ndim<1>>>(smaller[i][1]);
        require(live.size() == partitions, "a mark for each partition of a smaller set");
        exits.live[i] = live.data();
    }
    return exits;
}

// A layer of another domain, and the arrows from it: (domain, layer, way, axis, begin, arrows).
Inflow inflow_of(const Domain& d, const nb::object& given, const Domain& indexed_by) {
    using Begin = Array<const uint32_t, nb::ndim<1>>;
    using Arrows = Array<const uint32_t, nb::ndim<2>>;
    const auto& from = nb::cast<const Domain&>(nb::object(given[0]));
    const auto begin = nb::cast<Begin>(nb::object(given[4]));
    const auto arrows = nb::cast<Arrows>(nb::object(given[5]));
    const auto way = nb::cast<int>(nb::object(given[2]));
    require(way >= Carry::plain && way <= Carry::taking, "no such way to carry a set");
    require(from.fixed && d.fixed && from.pairs == d.pairs, "sets are carried where the board is never turned");
    require(from.men == d.men - (way == Carry::taking), "a set of other men");
    const Domain& at = &indexed_by == &d ? d : from;
    const Domain& other = &indexed_by == &d ? from : d;
    require(begin.size() == at.structures.count + 1 && begin.data()[at.structures.count] == arrows.shape(0),
            "arrows: where those of each structure begin");
    require(arrows.shape(1) == 2, "arrows: [arrow][structure, square]");
    for (size_t i = 0; i < arrows.shape(0); ++i)
        require(arrows.data()[2 * i] < other.structures.count && arrows.data()[2 * i + 1] < 64,
                "an arrow leads nowhere");
    const auto axis = nb::cast<int>(nb::object(given[3]));
    require(axis >= 0 && (way != Carry::taking || axis < d.men), "no such axis");
    return {&from,
            nb::cast<const LayerArrays&>(nb::object(given[1])).get(from),
            {static_cast<Carry::Way>(way), axis, begin.data(), reinterpret_cast<const Arrow*>(arrows.data())}};
}

using Given = std::vector<nb::object>;

// Arrows that are listed by the structures they come from.
std::vector<Inflow> pushes_of(const Domain& d, const Given& given) {
    std::vector<Inflow> found;
    for (const auto& each : given) found.push_back(inflow_of(d, each, nb::cast<const Domain&>(nb::object(each[0]))));
    return found;
}

// Arrows that are listed by the structures they lead to.
std::vector<Inflow> holds_of(const Domain& d, const Given& given) {
    std::vector<Inflow> found;
    for (const auto& each : given) found.push_back(inflow_of(d, each, d));
    return found;
}

Inflows all_of(const std::vector<Inflow>& inflows) { return {inflows.data(), inflows.size()}; }

uint64_t* counts_of(const Counts& counts, const Parts& parts) {
    require(counts.size() == parts.count, "a count per partition");
    return counts.data();
}

void prepare(const Domain& d, Pairs pairs, int mover, const SmallerSets& escapes, const LayerArrays& open,
             const ScratchSpace& s) {
    require_side(mover);
    auto parts = parts_of(d, pairs);
    auto exits = exits_of(d, escapes);
    auto o = open.get(d, parts);
    auto scratch = s.get(d);
    nb::gil_scoped_release release;
    kernels_of(d).prepare(d, parts, mover, exits, o, scratch);
}

void lose_at_once(const Domain& d, Pairs pairs, int winner, const SmallerSets& won, const LayerArrays& open_w,
                  const LayerArrays& open_l, const LayerArrays& lost, const nb::object& canonical, Counts counts,
                  const ScratchSpace& s, const Given& holds, const nb::object& forced) {
    require_side(winner);
    auto parts = parts_of(d, pairs);
    auto exits = exits_of(d, won);
    auto held = holds_of(d, holds);
    auto f = layer_or_none(forced, d, parts);
    auto ow = open_w.get(d), ol = open_l.get(d, parts), l = lost.get(d, parts);
    auto c = canonical_of(d, canonical);
    auto n = counts_of(counts, parts);
    auto scratch = s.get(d);
    nb::gil_scoped_release release;
    kernels_of(d).lose_at_once(d, parts, winner, exits, all_of(held), f, ow, ol, l, c, n, scratch);
}

void win(const Domain& d, Pairs pairs, int winner, const SmallerSets& lost_after, const LayerArrays& lost,
         const LayerArrays& open_w, const LayerArrays& won, const nb::object& canonical, Counts counts,
         const ScratchSpace& s, const Given& pushes, const nb::object& winning) {
    require_side(winner);
    auto parts = parts_of(d, pairs);
    auto exits = exits_of(d, lost_after);
    auto pushed = pushes_of(d, pushes);
    auto x = layer_or_none(winning, d, parts);
    auto l = lost.get(d), ow = open_w.get(d, parts), w = won.get(d, parts);
    auto c = canonical_of(d, canonical);
    auto n = counts_of(counts, parts);
    auto scratch = s.get(d);
    nb::gil_scoped_release release;
    kernels_of(d).win(d, parts, winner, exits, all_of(pushed), x, l, ow, w, c, n, scratch);
}

void lose(const Domain& d, Pairs pairs, int winner, const LayerArrays& won, const LayerArrays& open_w,
          const LayerArrays& open_l, const LayerArrays& lost, const nb::object& canonical, Counts counts,
          const ScratchSpace& s, const nb::object& freed, const Given& pushes, const Given& holds) {
    require_side(winner);
    auto parts = parts_of(d, pairs);
    auto pushed = pushes_of(d, pushes), held = holds_of(d, holds);
    auto w = won.get(d), ow = open_w.get(d), ol = open_l.get(d, parts), l = lost.get(d, parts);
    auto f = layer_or_none(freed, d, parts);
    auto c = canonical_of(d, canonical);
    auto n = counts_of(counts, parts);
    auto scratch = s.get(d);
    nb::gil_scoped_release release;
    kernels_of(d).lose(d, parts, winner, w, f, all_of(pushed), all_of(held), ow, ol, l, c, n, scratch);
}

// The arrows of an inflow by their squares.
class ArrowsOn {
  public:
    explicit ArrowsOn(const Inflow& inflow) {
        const Carry& carry = inflow.carry;
        const auto structures = static_cast<uint32_t>(inflow.from->structures.count);
        for (uint32_t i = 0; i < carry.begin[structures]; ++i) ++begin_[carry.arrow[i].square + 1];
        for (size_t square = 0; square < 64; ++square) begin_[square + 1] += begin_[square];
        on_.resize(carry.begin[structures]);
        uint32_t end[64];
        std::copy_n(begin_, 64, end);
        for (uint32_t from = 0; from < structures; ++from)
            for (uint32_t i = carry.begin[from]; i < carry.begin[from + 1]; ++i)
                on_[end[carry.arrow[i].square]++] = {from, carry.arrow[i].other};
    }

    void add_to(Carry& carry) const {
        carry.begin_on = begin_;
        carry.on = on_.data();
    }

  private:
    uint32_t begin_[65] = {};
    std::vector<ArrowOn> on_;
};

void collect(const Domain& d, Pairs pairs, int mover, const nb::object& inflow, const LayerArrays& out,
             const ScratchSpace& s) {
    require_side(mover);
    auto parts = parts_of(d, pairs);
    auto found = pushes_of(d, {inflow});
    auto o = out.get(d, parts);
    auto scratch = s.get(d);
    nb::gil_scoped_release release;
    const ArrowsOn arrows(found[0]);
    arrows.add_to(found[0].carry);
    kernels_of(d).collect(d, parts, mover, found[0], o, scratch);
}

void collect_captures(const Domain& d, Pairs pairs, int mover, const SmallerSets& smaller, const LayerArrays& out,
                      const ScratchSpace& s) {
    require_side(mover);
    auto parts = parts_of(d, pairs);
    auto exits = exits_of(d, smaller);
    auto o = out.get(d, parts);
    auto scratch = s.get(d);
    nb::gil_scoped_release release;
    kernels_of(d).collect_captures(d, parts, mover, exits, o, scratch);
}

void legal(const Domain& d, int pair, int to_move, Words out, const ScratchSpace& s) {
    require(pair >= 0 && pair < d.pairs && to_move >= -1 && to_move <= 1, "no such partition or side");
    require(out.size() == d.rows() * 64 && aligned(out.data()), "the set does not fit the domain");
    auto scratch = s.get(d);
    nb::gil_scoped_release release;
    kernels_of(d).legal(d, pair, to_move, out.data(), scratch);
}

// The legal positions of some partitions, one partition after the other.
void legal_of_all(const Domain& d, const Pairs& pairs, int to_move, Words out, const ScratchSpace& s) {
    const auto parts = parts_of(d, pairs);
    const size_t words = d.rows() * 64;
    require(to_move >= -1 && to_move <= 1, "no such side");
    require(out.size() == parts.count * words && aligned(out.data()), "the sets do not fit the domain");
    auto scratch = s.get(d);
    nb::gil_scoped_release release;
    for (size_t i = 0; i < parts.count; ++i)
        kernels_of(d).legal(d, parts.pair[i], to_move, out.data() + i * words, scratch);
}

}  // namespace

void bind_steps(nb::module_& m) {
    m.def("prepare", prepare);
    m.def("lose_at_once", lose_at_once, PLAIN, STRICT, PLAIN, PLAIN, PLAIN, PLAIN, PLAIN, OPTIONAL, STRICT, PLAIN,
          "holds"_a = Given(), "forced"_a.none() = nb::none());
    m.def("win", win, PLAIN, STRICT, PLAIN, PLAIN, PLAIN, PLAIN, PLAIN, OPTIONAL, STRICT, PLAIN, "pushes"_a = Given(),
          "winning"_a.none() = nb::none());
    m.def("lose", lose, PLAIN, STRICT, PLAIN, PLAIN, PLAIN, PLAIN, PLAIN, OPTIONAL, STRICT, PLAIN,
          "freed"_a.none() = nb::none(), "pushes"_a = Given(), "holds"_a = Given());
    m.def("collect", collect, PLAIN, STRICT, PLAIN, PLAIN, PLAIN, PLAIN);
    m.def("collect_captures", collect_captures, PLAIN, STRICT, PLAIN, PLAIN, PLAIN, PLAIN);
    m.def("legal", legal, PLAIN, PLAIN, PLAIN, STRICT, PLAIN);
    m.def("legal_of_all", legal_of_all, PLAIN, PLAIN, PLAIN, STRICT, PLAIN);
}

}  // namespace kingpair
