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
// open_w = legal_w - W_{<=n} and open_l = legal_l - escapes - L_{<=n} are the only sets that last: the AND with "not
// yet known" is one read of the set that also has to be brought up to date, and "some move leads to a position not won"
// is un-moving what is open.
//
// Invariant: a step writes only to its own partition and reads of others only sets that no step of the same kind
// writes. So partitions may be done in any order by any number of threads, and the bytes are the same.

#include "carry_points.hpp"
#include "painting.hpp"
#include "settling.hpp"

namespace kingpair::KINGPAIR_LEVEL {
namespace {

// A partition that a step works on.
inline Part held_part(const Domain& d, int pair, Scratch s) {
    const Part p(d, pair);
    KINGPAIR_INVARIANT(p.at == place_in(d, pair), "a partition that a step works on is held");
    check_scratch(p, s);
    return p;
}

// With `to_move` -1: every placement with no two men on a square.
void legal(const Domain& d, int pair, int to_move, uint64_t* out, Scratch s) {
    const Part p(d, pair);
    check_scratch(p, s);
    if (to_move >= 0) attacks(p, to_move, s, {s.set, s.set_touched});
    without_gathered(p, s, out, nullptr);
}

void prepare(const Domain& d, Parts parts, int mover, Exits escapes, Layer open, Scratch s) {
    for (size_t i = 0; i < parts.count; ++i) {
        const Part p = held_part(d, parts.pair[i], s);
        Gather gather{s.set, s.set_touched};
        attacks(p, mover, s, gather);
        captures(d, p.pair, mover, escapes, s, gather);
        open.live[p.at] = without_gathered(p, s, p.words(open), p.occupied(open));
    }
}

// Removes from the scratch set every position with a move into the winner's open set: the delayed "every move loses".
// The king comes last: reading his neighbours costs most, and then the fewest positions are left.
inline bool keep_helpless(const Part& p, int loser, Layer open_w, Inflows holds, Scratch s) {
    Remove remove{s.set};
    for (const Inflow& hold : holds) {
        take_out_carried(p.d, p.kings, source_of(hold, p.pair), hold.carry, s.set, s.set_touched);
        if (!narrow(p, s)) return false;
    }
    for (int axis = p.d.men; axis-- > 0;) {
        if (p.d.man[axis].side != loser) continue;
        unmove_man(p.d, axis, p.kings, source(p.d, open_w, p.pair), s.set_touched, remove);
        if (!narrow(p, s)) return false;
    }
    unmove_king(p.d, p.pair, loser, open_w, s.set_touched, remove);
    return narrow(p, s);
}

// ---- the steps ----

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

void lose_at_once(const Domain& d, Parts parts, int winner, Exits won, Inflows holds, Layer forced, Layer open_w,
                  Layer open_l, Layer lost, const uint64_t* canonical, uint64_t* counts, Scratch s) {
    for (size_t i = 0; i < parts.count; ++i) {
        const Part p = held_part(d, parts.pair[i], s);
        check_neighbours(p, 1 - winner);
        check_open(p, open_w);
        check_open(p, open_l);
        check_written(p, lost);
        for (size_t row = 0; row < p.rows; ++row) {
            s.set_touched[row] = p.occupied(open_l)[row];
            for (int r = 0; r < 8; ++r) unit(s.set, row, r) = unit(p.words(open_l), row, r);
        }
        if (!keep_helpless(p, 1 - winner, open_w, holds, s)) {
            settle_nothing(p, lost);
            continue;
        }
        // Without a quiet move: mate if in check, a forced conversion if it can capture, else stalemate.
        captures(d, p.pair, 1 - winner, won, s, {s.other, s.other_touched});
        gather_layer(p, forced, {s.other, s.other_touched});
        narrow(p, s, [&](size_t row, int r) { return ~unit(p.words(open_w), row, r) | unit(s.other, row, r); });
        clear(s.other, s.other_touched, p.rows);
        counts[i] = settle(p, s, open_l, lost, canonical);
    }
}

void win(const Domain& d, Parts parts, int winner, Exits lost_after, Inflows pushes, Layer winning, Layer lost,
         Layer open_w, Layer won, const uint64_t* canonical, uint64_t* counts, Scratch s) {
    CarriedIn pushed(d, parts, pushes);
    for (size_t i = 0; i < parts.count; ++i) {
        const Part p = held_part(d, parts.pair[i], s);
        check_neighbours(p, winner);
        check_frontier(p, lost);
        check_open(p, open_w);
        check_written(p, won);
        Gather gather{s.set, s.set_touched};
        bool found = gather_moves(p, winner, lost, gather, p.occupied(open_w));
        for (const uint64_t* smaller : lost_after.words) found |= smaller != nullptr;
        captures(d, p.pair, winner, lost_after, s, gather);
        found |= pushed.gather(p, i, p.occupied(open_w), gather);
        found |= gather_layer(p, winning, gather);
        if (found) counts[i] = settle(p, s, open_w, won, canonical);
        else settle_nothing(p, won);
    }
}

void lose(const Domain& d, Parts parts, int winner, Layer won, Layer freed, Inflows pushes, Inflows holds, Layer open_w,
          Layer open_l, Layer lost, const uint64_t* canonical, uint64_t* counts, Scratch s) {
    CarriedIn pushed(d, parts, pushes);
    for (size_t i = 0; i < parts.count; ++i) {
        const Part p = held_part(d, parts.pair[i], s);
        check_neighbours(p, 1 - winner);
        check_frontier(p, won);
        check_open(p, open_w);
        check_open(p, open_l);
        check_written(p, lost);
        const int loser = 1 - winner;
        Gather gather{s.set, s.set_touched};
        bool found = release(p, freed, open_l, gather);
        found |= gather_moves(p, loser, won, gather, p.occupied(open_l));
        found |= pushed.gather(p, i, p.occupied(open_l), gather);
        found = found && narrow(p, s, [&](size_t row, int r) { return unit(p.words(open_l), row, r); });
        if (found && keep_helpless(p, loser, open_w, holds, s)) counts[i] = settle(p, s, open_l, lost, canonical);
        else settle_nothing(p, lost);
    }
}

// ---- exits ----

// Captures of pawns by men and kings: what is left when man `axis` has taken the pawn is put where he meets it.
inline void captures_of_pawns(const Part& p, int mover, const Inflow& inflow, Scratch s) {
    const Gather gather{s.set, s.set_touched};
    Carry carry = inflow.carry;
    for (carry.axis = 0; carry.axis < p.d.men && is_live(inflow, p.pair); ++carry.axis) {
        if (p.d.man[carry.axis].side != mover) continue;
        carry_into(p.d, *inflow.from, p.kings, source_of(inflow, p.pair), carry, every_row(),
                   Gather{s.placed, s.placed_touched});
        unmove_man(p.d, carry.axis, p.kings, {s.placed, s.placed_touched}, every_row(), gather);
        clear(s.placed, s.placed_touched, p.rows);
    }
    const Steps& steps = p.d.steps[mover][p.pair];
    for (int i = 0; i < steps.count; ++i)
        if (is_live(inflow, steps.step[i].pair))
            carry_stepping(p.d, source_of(inflow, steps.step[i].pair), inflow.carry, steps.step[i].to, gather);
}

// out |= positions with an exit into the set that flows in. With fewer men moving there, a man was taken by a pawn.
void collect(const Domain& d, Parts parts, int mover, Inflow inflow, Layer out, Scratch s) {
    CarriedIn carried(d, parts, {&inflow, 1});
    for (size_t i = 0; i < parts.count; ++i) {
        const Part p = held_part(d, parts.pair[i], s);
        const Gather gather{s.set, s.set_touched};
        if (inflow.carry.way == Carry::meeting) captures_of_pawns(p, mover, inflow, s);
        else if (inflow.carry.way != Carry::taking) carried.gather(p, i, every_row(), gather);
        else if (is_live(inflow, p.pair)) carry_taken(d, *inflow.from, source_of(inflow, p.pair), inflow.carry, gather);
        add_to(p, s, out);
    }
}

void collect_captures(const Domain& d, Parts parts, int mover, Exits exits, Layer out, Scratch s) {
    for (size_t i = 0; i < parts.count; ++i) {
        const Part p = held_part(d, parts.pair[i], s);
        captures(d, p.pair, mover, exits, s, {s.set, s.set_touched});
        add_to(p, s, out);
    }
}

}  // namespace

template <class T>
constexpr ColumnKernels<T> COLUMNS = {
    .paint = paint<T>,
    .fill = fill<T>,
    .paint_partition = paint_partition<T>,
    .equal = equal<T>,
    .signs = signs<T>,
};

extern const Kernels KERNELS;
const Kernels KERNELS = {
    .level = KINGPAIR_QUOTE(KINGPAIR_LEVEL),
    .prepare = prepare,
    .lose_at_once = lose_at_once,
    .win = win,
    .lose = lose,
    .collect = collect,
    .collect_captures = collect_captures,
    .legal = legal,
    .pack = pack,
    .take_out = take_out,
    .put_in = put_in,
    .restore = restore,
    .refresh = refresh,
    .narrow = COLUMNS<int8_t>,
    .wide = COLUMNS<int16_t>,
};

}  // namespace kingpair::KINGPAIR_LEVEL
