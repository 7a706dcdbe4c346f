// The steps of the analysis, one partition at a time, in the letters of the paper:
//
//     prepare        open_w = legal_w;  open_l = legal_l - escapes               one of them a call
//     lose_at_once   L_0 = (open_l - unmove_l(open_w)) & (in check | can capture)
//     win            W_n = (unmove_w(L_{n-1}) | exits) & open_w;                open_w -= W_n
//     lose           open_l |= freed_n
//                    L_n = ((unmove_l(W_n) | freed_n) & open_l) - unmove_l(open_w);   open_l -= L_n
//
// freed_n are positions whose last escape was found won at depth n: only a metric whose exits carry a depth has them.
//
// open_w = legal_w - W_{<=n} and open_l = legal_l - escapes - L_{<=n} are the only sets that last: the AND with "not yet
// known" is one read of the set that also has to be brought up to date, and "some move leads to a position not won"
// is un-moving what is open.
//
// Invariant: a step writes only to its own partition and reads of others only sets that no step of the same kind
// writes. So partitions may be done in any order by any number of threads, and the bytes are the same.

#include "exchange.hpp"
#include "streams.hpp"

namespace kingpair::KINGPAIR_LEVEL {
namespace {

struct Part {
    const Domain& d;
    int pair;
    uint64_t kings;
    size_t rows;
    size_t at;  // its place in the arrays

    Part(const Domain& domain, int pair_)
        : d(domain),
          pair(pair_),
          kings(bit(domain.king[0][pair_]) | bit(domain.king[1][pair_])),
          rows(domain.rows()),
          at(place_in(domain, pair_)) {}

    uint64_t* words(Layer layer) const { return layer.words + at * rows * 64; }
    uint8_t* occupied(Layer layer) const { return layer.occupied + at * rows; }
    bool on_diagonal() const { return d.king[0][pair] % 9 == 0 && d.king[1][pair] % 9 == 0; }
    const uint64_t* canonical(const uint64_t* masks) const { return masks + (on_diagonal() ? rows * 64 : 0); }
};

inline Unit& unit(uint64_t* words, size_t row, int rank) { return *reinterpret_cast<Unit*>(words + row * 64 + 8 * rank); }

// ---- legality --------------------------------------------------------------------------------------------------------

// Positions in which a man of `by` attacks the other side's king: un-moves from a set that is full where he stands on it.
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
}

// No two men on a square.
inline Unit apart(const Domain& d, const RowSquares& squares, int rank) {
    if (!squares.possible) return Unit{};
    Unit u = broadcast(~squares.blocked);
    if (d.men > 1) return u & lane_apart_from_bit(rank) & ~lanes_of(squares.blocked, rank);
    if (d.men == 0) u = broadcast(1);
    return rank == 0 ? u & lanes_of(1, 0) : Unit{};
}

// out = positions with no two men on a square, less what was gathered in the scratch set, which is left empty.
inline uint32_t without_gathered(const Part& p, Scratch s, uint64_t* out, uint8_t* occupied) {
    uint32_t live = 0;
    for (size_t row = 0; row < p.rows; ++row) {
        RowSquares squares(p.d, row, p.kings);
        unsigned mask = 0;
        for (int r = 0; r < 8; ++r) {
            Unit v = apart(p.d, squares, r) & ~unit(s.set, row, r);
            unit(out, row, r) = v;
            mask |= unsigned{any(v)} << r;
        }
        if (occupied) occupied[row] = static_cast<uint8_t>(mask);
        live += mask != 0;
    }
    clear(s.set, s.set_touched, p.rows);
    return live;
}

// With nobody to move: every placement with no two men on a square.
void legal(const Domain& d, int pair, int to_move, uint64_t* out, Scratch s) {
    Part p(d, pair);
    if (to_move >= 0) attacks(p, to_move, s, {s.set, s.set_touched});
    without_gathered(p, s, out, nullptr);
}

void prepare(const Domain& d, Parts parts, int mover, Exits escapes, Layer open, Scratch s) {
    for (size_t i = 0; i < parts.count; ++i) {
        Part p(d, parts.pair[i]);
        Gather gather{s.set, s.set_touched};
        attacks(p, mover, s, gather);
        captures(d, p.pair, mover, escapes, s, gather);
        open.live[p.at] = without_gathered(p, s, p.words(open), p.occupied(open));
    }
}

// ---- settling ----------------------------------------------------------------------------------------------------------

// found = scratch & open; open -= found; the scratch set is left empty. Counts positions, one of each orbit.
inline uint64_t settle(const Part& p, Scratch s, Layer open, Layer found, const uint64_t* canonical) {
    uint64_t* open_words = p.words(open);
    uint64_t* found_words = p.words(found);
    uint8_t* found_occupied = p.occupied(found);
    const uint64_t* counted = canonical ? p.canonical(canonical) : nullptr;
    uint64_t count = 0;
    uint32_t live = 0;
    for (size_t row = 0; row < p.rows; ++row) {
        const unsigned touched = s.set_touched[row];
        found_occupied[row] = 0;
        if (!touched) continue;
        s.set_touched[row] = 0;
        unsigned occupied = 0, left = 0;
        Unit v[8];
        for (int r = 0; r < 8; ++r) {
            Unit still = unit(open_words, row, r);
            v[r] = unit(s.set, row, r) & still;
            unit(s.set, row, r) = Unit{};
            occupied |= unsigned{any(v[r])} << r;
            left |= unsigned{any(still & ~v[r])} << r;
        }
        if (!occupied) continue;
        ++live;
        found_occupied[row] = static_cast<uint8_t>(occupied);
        p.occupied(open)[row] = static_cast<uint8_t>(left);
        for (int r = 0; r < 8; ++r) unit(found_words, row, r) = v[r];
        for (unsigned m = occupied; m; m &= m - 1) {
            int r = lowest(m);
            unit(open_words, row, r) &= ~v[r];
            count += popcount(counted ? v[r] & unit_at(counted + row * 64 + 8 * r) : v[r]);
        }
    }
    found.live[p.at] = live;
    return count;
}

inline void settle_nothing(const Part& p, Layer found) {
    if (!found.live[p.at]) return;
    for (size_t row = 0; row < p.rows; ++row) p.occupied(found)[row] = 0;
    found.live[p.at] = 0;
}

// scratch &= keep, and only non-empty units stay marked. Says whether anything is left.
template <class Keep>
inline bool narrow(const Part& p, Scratch s, Keep keep) {
    bool left = false;
    for (size_t row = 0; row < p.rows; ++row) {
        unsigned touched = s.set_touched[row], still = 0;
        for (; touched; touched &= touched - 1) {
            int r = lowest(touched);
            Unit v = unit(s.set, row, r) & keep(row, r);
            unit(s.set, row, r) = v;
            still |= unsigned{any(v)} << r;
        }
        s.set_touched[row] = static_cast<uint8_t>(still);
        left |= still != 0;
    }
    return left;
}

inline bool narrow(const Part& p, Scratch s) {
    return narrow(p, s, [](size_t, int) { return broadcast(~uint64_t{0}); });
}

// Remove from the scratch set every position with a move into what is open to the winner: the delayed "every move
// loses". Men first, then the king, whose neighbours are the dearest to read, for the fewest positions.
inline bool keep_helpless(const Part& p, int loser, Layer open_w, Scratch s) {
    Remove remove{s.set};
    for (int axis = p.d.men; axis-- > 0;) {
        if (p.d.man[axis].side != loser) continue;
        unmove_man(p.d, axis, p.kings, source(p.d, open_w, p.pair), s.set_touched, remove);
        if (!narrow(p, s)) return false;
    }
    unmove_king(p.d, p.pair, loser, open_w, s.set_touched, remove);
    return narrow(p, s);
}

// ---- the steps -----------------------------------------------------------------------------------------------------------

inline bool gather_moves(const Part& p, int mover, Layer from, Gather gather, const uint8_t* want) {
    bool found = false;
    if (from.live[p.at]) {
        found = true;
        for (int axis = 0; axis < p.d.men; ++axis)
            if (p.d.man[axis].side == mover) unmove_man(p.d, axis, p.kings, source(p.d, from, p.pair), want, gather);
    }
    const Steps& steps = p.d.steps[mover][p.pair];
    for (int i = 0; i < steps.count; ++i) found |= from.live[place_in(p.d, steps.step[i].pair)] != 0;
    if (found) unmove_king(p.d, p.pair, mover, from, want, gather);
    return found;
}

void lose_at_once(const Domain& d, Parts parts, int winner, Exits won, Layer open_w, Layer open_l, Layer lost,
                  const uint64_t* canonical, uint64_t* counts, Scratch s) {
    for (size_t i = 0; i < parts.count; ++i) {
        Part p(d, parts.pair[i]);
        for (size_t row = 0; row < p.rows; ++row) {
            s.set_touched[row] = p.occupied(open_l)[row];
            for (int r = 0; r < 8; ++r) unit(s.set, row, r) = unit(p.words(open_l), row, r);
        }
        if (!keep_helpless(p, 1 - winner, open_w, s)) {
            settle_nothing(p, lost);
            continue;
        }
        // Without a quiet move: mate if in check, a forced conversion if it can capture, else stalemate.
        captures(d, p.pair, 1 - winner, won, s, {s.other, s.other_touched});
        narrow(p, s, [&](size_t row, int r) { return ~unit(p.words(open_w), row, r) | unit(s.other, row, r); });
        clear(s.other, s.other_touched, p.rows);
        counts[i] = settle(p, s, open_l, lost, canonical);
    }
}

void win(const Domain& d, Parts parts, int winner, Exits lost_after, Layer lost, Layer open_w, Layer won,
         const uint64_t* canonical, uint64_t* counts, Scratch s) {
    for (size_t i = 0; i < parts.count; ++i) {
        Part p(d, parts.pair[i]);
        Gather gather{s.set, s.set_touched};
        bool found = gather_moves(p, winner, lost, gather, p.occupied(open_w));
            for (const uint64_t* smaller : lost_after.words) found |= smaller != nullptr;
        captures(d, p.pair, winner, lost_after, s, gather);
        if (found)
            counts[i] = settle(p, s, open_w, won, canonical);
        else
            settle_nothing(p, won);
    }
}

// Positions that nothing holds back any longer: they join what is open, and may be lost in this very pass.
inline bool release(const Part& p, Layer freed, Layer open_l, Gather gather) {
    if (!freed.words || !freed.live[p.at]) return false;
    for (size_t row = 0; row < p.rows; ++row) {
        const unsigned units = p.occupied(freed)[row];
        for (unsigned m = units; m; m &= m - 1) {
            const int r = lowest(m);
            const Unit v = unit(p.words(freed), row, r);
            unit(p.words(open_l), row, r) |= v;
            gather(row, r, v);
        }
        uint8_t& open_units = p.occupied(open_l)[row];
        open_l.live[p.at] += units && !open_units;
        open_units = static_cast<uint8_t>(open_units | units);
    }
    return true;
}

void lose(const Domain& d, Parts parts, int winner, Layer won, Layer freed, Layer open_w, Layer open_l, Layer lost,
          const uint64_t* canonical, uint64_t* counts, Scratch s) {
    for (size_t i = 0; i < parts.count; ++i) {
        Part p(d, parts.pair[i]);
        const int loser = 1 - winner;
        Gather gather{s.set, s.set_touched};
        bool found = release(p, freed, open_l, gather);
        found |= gather_moves(p, loser, won, gather, p.occupied(open_l));
        found = found && narrow(p, s, [&](size_t row, int r) { return unit(p.words(open_l), row, r); });
        if (found && keep_helpless(p, loser, open_w, s))
            counts[i] = settle(p, s, open_l, lost, canonical);
        else
            settle_nothing(p, lost);
    }
}

}  // namespace

extern const Kernels KERNELS;
const Kernels KERNELS = {KINGPAIR_QUOTE(KINGPAIR_LEVEL), prepare, lose_at_once, win, lose, legal,
                         pack, take_out, put_in, restore, refresh, paint<int8_t>, paint<int16_t>, fill<int8_t>, fill<int16_t>,
                         equal<int8_t>, equal<int16_t>, signs<int8_t>, signs<int16_t>};

}  // namespace kingpair::KINGPAIR_LEVEL
