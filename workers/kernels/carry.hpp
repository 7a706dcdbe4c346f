// Sets carried from one structure of pawns into another: pushes, captures of and by pawns, promotions.
//
//     out(to, x) |= in(from, x')   for each arrow (from -> to) of a family, with the same kings
//
// A family says how x' follows from x:
//
//     plain     x' = x                                  a push; a pawn takes a pawn; a promotion
//     passing   x' = x, the arrow's square is empty     a double step, which passes that square
//     meeting   x' = x, man `axis` on the square        that man has taken a pawn there: the source of its un-move
//     taking    x' = x without man `axis`,              a pawn has taken it there
//               which stands on the square
//
// Structures are rows, lanes or bits of a set, as fewer men move (kernels.hpp), and so is what an arrow carries: 64^m
// positions at once, or one word, or one bit; bits are carried for 64 partitions at once (carry_points.hpp).
//
// Cost: the structures of the source that hold anything, times their arrows.

#pragma once

#include "legality.hpp"

namespace kingpair::KINGPAIR_LEVEL {
namespace {

// ---- blocks: two men or more ----

// The positions of a unit in which a square is empty.
inline Unit without(const Domain& d, size_t row, int rank, int square, Unit v) {
    for (int axis = 0; axis < d.outer(); ++axis)
        if (square_on(d, row, axis) == square) return Unit{};
    return v & clear_of(square, rank);
}

// The positions of a unit in which a man stands on a square.
inline Unit standing_on(const Domain& d, size_t row, int rank, int axis, int square, Unit v) {
    if (axis < d.outer()) return square_on(d, row, axis) == square ? v : Unit{};
    return axis == d.men - 2 ? v & lanes_of(bit(square), rank) : v & bit(square);
}

template <class Op>
inline void carry_block(const Domain& d, Source in, Carry::Way way, int axis, size_t from, const Arrow& arrow,
                        const uint8_t* want, Op op) {
    const size_t each = d.rows_each();
    for (size_t i = 0; i < each; ++i) {
        const size_t source = from * each + i, row = arrow.other * each + i;
        for (unsigned m = in.occupied[source] & want[row]; m; m &= m - 1) {
            const int r = lowest(m);
            Unit v = unit_at(in.row(source) + 8 * r);
            if (way == Carry::passing) v = without(d, row, r, static_cast<int>(arrow.square), v);
            if (way == Carry::meeting) v = standing_on(d, row, r, axis, static_cast<int>(arrow.square), v);
            if (any(v)) op(row, r, v);
        }
    }
}

// A pawn takes man `axis`: the set left has one man less, and `words` words for each structure.
inline void carry_taking(const Domain& d, const uint64_t* in, int axis, size_t from, const Arrow& arrow, Gather op) {
    const size_t each = d.rows_each(), words = d.men == 2 ? 1 : d.men == 3 ? 64 : 4096;
    const uint64_t* smaller = in + from * words - arrow.other * words;  // as if it were of the structure entered
    const Meeting met{axis, -1, static_cast<int>(arrow.square)};
    for (size_t row = arrow.other * each; row < (arrow.other + 1) * each; ++row)
        place_row(d, smaller, met, row, {op.words + row * 64, op.touched + row});
}

// ---- words: one man ----

inline void carry_word(uint64_t word, Carry::Way way, const Arrow& arrow, const uint8_t* want, Gather op) {
    if (way == Carry::passing) word &= ~bit(static_cast<int>(arrow.square));
    if (way == Carry::meeting) word &= bit(static_cast<int>(arrow.square));
    const size_t row = arrow.other / 64, lane = arrow.other % 64;
    if (word && want[row] >> lane / 8 & 1) op.word(row, lane, word);
}

// ---- bits: no man ----

inline void carry_bit(const Arrow& arrow, const uint8_t* want, Gather op) {
    const size_t row = arrow.other / 4096, lane = arrow.other / 64 % 64;
    if (want[row] >> lane / 8 & 1) op.word(row, lane, bit(static_cast<int>(arrow.other % 64)));
}

// ---- all of them ----

struct Span {
    const Arrow* first;
    const Arrow* last;
    const Arrow* begin() const { return first; }
    const Arrow* end() const { return last; }
};

inline Span arrows_of(const Carry& carry, size_t structure) {
    return {carry.arrow + carry.begin[structure], carry.arrow + carry.begin[structure + 1]};
}

// A double step passes its square, so no king may stand there either.
inline bool lets_pass(const Carry& carry, const Arrow& arrow, uint64_t kings) {
    return carry.way != Carry::passing || !(kings >> arrow.square & 1);
}

// Calls visit(structure, word) for the structures of a set of rows of 64 words that hold anything.
template <class Visit>
inline void each_held(const Domain& d, Source in, Visit visit) {
    if (d.men > 1) {
        const size_t each = d.rows_each();
        for (size_t structure = 0; structure < d.structures.count; ++structure) {
            unsigned held = 0;
            for (size_t i = 0; i < each; ++i) held |= in.occupied[structure * each + i];
            if (held) visit(structure, uint64_t{0});
        }
        return;
    }
    for (size_t row = 0; row < d.rows(); ++row)
        for (unsigned m = in.occupied[row]; m; m &= m - 1)
            for (int lane = 8 * lowest(m), last = lane + 8; lane < last; ++lane) {
                const uint64_t word = in.row(row)[lane];
                const size_t at = row * 64 + static_cast<size_t>(lane);
                if (d.men == 1 && word) visit(at, word);
                for (uint64_t rest = d.men ? 0 : word; rest; rest &= rest - 1)
                    visit(at * 64 + static_cast<size_t>(lowest(rest)), uint64_t{1});
            }
}

// Whether the word that is a structure, or has its bit, is in a unit that holds anything.
inline bool is_occupied(Source in, size_t word) { return in.occupied[word / 64] >> word % 64 / 8 & 1; }

// From what a domain holds (`from`) into another one (`to`) whose wanted units are named.
inline void carry_into(const Domain& to, const Domain& from, uint64_t kings, Source in, const Carry& carry,
                       const uint8_t* want, Gather op) {
    each_held(from, in, [&](size_t structure, uint64_t word) {
        for (const Arrow& arrow : arrows_of(carry, structure)) {
            if (!lets_pass(carry, arrow, kings)) continue;
            if (to.men > 1) carry_block(to, in, carry.way, carry.axis, structure, arrow, want, op);
            else if (to.men == 1) carry_word(word, carry.way, arrow, want, op);
            else carry_bit(arrow, want, op);
        }
    });
}

// A king steps onto a square and takes the pawn there: the men stand as before.
inline void carry_stepping(const Domain& to, Source in, const Carry& carry, int square, Gather op) {
    for (uint32_t i = carry.begin_on[square]; i < carry.begin_on[square + 1]; ++i) {
        const size_t from = carry.on[i].from;
        const Arrow arrow{carry.on[i].to, static_cast<uint32_t>(square)};
        if (to.men > 1) carry_block(to, in, Carry::plain, 0, from, arrow, every_row(), op);
        else if (to.men == 1 && is_occupied(in, from)) carry_word(in.words[from], Carry::plain, arrow, every_row(), op);
        else if (to.men == 0 && is_occupied(in, from / 64) && in.words[from / 64] >> from % 64 & 1)
            carry_bit(arrow, every_row(), op);
    }
}

// From sets with one man less.
inline void carry_taken(const Domain& to, const Domain& from, Source in, const Carry& carry, Gather op) {
    each_held(from, in, [&](size_t structure, uint64_t) {
        for (const Arrow& arrow : arrows_of(carry, structure)) {
            if (to.men > 1) carry_taking(to, in.words, carry.axis, structure, arrow, op);
            else carry_word(bit(static_cast<int>(arrow.square)), Carry::plain, arrow, every_row(), op);
        }
    });
}

inline Source source_of(const Inflow& inflow, int pair) { return source(*inflow.from, inflow.layer, pair); }
inline bool is_live(const Inflow& inflow, int pair) { return inflow.layer.live[place_in(*inflow.from, pair)] != 0; }

// set -= all that a layer brings, whose arrows are listed by the structures of the set.
inline void take_out_carried(const Domain& d, uint64_t kings, Source in, const Carry& carry, uint64_t* set,
                             const uint8_t* touched) {
    const size_t each = d.rows_each();
    each_held(d, {set, touched}, [&](size_t structure, uint64_t) {
        for (const Arrow& arrow : arrows_of(carry, structure)) {
            if (!lets_pass(carry, arrow, kings)) continue;
            if (d.men == 0) {
                const uint64_t held = in.words[arrow.other / 64] >> arrow.other % 64 & 1;
                set[structure / 64] &= ~(held << structure % 64);
            } else if (d.men == 1) {
                const uint64_t passed = carry.way == Carry::passing ? bit(static_cast<int>(arrow.square)) : 0;
                set[structure] &= ~(in.words[arrow.other] & ~passed);
            }
            for (size_t i = 0; d.men > 1 && i < each; ++i) {
                const size_t source = arrow.other * each + i, row = structure * each + i;
                for (unsigned m = in.occupied[source] & touched[row]; m; m &= m - 1) {
                    const int r = lowest(m);
                    Unit v = unit_at(in.row(source) + 8 * r);
                    if (carry.way == Carry::passing) v = without(d, row, r, static_cast<int>(arrow.square), v);
                    *reinterpret_cast<Unit*>(set + row * 64 + 8 * static_cast<size_t>(r)) &= ~v;
                }
            }
        }
    });
}

}  // namespace
}  // namespace kingpair::KINGPAIR_LEVEL
