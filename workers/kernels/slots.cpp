#include "slots.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace kingpair {

LikeMen like_men(const Domain& d) {
    LikeMen men{d.men, {}};
    for (int i = 0; i + 1 < d.men; ++i)
        men.like[i] = d.man[i].kind == d.man[i + 1].kind && d.man[i].side == d.man[i + 1].side;
    return men;
}

namespace {

constexpr int MIRROR = 4;

size_t slot_in_order(const LikeMen& men, AxisSquares s) {
    for (int pass = 1; pass < men.men; ++pass)
        for (int i = 0; i + pass < men.men; ++i) {
            if (!men.like[i]) continue;
            const auto [low, high] = std::minmax(s[i], s[i + 1]);
            const uint8_t first = low, second = high;
            s[i] = first;
            s[i + 1] = second;
        }
    size_t slot = 0;
    for (int i = 0; i < men.men; ++i) slot = slot << 6 | s[i];
    return slot;
}

AxisSquares squares_of(int men, size_t slot) {
    AxisSquares s{};
    for (int i = men; i-- > 0; slot >>= 6) s[i] = static_cast<uint8_t>(slot & 63);
    return s;
}

AxisSquares mirrored(int men, AxisSquares s) {
    for (int i = 0; i < men; ++i) s[i] = static_cast<uint8_t>(turned(MIRROR, s[i]));
    return s;
}

size_t canonical(const LikeMen& men, bool diagonal, AxisSquares s) {
    size_t slot = slot_in_order(men, s);
    if (!diagonal) return slot;
    return std::min(slot, slot_in_order(men, mirrored(men.men, s)));
}

int first_like_last(const LikeMen& men) {
    int first = men.men - 1;
    while (first > 0 && men.like[first - 1]) --first;
    return first;
}

// The canonical slots of a word: the last man stands on all squares, the others on those that number the word. `alike`
// is the first man like the last one. Most often the men before him decide which of two mirror images counts.
uint64_t canonical_bits(const LikeMen& men, int alike, bool diagonal, size_t word) {
    const int last = men.men - 1;
    AxisSquares s = squares_of(last, word);
    for (int i = 0; i + 1 < last; ++i)
        if (men.like[i] && s[i] > s[i + 1]) return 0;
    const uint64_t in_order = alike < last ? ~uint64_t{0} << s[last - 1] : ~uint64_t{0};
    if (!diagonal) return in_order;
    LikeMen before = men;
    before.men = alike;
    const size_t here = word >> (6 * (last - alike)), there = slot_in_order(before, mirrored(alike, s));
    if (here != there) return here < there ? in_order : 0;
    uint64_t found = 0;
    for (uint64_t rest = in_order; rest; rest &= rest - 1) {
        const size_t slot = word << 6 | static_cast<size_t>(std::countr_zero(rest));
        if (slot <= slot_in_order(men, mirrored(men.men, squares_of(men.men, slot)))) found |= rest & -rest;
    }
    return found;
}

}  // namespace

size_t canonical_slot(const LikeMen& men, bool diagonal, const AxisSquares& squares) {
    return canonical(men, diagonal, squares);
}

void canonical_mask(const LikeMen& men, bool diagonal, size_t words, uint64_t* out) {
    std::fill_n(out, words, 0);
    if (men.men == 0) {
        out[0] = 1;
        return;
    }
    const int alike = first_like_last(men);
    for (size_t word = 0; word < size_t{1} << (6 * (men.men - 1)); ++word)
        out[word] = canonical_bits(men, alike, diagonal, word);
}

namespace {

// Calls visit(slot, its canonical slot) for the slots of `wanted`.
template <class Visit>
void each_wanted(const LikeMen& men, bool diagonal, const uint64_t* wanted, Visit visit) {
    const size_t slots = size_t{1} << (6 * men.men);
    for (size_t w = 0; w < (slots + 63) / 64; ++w)
        for (uint64_t m = wanted[w]; m; m &= m - 1) {
            const size_t slot = 64 * w + static_cast<size_t>(std::countr_zero(m));
            visit(slot, canonical(men, diagonal, squares_of(men.men, slot)));
        }
}

// Where the slots of one frame lie in another: the sum of a part for each man's square.
struct Frame {
    int men;
    std::array<std::array<size_t, 64>, MEN_AXES_MAX> part{};

    Frame(int men_, int symmetry, const uint8_t* axis) : men(men_) {
        for (int i = 0; i < men; ++i)
            for (int s = 0; s < 64; ++s)
                part[i][s] = static_cast<size_t>(turned(symmetry, s)) << (6 * (men - 1 - axis[i]));
    }

    // Of all men but the last, whose squares are the bits of word `word`.
    size_t base(size_t word) const {
        size_t sum = 0;
        for (int i = 0; i + 1 < men; ++i) sum |= part[i][word >> (6 * (men - 2 - i)) & 63];
        return sum;
    }
    size_t last(int square) const { return part[men - 1][square]; }
    size_t words() const { return size_t{1} << (6 * (men - 1)); }
};

}  // namespace

void spread(const LikeMen& men, bool diagonal, const uint64_t* wanted, uint64_t* set) {
    each_wanted(men, diagonal, wanted, [&](size_t slot, size_t from) {
        if (set[from / 64] >> from % 64 & 1) set[slot / 64] |= uint64_t{1} << slot % 64;
    });
}

template <class T>
void spread_values(const LikeMen& men, bool diagonal, const uint64_t* wanted, T* column) {
    each_wanted(men, diagonal, wanted, [&](size_t slot, size_t from) { column[slot] = column[from]; });
}

void reframe(int men, int symmetry, const uint8_t* axis, const uint64_t* in, uint64_t* out) {
    if (men == 0) {
        out[0] = in[0];
        return;
    }
    const Frame frame(men, symmetry, axis);
    for (size_t w = 0; w < frame.words(); ++w) {
        const size_t base = frame.base(w);
        uint64_t word = 0;
        for (int s = 0; s < 64; ++s) {
            const size_t from = base | frame.last(s);
            word |= (in[from / 64] >> from % 64 & 1) << s;
        }
        out[w] = word;
    }
}

template <class T>
void reframe_values(int men, int symmetry, const uint8_t* axis, const T* in, T* out) {
    if (men == 0) return;
    const Frame frame(men, symmetry, axis);
    for (size_t w = 0; w < frame.words(); ++w) {
        const size_t base = frame.base(w);
        for (int s = 0; s < 64; ++s) out[64 * w + static_cast<size_t>(s)] = in[base | frame.last(s)];
    }
}

template void spread_values(const LikeMen&, bool, const uint64_t*, int8_t*);
template void spread_values(const LikeMen&, bool, const uint64_t*, int16_t*);
template void reframe_values(int, int, const uint8_t*, const int8_t*, int8_t*);
template void reframe_values(int, int, const uint8_t*, const int16_t*, int16_t*);

}  // namespace kingpair
