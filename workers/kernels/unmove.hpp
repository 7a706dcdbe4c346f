// Un-moves within a partition.
//
// Un-moving a man along its axis:   out(s) = OR over squares d that the man reaches from s over free squares: in(d)
//
// Every function takes a source `in` (sparse), the units that are wanted, and an `Op` that is called with each
// result: `Gather` ORs it into a set, `Remove` takes it out of one. Work is skipped where the source is empty or
// nothing is wanted; what is left is the same walk whether the set is dense or nearly empty.
//
// Cost: a slider on an outer axis reads each occupied row once per line and direction it lies on and touches the
// rows between it and the next obstacle; lane and bit men touch their own row only. Bound: L2 bandwidth when dense.

#pragma once

#include "units.hpp"

namespace kingpair::KINGPAIR_LEVEL {
namespace {

// A sparse set of one partition. With `step` 0 every row is the same row: the source of attacks on a king.
struct Source {
    const uint64_t* words;
    const uint8_t* occupied;
    size_t step = 64;

    const uint64_t* row(size_t index) const { return words + index * step; }
};

struct Gather {
    uint64_t* words;
    uint8_t* touched;

    void operator()(size_t row, int rank, Unit t) const {
        *reinterpret_cast<Unit*>(words + row * 64 + rank * 8) |= t;
        touched[row] = static_cast<uint8_t>(touched[row] | 1u << rank);
    }
    // The word of one lane.
    void word(size_t row, size_t lane, uint64_t t) const {
        words[row * 64 + lane] |= t;
        touched[row] = static_cast<uint8_t>(touched[row] | 1u << lane / 8);
    }
};

struct Remove {
    uint64_t* words;

    void operator()(size_t row, int rank, Unit t) const { *reinterpret_cast<Unit*>(words + row * 64 + rank * 8) &= ~t; }
};

inline uint64_t nonzero(const uint8_t (&bytes)[64]) {
    uint64_t squares = 0;
    for (int s = 0; s < 64; ++s) squares |= uint64_t{bytes[s] != 0} << s;
    return squares;
}

// ---- a man on an outer axis: whole rows or single units of it walk the lines of the board ----

// The rows in which all other outer men stand still: `base + s * stride` for the man on square s.
struct Column {
    size_t base, stride;
    uint64_t blocked;  // kings and the other outer men
    uint64_t in, want;
    alignas(64) uint8_t in_bytes[64];
    alignas(64) uint8_t want_bytes[64];

    Column(size_t base_, size_t stride_, uint64_t blocked_, const uint8_t* occupied, const uint8_t* wanted)
        : base(base_), stride(stride_), blocked(blocked_) {
        for (int s = 0; s < 64; ++s) {
            in_bytes[s] = occupied[base + static_cast<size_t>(s) * stride];
            want_bytes[s] = wanted[base + static_cast<size_t>(s) * stride];
        }
        in = nonzero(in_bytes);
        want = nonzero(want_bytes) & ~blocked;
    }

    size_t row(int square) const { return base + static_cast<size_t>(square) * stride; }
};

// Neither the lane man nor the bit man stands on `square`.
inline Unit clear_of(int square, int rank) {
    Unit free = broadcast(~bit(square));
    return (square >> 3) == rank ? free & ~lanes_of(bit(square), rank) : free;
}

template <class Op>
inline void walk_rows(const Column& c, Source in, Op op, int from, int to, int step) {
    Unit t[8] = {};
    for (int s = from;; s += step) {
        if (c.blocked & bit(s)) {
            for (Unit& u : t) u = Unit{};
        } else {
            Unit free = broadcast(~bit(s));
            Unit lane = ~lanes_of(bit(s), s >> 3);
            for (int r = 0; r < 8; ++r) t[r] &= r == s >> 3 ? free & lane : free;
            size_t row = c.row(s);
            if (c.want_bytes[s])
                for (int r = 0; r < 8; ++r) op(row, r, t[r]);
        }
        if (c.in_bytes[s])
            for (int r = 0; r < 8; ++r) t[r] |= unit_at(in.row(c.row(s)) + 8 * r);
        if (s == to) return;
    }
}

template <class Op>
inline void walk_units(const Column& c, Source in, Op op, int rank, int from, int to, int step) {
    Unit t{};
    for (int s = from;; s += step) {
        if (c.blocked & bit(s)) {
            t = Unit{};
        } else {
            t &= clear_of(s, rank);
            if (c.want_bytes[s] >> rank & 1) op(c.row(s), rank, t);
        }
        if (c.in_bytes[s] >> rank & 1) t |= unit_at(in.row(c.row(s)) + 8 * rank);
        if (s == to) return;
    }
}

constexpr int ROW_AT_ONCE = 4;  // occupied units in a line from which whole rows are cheaper than single units

template <class Op>
inline void walk(const Column& c, Source in, Op op, unsigned ranks, int from, int to, int step) {
    if (step > 0 ? from >= to : from <= to) return;
    if (count_bits(ranks) >= ROW_AT_ONCE) return walk_rows(c, in, op, from, to, step);
    for (; ranks; ranks &= ranks - 1) walk_units(c, in, op, lowest(ranks), from, to, step);
}

template <class Op, size_t N>
inline void walk_lines(const Column& c, Source in, Op op, const List<Line, N>& lines) {
    for (const Line& line : lines) {
        uint64_t from = c.in & line.mask, to = c.want & line.mask;
        if (!from || !to) continue;
        unsigned in_ranks = 0, want_ranks = 0;
        for (uint64_t m = from; m; m &= m - 1) in_ranks |= c.in_bytes[lowest(m)];
        for (uint64_t m = to; m; m &= m - 1) want_ranks |= c.want_bytes[lowest(m)];
        unsigned ranks = in_ranks & want_ranks;
        walk(c, in, op, ranks, lowest(from), highest(to), line.step);
        walk(c, in, op, ranks, highest(from), lowest(to), -line.step);
    }
}

template <class Op>
inline void leap(const Column& c, Source in, Op op) {
    for (uint64_t m = c.in; m; m &= m - 1) {
        int s = lowest(m);
        for (uint64_t to = KNIGHT_TARGETS[s] & c.want; to; to &= to - 1) {
            int d = lowest(to);
            for (unsigned ranks = c.in_bytes[s] & c.want_bytes[d]; ranks; ranks &= ranks - 1) {
                int r = lowest(ranks);
                op(c.row(d), r, unit_at(in.row(c.row(s)) + 8 * r) & clear_of(d, r));
            }
        }
    }
}

template <class Op>
inline void unmove_column(const Column& c, Kind kind, Source in, Op op) {
    if (!c.in || !c.want) return;
    if (kind == Kind::knight) return leap(c, in, op);
    if (kind != Kind::bishop) walk_lines(c, in, op, ROOK_LINES);
    if (kind != Kind::rook) walk_lines(c, in, op, BISHOP_LINES);
}

// Adds the squares of some men, six bits each, to those that are blocked. Returns false where a square is blocked
// twice.
inline bool stand_apart(size_t squares, int men, uint64_t& blocked) {
    bool apart = true;
    for (int i = 0; i < men; ++i, squares >>= 6) {
        const uint64_t square = bit(static_cast<int>(squares & 63));
        apart &= !(blocked & square);
        blocked |= square;
    }
    return apart;
}

template <class Op>
inline void unmove_outer(const Domain& d, int axis, uint64_t kings, Source in, const uint8_t* want, Op op) {
    const Kind kind = d.man[axis].kind;
    const size_t stride = size_t{1} << (6 * (d.outer() - 1 - axis)), columns = d.rows_each() / 64;
    for (size_t structure = 0; structure < d.structures.count; ++structure) {
        const size_t first = structure * d.rows_each();
        const uint64_t still = kings | d.structures.pawns[structure];
        for (size_t others = 0; others < columns; ++others) {
            const size_t before = others / stride, after = others % stride;
            uint64_t blocked = still;
            if (!stand_apart(others, d.outer() - 1, blocked)) continue;
            const size_t base = first + before * stride * 64 + after;
            unmove_column(Column(base, stride, blocked, in.occupied, want), kind, in, op);
        }
    }
}

// ---- the lane man: ranks are units, files are lanes ----

template <int files>
inline void walk_ranks(const Unit (&in)[8], const Unit (&free)[8], Unit (&out)[8]) {
    Unit up{}, down{};
    for (int r = 0; r < 8; ++r) {
        up &= free[r];
        out[r] |= up;
        up = shift_lanes<files>(up | in[r]);
        down &= free[7 - r];
        out[7 - r] |= down;
        down = shift_lanes<files>(down | in[7 - r]);
    }
}

inline void unmove_lane(Kind kind, const Unit (&in)[8], const Unit (&free)[8], Unit (&out)[8]) {
    for (Unit& u : out) u = Unit{};
    if (kind == Kind::knight) {
        for (int r = 0; r < 8; ++r) {
            Unit near{}, far{};
            if (r > 0) near |= in[r - 1];
            if (r < 7) near |= in[r + 1];
            if (r > 1) far |= in[r - 2];
            if (r < 6) far |= in[r + 2];
            out[r] =
                free[r] & (shift_lanes<2>(near) | shift_lanes<-2>(near) | shift_lanes<1>(far) | shift_lanes<-1>(far));
        }
        return;
    }
    if (kind != Kind::bishop) {
        walk_ranks<0>(in, free, out);
        for (int r = 0; r < 8; ++r) out[r] |= slide_lanes<1>(in[r], free[r]) | slide_lanes<-1>(in[r], free[r]);
    }
    if (kind != Kind::rook) {
        walk_ranks<1>(in, free, out);
        walk_ranks<-1>(in, free, out);
    }
}

// ---- the bit man ----

inline Unit unmove_bits(Kind kind, Unit in, Unit free) {
    Unit out{};
    if (kind == Kind::knight) {
        out = shift_bits<1, 2>(in) | shift_bits<-1, 2>(in) | shift_bits<1, -2>(in) | shift_bits<-1, -2>(in) |
              shift_bits<2, 1>(in) | shift_bits<-2, 1>(in) | shift_bits<2, -1>(in) | shift_bits<-2, -1>(in);
        return out & free;
    }
    if (kind != Kind::bishop)
        out = slide_bits<0, 1>(in, free) | slide_bits<0, -1>(in, free) | slide_bits<1, 0>(in, free) |
              slide_bits<-1, 0>(in, free);
    if (kind != Kind::rook)
        out |= slide_bits<1, 1>(in, free) | slide_bits<-1, 1>(in, free) | slide_bits<1, -1>(in, free) |
               slide_bits<-1, -1>(in, free);
    return out;
}

// ---- both, row by row ----

// The squares of the outer men of a row, or nothing where two of them or a king coincide: such a row holds no position.
struct RowSquares {
    uint64_t blocked;
    bool possible;

    // Where structures share a row, their pawns are not among the squares.
    RowSquares(const Domain& d, size_t row, uint64_t kings) : blocked(kings), possible(true) {
        if (d.men > 1) {
            const uint64_t pawns = d.structures.pawns[row >> (6 * d.outer())];
            possible = !(blocked & pawns);
            blocked |= pawns;
        }
        possible &= stand_apart(row, d.outer(), blocked);
    }
};

// One man: each lane is a structure.
inline Unit pawns_of_lanes(const Domain& d, size_t row, int rank) {
    return unit_at(d.structures.pawns + row * 64 + static_cast<size_t>(8 * rank));
}

template <class Op>
inline void unmove_inner(const Domain& d, int axis, uint64_t kings, Source in, const uint8_t* want, Op op) {
    const bool lane_man = d.men > 1, on_lane = lane_man && axis == d.men - 2;
    const Kind kind = d.man[axis].kind;
    for (size_t row = 0; row < d.rows(); ++row) {
        unsigned wanted = want[row], occupied = in.occupied[row];
        if (!wanted || !occupied) continue;
        RowSquares squares(d, row, kings);
        if (!squares.possible) continue;
        const uint64_t* words = in.row(row);
        if (!on_lane) {
            Unit open = broadcast(~squares.blocked);
            for (unsigned ranks = wanted & occupied; ranks; ranks &= ranks - 1) {
                int r = lowest(ranks);
                Unit free = open & (lane_man ? lane_apart_from_bit(r) : ~pawns_of_lanes(d, row, r));
                op(row, r, unmove_bits(kind, unit_at(words + 8 * r), free));
            }
            continue;
        }
        Unit from[8], free[8], out[8];
        for (int r = 0; r < 8; ++r) {
            from[r] = unit_at(words + 8 * r);
            free[r] = lane_apart_from_bit(r) & ~lanes_of(squares.blocked, r);
        }
        unmove_lane(kind, from, free, out);
        for (; wanted; wanted &= wanted - 1) {
            int r = lowest(wanted);
            op(row, r, out[r]);
        }
    }
}

template <class Op>
inline void unmove_man(const Domain& d, int axis, uint64_t kings, Source in, const uint8_t* want, Op op) {
    if (axis < d.outer()) return unmove_outer(d, axis, kings, in, want, op);
    unmove_inner(d, axis, kings, in, want, op);
}

}  // namespace
}  // namespace kingpair::KINGPAIR_LEVEL
