// Which slots of a partition hold a position with one side to move.
//
//     legal_w = apart - attacks of a man of w on l's king        no two men on a square; the other side not in check
//
// Cost: a man's un-move from one square, and one pass over the partition.

#pragma once

#include "exchange.hpp"

namespace kingpair::KINGPAIR_LEVEL {
namespace {

// A partition of a domain.
struct Part {
    const Domain& d;
    int pair;
    uint64_t kings;
    size_t rows;
    size_t at;  // its place in the arrays, if it is held

    Part(const Domain& domain, int pair_)
        : d(domain),
          pair(pair_),
          kings(bit(domain.king[0][pair_]) | bit(domain.king[1][pair_])),
          rows(domain.rows()),
          at(static_cast<size_t>(domain.slot[pair_])) {
        KINGPAIR_INVARIANT(pair >= 0 && pair < d.pairs, "a partition is one of the domain");
    }

    uint64_t* words(Layer layer) const { return layer.words + at * rows * 64; }
    uint8_t* occupied(Layer layer) const { return layer.occupied + at * rows; }
    const uint64_t* canonical(const uint64_t* masks) const { return masks + (d.halved[pair] ? rows * 64 : 0); }
};

inline Unit& unit(uint64_t* words, size_t row, int rank) {
    return *reinterpret_cast<Unit*>(words + row * 64 + 8 * rank);
}

// Positions in which a pawn of `by` attacks a king: whole structures.
inline void pawn_attacks(const Part& p, int by, int king, Gather op) {
    const Structures& structures = p.d.structures;
    for (size_t row = 0; row < p.rows; ++row) {
        const size_t structure = row / p.d.rows_each();  // where two men or more move
        if (p.d.men > 1 && !(structures.attacked[by][structure] >> king & 1)) continue;
        for (int r = 0; r < 8; ++r) {
            const size_t at = row * 64 + static_cast<size_t>(8 * r);
            Unit all = broadcast(~uint64_t{0});
            if (p.d.men == 0) all = unit_at(structures.attacking[by] + static_cast<size_t>(king) * p.rows * 64 + at);
            if (p.d.men == 1)
                all = reinterpret_cast<Unit>((unit_at(structures.attacked[by] + at) & bit(king)) != Unit{});
            if (any(all)) op(row, r, all);
        }
    }
}

// Positions in which a man of `by` attacks the other side's king: un-moves from a set that is full where he stands on
// it.
inline void attacks(const Part& p, int by, Scratch s, Gather op) {
    const int king = p.d.king[1 - by][p.pair];
    const uint64_t own = bit(p.d.king[by][p.pair]);
    alignas(64) uint64_t row[64];
    for (int axis = 0; axis < p.d.men; ++axis) {
        if (p.d.man[axis].side != by) continue;
        const bool outer = axis < p.d.outer(), lane = !outer && axis == p.d.men - 2;
        for (int w = 0; w < 64; ++w) row[w] = outer || (lane && w == king) ? ~uint64_t{0} : lane ? 0 : bit(king);
        for (size_t r = 0; r < p.rows; ++r)
            s.placed_touched[r] = outer && square_on(p.d, r, axis) != king ? 0 : ALL_ROWS;
        unmove_man(p.d, axis, own, {row, s.placed_touched, 0}, every_row(), op);
        for (size_t r = 0; r < p.rows; ++r) s.placed_touched[r] = 0;
    }
    if (p.d.fixed) pawn_attacks(p, by, king, op);
}

// No two men on a square.
inline Unit apart(const Part& p, size_t row, const RowSquares& squares, int rank) {
    const Structures& structures = p.d.structures;
    if (p.d.men == 0) {
        const size_t at = row * 64 + static_cast<size_t>(8 * rank);
        const auto standing = [&](int side) {
            return unit_at(structures.standing + p.d.king[side][p.pair] * p.rows * 64 + at);
        };
        return ~(standing(0) | standing(1));
    }
    if (p.d.men == 1) {
        const Unit pawns = pawns_of_lanes(p.d, row, rank);
        const Unit clash = reinterpret_cast<Unit>((pawns & p.kings) != Unit{});
        return ~(pawns | p.kings | clash);
    }
    if (!squares.possible) return Unit{};
    return broadcast(~squares.blocked) & lane_apart_from_bit(rank) & ~lanes_of(squares.blocked, rank);
}

// out = positions with no two men on a square, less what was gathered in the scratch set, which is left empty.
inline uint32_t without_gathered(const Part& p, Scratch s, uint64_t* out, uint8_t* occupied) {
    uint32_t live = 0;
    for (size_t row = 0; row < p.rows; ++row) {
        RowSquares squares(p.d, row, p.kings);
        unsigned mask = 0;
        for (int r = 0; r < 8; ++r) {
            Unit v = apart(p, row, squares, r) & ~unit(s.set, row, r);
            unit(out, row, r) = v;
            mask |= unsigned{any(v)} << r;
        }
        if (occupied) occupied[row] = static_cast<uint8_t>(mask);
        live += mask != 0;
    }
    clear(s.set, s.set_touched, p.rows);
    return live;
}

}  // namespace
}  // namespace kingpair::KINGPAIR_LEVEL
