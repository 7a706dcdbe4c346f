// Un-moves that enter a partition from outside: king moves from neighbouring partitions, captures from smaller tables.
//
// King:     out(x) = in_q(g x)   for each step of the king into partition q, whose frame shows x as g x.
// Capture:  put the smaller set on the diagonal where captor and captive share a square, then un-move the captor
//           alone. A king captures by stepping onto the captive: its set is put where the captive stands on that
//           square.
//
// Cost: a king reads every occupied row of at most eight neighbours; a capture writes 1/64 of a partition and is
// then one man's un-move.

#pragma once

#include "unmove.hpp"

namespace kingpair::KINGPAIR_LEVEL {
namespace {

// ---- turning rows ----

inline unsigned reversed_byte(unsigned b) {
    b = (b & 0x55) << 1 | (b >> 1 & 0x55);
    b = (b & 0x33) << 2 | (b >> 2 & 0x33);
    return (b & 0x0f) << 4 | b >> 4;
}

// Calls op(rank, unit) for the wanted units of a row as `symmetry` shows it.
template <int symmetry, class Put>
inline void turn_row(const uint64_t* words, unsigned occupied, unsigned wanted, Put put) {
    if constexpr (symmetry & 4) {
        Unit u[8];
        for (int r = 0; r < 8; ++r) u[r] = unit_at(words + 8 * r);
        transpose_lanes(u);
        for (; wanted; wanted &= wanted - 1) {
            int r = lowest(wanted);
            Unit v = turn_bits<symmetry>(u[symmetry & 2 ? 7 - r : r]);
            put(r, symmetry & 1 ? reverse_lanes(v) : v);
        }
    } else {
        for (unsigned m = wanted & (symmetry & 2 ? reversed_byte(occupied) : occupied); m; m &= m - 1) {
            int r = lowest(m);
            Unit v = turn_bits<symmetry>(unit_at(words + 8 * (symmetry & 2 ? 7 - r : r)));
            put(r, symmetry & 1 ? reverse_lanes(v) : v);
        }
    }
}

// A single word in use: its bits turn, its lane stays.
template <int symmetry, class Put>
inline void turn_word(int men, const uint64_t* words, Put put) {
    Unit v = unit_at(words);
    put(0, men == 0 ? v : turn_bits<symmetry>(v));
}

// The rows of a partition in blocks. In a block all outer men but the last stand still.
struct RowBlocks {
    int men;  // that stand still
    size_t count, rows;

    explicit RowBlocks(int outer)
        : men(outer > 1 ? outer - 1 : 0), count(size_t{1} << (6 * men)), rows(outer > 0 ? 64 : 1) {}

    // The number of a block where the board is turned.
    size_t turned(const uint8_t (&squares)[64], size_t block) const {
        size_t found = 0;
        for (int shift = 0; shift < 6 * men; shift += 6) found |= size_t{squares[block >> shift & 63]} << shift;
        return found;
    }
};

template <int symmetry, class Op>
inline void pull(int men, Source in, const uint8_t* want, Op op) {
    const int outer = men > 2 ? men - 2 : 0;
    uint8_t turned[64];
    for (int s = 0; s < 64; ++s) turned[s] = static_cast<uint8_t>(turned_square(symmetry, s));
    const RowBlocks blocks(outer);
    for (size_t high = 0; high < blocks.count; ++high) {
        const size_t from_high = blocks.turned(turned, high) * 64;
        for (size_t low = 0; low < blocks.rows; ++low) {
            size_t row = high * 64 + low, from = from_high + (outer >= 1 ? turned[low] : 0);
            if (!want[row] || !in.occupied[from]) continue;
            auto put = [&](int rank, Unit v) { op(row, rank, v); };
            if (men < 2) turn_word<symmetry>(men, in.row(from), put);
            else turn_row<symmetry>(in.row(from), in.occupied[from], want[row], put);
        }
    }
}

template <class Op>
inline void pull_turned(int men, int symmetry, Source in, const uint8_t* want, Op op) {
    switch (symmetry) {
        case 0: return pull<0>(men, in, want, op);
        case 1: return pull<1>(men, in, want, op);
        case 2: return pull<2>(men, in, want, op);
        case 3: return pull<3>(men, in, want, op);
        case 4: return pull<4>(men, in, want, op);
        case 5: return pull<5>(men, in, want, op);
        case 6: return pull<6>(men, in, want, op);
        default: return pull<7>(men, in, want, op);
    }
}

inline Source source(const Domain& d, Layer layer, int pair) {
    size_t at = place_in(d, pair);
    return {layer.words + at * d.units() * 8, layer.occupied + at * d.rows()};
}

// One of the partitions that a king's step leads to, as its rows are read from here.
struct Neighbour {
    Source source;
    int symmetry;
    uint8_t turned[64];
    size_t first = 0;  // row of the block that is read

    size_t row(size_t low, const RowBlocks& blocks) const { return first + (blocks.rows > 1 ? turned[low] : 0); }
};

struct Neighbours {
    int count = 0;
    Neighbour item[8];

    Neighbours(const Domain& d, int pair, int side, Layer layer) {
        const Steps& steps = d.steps[side][pair];
        for (int i = 0; i < steps.count; ++i) {
            const Step& step = steps.step[i];
            if (!layer.live[place_in(d, step.pair)]) continue;
            Neighbour& n = item[count++];
            n.source = source(d, layer, step.pair);
            n.symmetry = step.symmetry;
            for (int s = 0; s < 64 && !d.fixed; ++s)
                n.turned[s] = static_cast<uint8_t>(turned_square(step.symmetry, s));
        }
    }
};

template <class Put>
inline void turn_row_by(int symmetry, const uint64_t* words, unsigned occupied, unsigned wanted, Put put) {
    switch (symmetry) {
        case 0: return turn_row<0>(words, occupied, wanted, put);
        case 1: return turn_row<1>(words, occupied, wanted, put);
        case 2: return turn_row<2>(words, occupied, wanted, put);
        case 3: return turn_row<3>(words, occupied, wanted, put);
        case 4: return turn_row<4>(words, occupied, wanted, put);
        case 5: return turn_row<5>(words, occupied, wanted, put);
        case 6: return turn_row<6>(words, occupied, wanted, put);
        default: return turn_row<7>(words, occupied, wanted, put);
    }
}

// sum |= the row as `symmetry` shows it.
template <int symmetry>
inline void add_row(const uint64_t* words, Unit (&sum)[8]) {
    Unit u[8];
    for (int r = 0; r < 8; ++r) u[r] = unit_at(words + 8 * r);
    if constexpr (symmetry & 4) transpose_lanes(u);
    for (int r = 0; r < 8; ++r) {
        Unit v = turn_bits<symmetry>(u[symmetry & 2 ? 7 - r : r]);
        sum[r] |= symmetry & 1 ? reverse_lanes(v) : v;
    }
}

inline void add_row_by(int symmetry, const uint64_t* words, Unit (&sum)[8]) {
    switch (symmetry) {
        case 0: return add_row<0>(words, sum);
        case 1: return add_row<1>(words, sum);
        case 2: return add_row<2>(words, sum);
        case 3: return add_row<3>(words, sum);
        case 4: return add_row<4>(words, sum);
        case 5: return add_row<5>(words, sum);
        case 6: return add_row<6>(words, sum);
        default: return add_row<7>(words, sum);
    }
}

inline void prefetch_units(const uint64_t* words, unsigned units) {
    for (; units; units &= units - 1) __builtin_prefetch(words + 8 * lowest(units));
}

// How a row of a neighbour is read. To gather, all units are read without a branch: most are occupied, and nearly all
// are wanted. To remove, only the wanted units are read: they are few.
struct WholeRows {
    static unsigned units(unsigned, unsigned) { return 255; }
    static void add(int symmetry, const uint64_t* words, unsigned, unsigned, Unit (&sum)[8]) {
        add_row_by(symmetry, words, sum);
    }
};

struct WantedUnits {
    static unsigned units(unsigned occupied, unsigned wanted) { return occupied & wanted; }
    static void add(int symmetry, const uint64_t* words, unsigned occupied, unsigned wanted, Unit (&sum)[8]) {
        turn_row_by(symmetry, words, occupied, wanted, [&](int r, Unit v) { sum[r] |= v; });
    }
};

template <class Op>
struct Reading {
    using Way = WholeRows;
};
template <>
struct Reading<Remove> {
    using Way = WantedUnits;
};

// Where no step turns the board, a row of a neighbour is the same row here for all men.
template <class Op>
inline void unmove_king_fixed(const Domain& d, const Neighbours& neighbours, const uint8_t* want, Op op) {
    for (size_t row = 0; row < d.rows() && neighbours.count; ++row) {
        unsigned held = 0;
        for (int i = 0; i < neighbours.count; ++i) held |= neighbours.item[i].source.occupied[row];
        for (unsigned m = held & want[row]; m; m &= m - 1) {
            const int r = lowest(m);
            Unit sum{};
            for (int i = 0; i < neighbours.count; ++i) {
                const Source& source = neighbours.item[i].source;
                if (source.occupied[row] >> r & 1) sum |= unit_at(source.row(row) + 8 * r);
            }
            op(row, r, sum);
        }
    }
}

constexpr size_t AHEAD = 3;  // rows between asking memory for a row and using it

// Reads a row of all neighbours together. They lie far apart in memory, so the reads overlap; the result is written
// once.
template <class Op>
inline void unmove_king(const Domain& d, int pair, int side, Layer layer, const uint8_t* want, Op op) {
    using Way = typename Reading<Op>::Way;
    Neighbours neighbours(d, pair, side, layer);
    if (d.fixed) return unmove_king_fixed(d, neighbours, want, op);
    if (d.men < 2) {
        for (int i = 0; i < neighbours.count; ++i)
            pull_turned(d.men, neighbours.item[i].symmetry, neighbours.item[i].source, want, op);
        return;
    }
    const RowBlocks blocks(d.outer());
    for (size_t high = 0; high < blocks.count && neighbours.count; ++high) {
        uint8_t lows[64];
        size_t wanted_rows = 0;
        for (size_t low = 0; low < blocks.rows; ++low) {
            lows[wanted_rows] = static_cast<uint8_t>(low);
            wanted_rows += want[high * 64 + low] != 0;
        }
        for (int i = 0; i < neighbours.count && wanted_rows; ++i)
            neighbours.item[i].first = blocks.turned(neighbours.item[i].turned, high) * 64;
        for (size_t k = 0; k < wanted_rows + AHEAD; ++k) {
            if (k < wanted_rows)
                for (int i = 0; i < neighbours.count; ++i) {
                    const Neighbour& n = neighbours.item[i];
                    const size_t from = n.row(lows[k], blocks);
                    if (const unsigned units = n.source.occupied[from])
                        prefetch_units(n.source.row(from),
                                       n.symmetry ? 255 : Way::units(units, want[high * 64 + lows[k]]));
                }
            if (k < AHEAD) continue;
            const size_t low = lows[k - AHEAD], row = high * 64 + low;
            const unsigned wanted = want[row];
            Unit sum[8] = {};
            bool found = false;
            for (int i = 0; i < neighbours.count; ++i) {
                const Neighbour& n = neighbours.item[i];
                const size_t from = n.row(low, blocks);
                const unsigned units = n.source.occupied[from];
                if (!units) continue;
                found = true;
                Way::add(n.symmetry, n.source.row(from), units, wanted, sum);
            }
            if (!found) continue;
            for (unsigned m = wanted; m; m &= m - 1)
                if (const int r = lowest(m); any(sum[r])) op(row, r, sum[r]);
        }
    }
}

// ---- captures ----

constexpr uint8_t ALL_ROWS = 255;

struct EveryRow {
    uint8_t bytes[ROWS_MAX];
    EveryRow() {
        for (uint8_t& b : bytes) b = ALL_ROWS;
    }
};
inline const uint8_t* every_row() {
    static const EveryRow rows;
    return rows.bytes;
}

// Words of a partition of a smaller set, which has one man less.
inline size_t smaller_words(const Domain& d) { return 64 * rows_of(d.men - 1, d.structures.count); }

// Where the captor is when it shares the captive's square: on an axis, or (a king) on a given square.
struct Meeting {
    int captive, captor;  // axes; captor -1: a king
    int square;           // of that king
};

inline int square_on(const Domain& d, size_t row, int axis) {
    return static_cast<int>(row >> (6 * (d.outer() - 1 - axis)) & 63);
}

// The row of the smaller set: `row` without the captive's square.
inline size_t row_without(const Domain& d, size_t row, int axis) {
    int shift = 6 * (d.outer() - 1 - axis);
    return (row >> (shift + 6) << shift) | (row & ((size_t{1} << shift) - 1));
}

// Marks and writes the units of a row that hold anything.
struct Row {
    uint64_t* words;
    uint8_t* touched;

    void put(int rank, Unit u) const {
        *reinterpret_cast<Unit*>(words + 8 * rank) |= u;
        *touched = static_cast<uint8_t>(*touched | 1u << rank);
    }
};

// The captive stands on an outer axis: the smaller set has the same lanes and bits.
inline void place_outer(const Domain& d, const uint64_t* smaller, Meeting m, size_t row, Row out) {
    const int lane = d.men - 2, last = d.men - 1, square = square_on(d, row, m.captive);
    if (m.captor < 0 ? square != m.square : m.captor < lane && square_on(d, row, m.captor) != square) return;
    const uint64_t* from = smaller + row_without(d, row, m.captive) * 64;
    if (m.captor == lane) {
        if (from[square]) out.put(square >> 3, unit_at(from + (square & 56)) & lanes_of(bit(square), square >> 3));
        return;
    }
    const Unit kept = broadcast(m.captor == last ? bit(square) : ~uint64_t{0});
    for (int r = 0; r < 8; ++r)
        if (Unit u = unit_at(from + 8 * r) & kept; any(u)) out.put(r, u);
}

// A bit for each lane: the lane man and the bit man on one square.
inline void place_meeting(uint64_t word, Row out) {
    for (int r = 0; r < 8; ++r)
        if (word >> (8 * r) & 255) out.put(r, broadcast(word) & ~lane_apart_from_bit(r));
}

// The captive is the lane man: a word of the smaller set becomes one lane, or each bit a lane of its own.
inline void place_lane(const Domain& d, const uint64_t* smaller, Meeting m, size_t row, Row out) {
    const uint64_t word = smaller[row];
    if (!word) return;
    if (m.captor == d.men - 1) return place_meeting(word, out);
    const int square = m.captor < 0 ? m.square : square_on(d, row, m.captor);
    out.put(square >> 3, broadcast(word) & lanes_of(bit(square), square >> 3));
}

// The captive is the bit man: the bits of a word of the smaller set are the lanes here.
inline void place_bit(const Domain& d, const uint64_t* smaller, Meeting m, size_t row, Row out) {
    const uint64_t word = smaller[row];
    if (!word) return;
    if (m.captor >= 0 && m.captor == d.men - 2) return place_meeting(word, out);
    const int square = m.captor < 0 ? m.square : square_on(d, row, m.captor);
    for (int r = 0; r < 8; ++r)
        if (word >> (8 * r) & 255) out.put(r, lanes_of(word, r) & broadcast(bit(square)));
}

inline void place_row(const Domain& d, const uint64_t* smaller, Meeting m, size_t row, Row out) {
    if (m.captive < d.outer()) place_outer(d, smaller, m, row, out);
    else if (m.captive == d.men - 1) place_bit(d, smaller, m, row, out);
    else place_lane(d, smaller, m, row, out);
}

inline void place(const Domain& d, const uint64_t* smaller, Meeting m, uint64_t* words, uint8_t* touched) {
    for (size_t row = 0; row < d.rows(); ++row) place_row(d, smaller, m, row, {words + row * 64, touched + row});
}

inline void clear(uint64_t* words, uint8_t* touched, size_t rows) {
    for (size_t row = 0; row < rows; ++row) {
        if (!touched[row]) continue;
        for (int r = 0; r < 8; ++r) *reinterpret_cast<Unit*>(words + row * 64 + 8 * r) = Unit{};
        touched[row] = 0;
    }
}

// A smaller set is turned into `s.placed`.
inline void capture_by_king(const Domain& d, int pair, int side, int captive, Exits exits, Scratch s, Gather op) {
    const Steps& steps = d.steps[side][pair];
    const size_t size = smaller_words(d);
    for (int i = 0; i < steps.count; ++i) {
        const Step& step = steps.step[i];
        if (!exits.any(captive, step.pair)) continue;
        const uint64_t* smaller = exits.words[captive] + static_cast<size_t>(step.pair) * size;
        if (d.fixed) {
            place(d, smaller, {captive, -1, step.to}, op.words, op.touched);
            continue;
        }
        const Gather turned{s.placed, s.placed_touched};
        pull_turned(d.men - 1, step.symmetry, {smaller, every_row()}, every_row(), turned);
        place(d, s.placed, {captive, -1, step.to}, op.words, op.touched);
        clear(s.placed, s.placed_touched, size / 64);
    }
}

// Positions in which `mover` can capture into one of the smaller sets.
inline void captures(const Domain& d, int pair, int mover, Exits exits, Scratch s, Gather op) {
    const uint64_t kings = bit(d.king[0][pair]) | bit(d.king[1][pair]);
    const size_t size = smaller_words(d);
    for (int captive = 0; captive < d.men; ++captive) {
        const uint64_t* smaller = exits.words[captive];
        if (!smaller) continue;
        capture_by_king(d, pair, mover, captive, exits, s, op);
        if (!exits.any(captive, pair)) continue;
        for (int captor = 0; captor < d.men; ++captor) {
            if (d.man[captor].side != mover) continue;
            place(d, smaller + static_cast<size_t>(pair) * size, {captive, captor, 0}, s.placed, s.placed_touched);
            unmove_man(d, captor, kings, {s.placed, s.placed_touched}, every_row(), op);
            clear(s.placed, s.placed_touched, d.rows());
        }
    }
}

}  // namespace
}  // namespace kingpair::KINGPAIR_LEVEL
