// Frames of Chinese chess (xiangqi.hpp), their domains, and columns of values as sets of slots.

#include <algorithm>
#include <map>
#include <vector>

#include "binding.hpp"
#include "xiangqi.hpp"

namespace kingpair {
namespace {

using namespace xiangqi;

using Squares = std::vector<uint8_t>;
using FreeMen = std::vector<std::pair<std::pair<std::string, int>, Squares>>;
using Standing = Array<const uint64_t, nb::ndim<2>>;  // [placement][half]
using KingSquares = Array<const uint8_t, nb::ndim<1>>;
using Table = Array<const int16_t, nb::ndim<3>>;  // [placement][up to so many][fields], padded with -1

FreeKind free_kind(const std::string& letter) {
    static const std::string letters = "RNCP";
    const size_t at = letters.find(letter);
    require(letter.size() == 1 && at != std::string::npos, "a free man is one of R N C P");
    return static_cast<FreeKind>(at);
}

// Takes from Python, for one side: the men of each placement, the king, moves, and captures by letter (or None).
SidePlacements placements_of(const nb::tuple& given) {
    SidePlacements out;
    const auto standing = nb::cast<Standing>(nb::object(given[0]));
    const auto kings = nb::cast<KingSquares>(nb::object(given[1]));
    const auto moves = nb::cast<Table>(nb::object(given[2]));
    const size_t count = standing.shape(0);
    require(standing.shape(1) == 2 && kings.size() == count, "standing: [placement][half]");
    require(moves.shape(0) == count && moves.shape(2) == 4, "moves: [placement][move][placement, mirrored, to, eye]");
    out.moves.resize(count);
    for (size_t i = 0; i < count; ++i) {
        out.standing.push_back({{standing(i, 0), standing(i, 1)}});
        require(kings(i) < SQUARES, "no such square");
        out.king.push_back(kings(i));
        for (size_t k = 0; k < moves.shape(1) && moves(i, k, 0) >= 0; ++k) {
            require(moves(i, k, 0) < static_cast<int>(count) && moves(i, k, 2) < SQUARES, "a frame move leads nowhere");
            out.moves[i].push_back({moves(i, k, 0), moves(i, k, 1) != 0, static_cast<uint8_t>(moves(i, k, 2)),
                                    moves(i, k, 3) < 0 ? NOWHERE : static_cast<uint8_t>(moves(i, k, 3))});
        }
    }
    for (int letter = 0; letter < LETTERS; ++letter) {
        const nb::object each = given[3 + letter];
        if (each.is_none()) continue;
        const auto captives = nb::cast<Table>(each);
        require(captives.shape(0) == count && captives.shape(2) == 3,
                "captives: [placement][man][placement, mirrored, square]");
        out.captives[letter].resize(count);
        for (size_t i = 0; i < count; ++i)
            for (size_t k = 0; k < captives.shape(1) && captives(i, k, 0) >= 0; ++k)
                out.captives[letter][i].push_back(
                    {captives(i, k, 0), captives(i, k, 1) != 0, static_cast<uint8_t>(captives(i, k, 2))});
    }
    return out;
}

void require_captives(const SidePlacements& side, const size_t (&sizes)[LETTERS]) {
    for (int letter = 0; letter < LETTERS; ++letter)
        for (const auto& of_placement : side.captives[letter])
            for (const Captive& each : of_placement)
                require(static_cast<size_t>(each.placement) < sizes[letter] && each.square < SQUARES,
                        "a capture leads nowhere");
}

void new_frame(Frame* self, const FreeMen& free, const nb::tuple& stronger, const nb::tuple& weaker,
               Array<const uint16_t, nb::ndim<1>> mirrored, std::pair<size_t, size_t> smaller_inner,
               std::pair<size_t, size_t> smaller_blocks, size_t slots) {
    Frame f;
    require(free.size() <= FREE_MAX, "too many free men");
    f.side[0] = placements_of(stronger);
    f.side[1] = placements_of(weaker);
    f.inner = f.side[0].king.size();
    f.blocks = f.side[1].king.size();
    require(mirrored.size() == f.inner && f.blocks <= PAIRS_MAX, "a mirror image for each placement");
    for (size_t i = 0; i < f.inner; ++i) {
        require(mirrored(i) < f.inner, "no such placement");
        f.mirrored.push_back(mirrored(i));
    }
    f.smaller_inner[0] = smaller_inner.first, f.smaller_inner[1] = smaller_inner.second;
    f.smaller_blocks[0] = smaller_blocks.first, f.smaller_blocks[1] = smaller_blocks.second;
    require_captives(f.side[0], f.smaller_inner);
    require_captives(f.side[1], f.smaller_blocks);
    f.without.resize(free.size());
    for (size_t i = 0; i < free.size(); ++i) {
        const auto& [man, squares] = free[i];
        require_side(man.second);
        require(!squares.empty() && std::all_of(squares.begin(), squares.end(), [](int s) { return s < SQUARES; }),
                "a free man has squares");
        const FreeMan each{free_kind(man.first), static_cast<uint8_t>(man.second)};
        f.axes.add(each, squares);
        for (size_t k = 0; k < free.size(); ++k)
            if (k != i) f.without[k].add(each, squares);
    }
    f.axes.finish();
    for (Axes& each : f.without) each.finish();
    require(slots >= f.inner * f.axes.slots, "a block has more slots");
    f.slots = slots;
    new (self) Frame(std::move(f));
}

Domain domain_of(const Frame& frame, const Pairs& places, Array<const bool, nb::ndim<1>> halved) {
    Domain d{};
    require(places.size() == frame.blocks && halved.size() == frame.blocks, "a place and a mark for each block");
    d.men = 2;
    d.pairs = static_cast<int>(frame.blocks);
    d.structures.count = frame.rows();
    d.frame = &frame;
    d.frame_slots = frame.slots;
    for (size_t p = 0; p < frame.blocks; ++p) {
        require(places(p) >= -1, "no such place");
        d.slot[p] = places(p);
        d.halved[p] = halved(p);
    }
    return d;
}

const Frame& frame_of(const Domain& d) {
    require(d.frame, "a domain of Chinese chess");
    return *d.frame;
}

// ---- slots ----

// A slot's placement and the squares of the free men.
struct Place {
    size_t inner;
    int square[FREE_MAX];
};

Place place_of(const Frame& frame, size_t slot) {
    const Axes& axes = frame.axes;
    Place place{slot / axes.slots, {}};
    slot %= axes.slots;
    for (int i = axes.men; i-- > 0;) {
        const auto size = static_cast<size_t>(axes.count[i]);
        place.square[i] = axes.square[i][slot % size];
        slot /= size;
    }
    return place;
}

size_t slot_of(const Frame& frame, const Place& place) {
    const Axes& axes = frame.axes;
    size_t slot = place.inner;
    for (int i = 0; i < axes.men; ++i)
        slot = slot * static_cast<size_t>(axes.count[i]) + static_cast<size_t>(axes.index[i][place.square[i]]);
    return slot;
}

// Like men in ascending order.
void sort_like(const Axes& axes, Place& place) {
    for (int first = 0; first < axes.men;) {
        int last = first + 1;
        while (last < axes.men && axes.man[last] == axes.man[first]) ++last;
        std::sort(place.square + first, place.square + last);
        first = last;
    }
}

Place mirrored(const Frame& frame, Place place) {
    place.inner = frame.mirrored[place.inner];
    for (int i = 0; i < frame.axes.men; ++i) place.square[i] = place.square[i] / 9 * 9 + 8 - place.square[i] % 9;
    return place;
}

// For each slot the one that stands for it.
void canonical_slots(const Domain& d, bool halved, Array<int32_t, nb::ndim<1>> out) {
    const Frame& frame = frame_of(d);
    const size_t count = frame.inner * frame.axes.slots;
    require(out.size() == count, "a number for each slot of a block");
    nb::gil_scoped_release release;
    for (size_t slot = 0; slot < count; ++slot) {
        Place place = place_of(frame, slot);
        sort_like(frame.axes, place);
        size_t chosen = slot_of(frame, place);
        if (halved) {
            Place other = mirrored(frame, place);
            sort_like(frame.axes, other);
            chosen = std::min(chosen, slot_of(frame, other));
        }
        out.data()[slot] = static_cast<int32_t>(chosen);
    }
}

size_t bit_of(const Frame& frame, size_t slot) {
    const Axes& axes = frame.axes;
    return slot / axes.slots * axes.rows * 4096 + static_cast<size_t>(axes.bit_of_slot[slot % axes.slots]);
}

// Sets the bits of slots that are marked.
void set_of_marks(const Domain& d, Array<const bool, nb::ndim<1>> marks, Words out) {
    const Frame& frame = frame_of(d);
    require(marks.size() == frame.inner * frame.axes.slots && out.size() == d.rows() * 64, "a set of another domain");
    nb::gil_scoped_release release;
    std::fill_n(out.data(), out.size(), 0);
    for (size_t slot = 0; slot < marks.size(); ++slot) {
        if (!marks.data()[slot]) continue;
        const size_t bit = bit_of(frame, slot);
        out.data()[bit / 64] |= uint64_t{1} << (bit % 64);
    }
}

// The slots whose bits are set, as marks.
void marks_of_set(const Domain& d, ConstWords set, Array<bool, nb::ndim<1>> out) {
    const Frame& frame = frame_of(d);
    require(out.size() == frame.inner * frame.axes.slots && set.size() == d.rows() * 64, "a set of another domain");
    nb::gil_scoped_release release;
    size_t slot = 0;
    for (size_t inner = 0; inner < frame.inner; ++inner) {
        const uint64_t* words = set.data() + inner * frame.axes.rows * 64;
        for (const int32_t bit : frame.axes.bit_of_slot) out.data()[slot++] = words[bit / 64] >> (bit % 64) & 1;
    }
}

// ---- values ----

// won, lost: the bits of slots with positive and with negative values, among the bits of `legal`.
template <class T>
void signs(const Domain& d, Array<const T, nb::ndim<1>> column, ConstWords legal, Words won, Words lost) {
    const Frame& frame = frame_of(d);
    require(column.size() >= frame.inner * frame.axes.slots, "a column of another domain");
    for (size_t size : {legal.size(), won.size(), lost.size()})
        require(size == d.rows() * 64, "a set of another domain");
    nb::gil_scoped_release release;
    const T* value = column.data();
    for (size_t inner = 0; inner < frame.inner; ++inner) {
        const size_t first = inner * frame.axes.rows * 64;
        for (const int32_t bit : frame.axes.bit_of_slot) {
            const size_t word = first + static_cast<size_t>(bit) / 64;
            const uint64_t here = legal.data()[word] & uint64_t{1} << (bit % 64);
            won.data()[word] |= *value > 0 ? here : 0;
            lost.data()[word] |= *value < 0 ? here : 0;
            ++value;
        }
    }
}

// The layers of one block's column, among the bits of `legal`: (value, stream) for each value but zero.
template <class T>
nb::list streams_by_value(const Domain& d, Array<const T, nb::ndim<1>> column, ConstWords legal) {
    const Frame& frame = frame_of(d);
    require(column.size() >= frame.inner * frame.axes.slots && legal.size() == d.rows() * 64,
            "a column of another domain");
    std::vector<std::pair<int, std::vector<uint8_t>>> found;
    {
        nb::gil_scoped_release release;
        std::map<int, std::vector<uint32_t>> places;
        const T* value = column.data();
        std::vector<uint32_t>* at = nullptr;
        int last = 0;
        for (size_t inner = 0; inner < frame.inner; ++inner)
            for (const int32_t within : frame.axes.bit_of_slot) {
                const int v = *value++;
                if (!v) continue;
                const size_t bit = inner * frame.axes.rows * 4096 + static_cast<size_t>(within);
                if (!(legal.data()[bit / 64] >> (bit % 64) & 1)) continue;
                if (!at || v != last) at = &places[v], last = v;
                at->push_back(static_cast<uint32_t>(bit));
            }
        Domain one = d;
        for (int block = 0; block < one.pairs; ++block) one.slot[block] = 0;
        const size_t rows = d.rows();
        std::vector<uint8_t> memory(rows * 512 + 64), packed(packed_max(rows)), occupied(rows);
        auto* set = reinterpret_cast<uint64_t*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) & ~uintptr_t{63});
        uint32_t live = 1;
        for (auto& [v, bits] : places) {
            for (uint32_t bit : bits) {
                set[bit / 64] |= uint64_t{1} << (bit % 64);
                occupied[bit / 4096] = static_cast<uint8_t>(occupied[bit / 4096] | 1u << (bit / 512 % 8));
            }
            const size_t size = kernels_of(d).pack(one, 0, {set, occupied.data(), &live}, packed.data());
            found.emplace_back(v, std::vector<uint8_t>(packed.begin(), packed.begin() + static_cast<ptrdiff_t>(size)));
            for (uint32_t bit : bits) {
                set[bit / 64] = 0;
                occupied[bit / 4096] = 0;
            }
        }
    }
    nb::list out;
    for (auto& [v, stream] : found) out.append(nb::make_tuple(v, owned(std::move(stream))));
    return out;
}

}  // namespace

void bind_xiangqi(nb::module_& m) {
    nb::class_<Frame>(m, "Frame")
        .def("__init__", new_frame, "free"_a, "stronger"_a, "weaker"_a, "mirrored"_a, "smaller_inner"_a,
             "smaller_blocks"_a, "slots"_a)
        .def_prop_ro("slots_each", [](const Frame& f) { return f.axes.slots; });
    m.def("frame_domain", domain_of, nb::keep_alive<0, 1>());
    m.def("canonical_slots", canonical_slots, PLAIN, PLAIN, STRICT);
    m.def("set_of_marks", set_of_marks, PLAIN, PLAIN, STRICT);
    m.def("marks_of_set", marks_of_set, PLAIN, PLAIN, STRICT);
    m.def("signs_of_slots", signs<int8_t>, PLAIN, STRICT, PLAIN, STRICT, STRICT);
    m.def("signs_of_slots", signs<int16_t>, PLAIN, STRICT, PLAIN, STRICT, STRICT);
    m.def("streams_by_value", streams_by_value<int8_t>, PLAIN, STRICT, PLAIN);
    m.def("streams_by_value", streams_by_value<int16_t>, PLAIN, STRICT, PLAIN);
}

}  // namespace kingpair
