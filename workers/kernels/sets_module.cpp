// Domains, layers and scratch space as Python objects.

#include <sys/mman.h>

#include <cstring>
#include <new>

#include "binding.hpp"

namespace kingpair {

// ---- layers ----

Layer LayerArrays::get(const Domain& d) const {
    for (int p = 0; p < d.pairs; ++p) require_place(d, p);
    return fitting(d);
}

Layer LayerArrays::get(const Domain& d, const Parts& parts) const {
    for (size_t i = 0; i < parts.count; ++i) require_place(d, parts.pair[i]);
    return fitting(d);
}

Layer LayerArrays::get(const Domain& d, int pair) const {
    require(pair >= 0 && pair < d.pairs && d.slot[pair] >= 0, "a partition that is not held here");
    require_place(d, pair);
    return fitting(d);
}

Layer LayerArrays::fitting(const Domain& d) const {
    const size_t held = live.size();
    require(occupied.size() == held * d.rows() && words.size() == held * d.rows() * 64,
            "a layer's arrays do not fit the domain");
    require(aligned(words.data()), "a layer's words are not aligned to 64 bytes");
    return {words.data(), occupied.data(), live.data()};
}

void LayerArrays::require_place(const Domain& d, int pair) const {
    require(d.slot[pair] < static_cast<int64_t>(live.size()), "a layer holds fewer partitions than the domain");
}

Parts parts_of(const Domain& d, const Pairs& pairs) {
    for (size_t i = 0; i < pairs.size(); ++i)
        require(pairs.data()[i] >= 0 && pairs.data()[i] < d.pairs && d.slot[pairs.data()[i]] >= 0,
                "a partition that is not held here");
    return {pairs.data(), pairs.size()};
}

const uint64_t* canonical_of(const Domain& d, const ConstWords& masks) {
    require(masks.size() == 2 * d.rows() * 64 && aligned(masks.data()), "canonical masks do not fit");
    return masks.data();
}

const uint64_t* canonical_of(const Domain& d, const nb::object& masks) {
    return masks.is_none() ? nullptr : canonical_of(d, nb::cast<ConstWords>(masks));
}

void require_axes(const Domain& d, const std::vector<uint8_t>& axis) {
    require(axis.size() == static_cast<size_t>(d.men), "an axis for each man");
    for (uint8_t a : axis) require(a < d.men, "no such axis");
}

// ---- scratch space ----

namespace {

constexpr size_t HUGE_PAGE = 2 << 20, LARGE = 64 << 20;

// Memory of zeros. Of five men, where it is large, the system is asked for large pages: with small ones each row on the
// lines of the first man would need an entry of the processor's table of pages. Of fewer men it stays in the caches,
// over which small pages spread the rows more evenly.
uint8_t* zeroed(size_t size) {
    const size_t alignment = size < LARGE ? 64 : HUGE_PAGE;
    size = (size + alignment - 1) / alignment * alignment;
    auto* const memory = static_cast<uint8_t*>(std::aligned_alloc(alignment, size));
    if (!memory) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    if (alignment == HUGE_PAGE) madvise(memory, size, MADV_HUGEPAGE);
#endif
    std::memset(memory, 0, size);
    return memory;
}

}  // namespace

ScratchSpace::ScratchSpace(const Domain& d) : rows_(d.rows()), memory_(zeroed(3 * rows_ * 512 + 3 * rows_)) {}

Scratch ScratchSpace::get(const Domain& d) const {
    require(d.rows() == rows_, "scratch space of another domain");
    const size_t bytes = rows_ * 512;
    uint8_t* m = memory_.get();
    auto words = [&](size_t i) { return reinterpret_cast<uint64_t*>(m + i * bytes); };
    uint8_t* marks = m + 3 * bytes;
    return {words(0), words(1), words(2), marks, marks + rows_, marks + 2 * rows_};
}

// ---- domains ----

namespace {

using Men = std::vector<std::pair<std::string, int>>;
using Kings = Array<const uint8_t, nb::ndim<2>>;
using KingSteps = Array<const int16_t, nb::ndim<4>>;  // [side][pair][up to 8][pair, symmetry, square], padded with -1

Kind kind_of(const std::string& letter) {
    static const std::string letters = "QRBN";
    const size_t at = letters.find(letter);
    require(letter.size() == 1 && at != std::string::npos, "a man is one of Q R B N");
    return static_cast<Kind>(at);
}

Steps steps_of(const KingSteps& steps, int side, int pair, int pairs) {
    Steps out{};
    for (int i = 0; i < 8 && steps(side, pair, i, 0) >= 0; ++i) {
        const int16_t to = steps(side, pair, i, 0), symmetry = steps(side, pair, i, 1),
                      square = steps(side, pair, i, 2);
        require(to < pairs && symmetry >= 0 && symmetry < 8 && square >= 0 && square < 64, "a step leads nowhere");
        out.step[out.count++] = {to, static_cast<uint8_t>(symmetry), static_cast<uint8_t>(square)};
    }
    return out;
}

using Marks = Array<const bool, nb::ndim<1>>;

// By structure, by side and structure, and with no man by square and by side and square, as Structures says.
struct PawnArrays {
    ConstWords pawns, attacked, standing, attacking;
};

Structures structures_of(int men, size_t count, const PawnArrays& arrays) {
    const size_t words = 64 * rows_of(men, count), listed = men < 2 ? words : count, by_square = men ? 0 : 64 * words;
    require(count > 0, "a domain has a structure");
    require(arrays.pawns.size() == listed && arrays.attacked.size() == 2 * listed, "pawns: a word for each structure");
    require(arrays.standing.size() == by_square && arrays.attacking.size() == 2 * by_square,
            "pawns: a set of structures for each square");
    for (const auto& each : {arrays.pawns, arrays.attacked, arrays.standing, arrays.attacking})
        require(aligned(each.data()), "the words of pawns are not aligned to 64 bytes");
    return {count,
            arrays.pawns.data(),
            {arrays.attacked.data(), arrays.attacked.data() + listed},
            arrays.standing.data(),
            {arrays.attacking.data(), arrays.attacking.data() + by_square}};
}

// One structure without a pawn.
struct NoPawns {
    alignas(64) uint64_t pawns[64], attacked[2][64], standing[64][64], attacking[2][64][64];

    NoPawns() : attacked{}, attacking{} {
        for (uint64_t& each : pawns) each = ~uint64_t{0};
        for (auto& set : standing)
            for (uint64_t& word : set) word = ~uint64_t{0};
        pawns[0] = 0;
        for (auto& set : standing) set[0] = ~uint64_t{1};
    }
};

const Structures& no_pawns() {
    static const NoPawns arrays;
    static const Structures found{1,
                                  arrays.pawns,
                                  {arrays.attacked[0], arrays.attacked[1]},
                                  arrays.standing[0],
                                  {arrays.attacking[0][0], arrays.attacking[1][0]}};
    return found;
}

// None, or how many structures there are and their four arrays.
Structures structures_or_none(int men, const nb::object& given) {
    if (given.is_none()) return no_pawns();
    const auto words = [&](int i) { return nb::cast<ConstWords>(nb::object(given[i])); };
    return structures_of(men, nb::cast<size_t>(nb::object(given[0])), {words(1), words(2), words(3), words(4)});
}

Domain make_domain(const Men& men, const Kings& kings, const KingSteps& steps, const Pairs& slots, const Marks& halved,
                   const nb::object& structures) {
    Domain d{};
    require(men.size() <= MEN_AXES_MAX, "too many men");
    for (const auto& [letter, side] : men) {
        require(side == STRONGER || side == WEAKER, "a side is 0 or 1");
        d.man[d.men++] = {kind_of(letter), static_cast<uint8_t>(side)};
    }
    d.pairs = static_cast<int>(kings.shape(1));
    require(kings.shape(0) == 2 && d.pairs <= PAIRS_MAX, "kings: [2][pairs]");
    require(steps.shape(0) == 2 && steps.shape(1) == kings.shape(1) && steps.shape(2) == 8 && steps.shape(3) == 3,
            "steps: [2][pairs][8][3]");
    require(slots.shape(0) == kings.shape(1) && halved.shape(0) == kings.shape(1), "slots, halved: [pairs]");
    d.structures = structures_or_none(d.men, structures);
    require(d.rows() <= ROWS_MAX, "too many structures for one domain");
    d.fixed = true;
    for (int p = 0; p < d.pairs; ++p) {
        d.halved[p] = halved(p);
        d.slot[p] = slots(p);
        require(slots(p) >= -1 && kings(0, p) < 64 && kings(1, p) < 64, "no such slot or square");
        for (int side = 0; side < 2; ++side) {
            d.king[side][p] = kings(side, p);
            d.steps[side][p] = steps_of(steps, side, p, d.pairs);
            for (int i = 0; i < d.steps[side][p].count; ++i) d.fixed = d.fixed && !d.steps[side][p].step[i].symmetry;
        }
    }
    return d;
}

void new_domain(Domain* self, const Men& men, const Kings& kings, const KingSteps& steps, const Pairs& slots,
                const Marks& halved, const nb::object& structures) {
    new (self) Domain(make_domain(men, kings, steps, slots, halved, structures));
}

void new_layer(LayerArrays* self, Words words, Array<uint8_t> occupied, Array<uint32_t> live) {
    new (self) LayerArrays{words, occupied, live};
}

}  // namespace

void bind_sets(nb::module_& m) {
    nb::class_<Domain>(m, "Domain")
        .def("__init__", new_domain, "men"_a, "kings"_a, "steps"_a, "slots"_a, "halved"_a,
             "structures"_a.none() = nb::none(), nb::keep_alive<1, 7>())
        .def_ro("men", &Domain::men)
        .def_prop_ro("rows", [](const Domain& d) { return d.rows(); });
    nb::class_<LayerArrays>(m, "Layer")
        .def("__init__", new_layer, "words"_a.noconvert(), "occupied"_a.noconvert(), "live"_a.noconvert());
    nb::class_<ScratchSpace>(m, "Scratch").def(nb::init<const Domain&>());
}

}  // namespace kingpair
