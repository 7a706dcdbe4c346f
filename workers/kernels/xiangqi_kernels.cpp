// The steps of the analysis in Chinese chess, one block at a time. The equations are those of kernels.cpp but for
//
//     L_0 = open_l - unmove_l(open_w)          a side without a move has lost, in check or not
//
// and captures of frame men lead into blocks of a smaller frame (xiangqi_captures.hpp).

#include "settling.hpp"
#include "streams.hpp"
#include "values.hpp"
#include "xiangqi_captures.hpp"

namespace kingpair::KINGPAIR_LEVEL {
namespace {
namespace xq {

inline Block held_block(const Domain& d, int block, Scratch s) {
    const Block b(d, block);
    KINGPAIR_INVARIANT(b.at == place_in(d, block), "a block that a step works on is held");
    check_scratch(b, s);
    return b;
}

void legal(const Domain& d, int block, int to_move, uint64_t* out, Scratch s) {
    const Block b(d, block);
    check_scratch(b, s);
    if (to_move >= 0) attacks(b, to_move, s, {s.set, s.set_touched});
    without_gathered(b, to_move >= 0, s, out, nullptr);
}

void prepare(const Domain& d, Parts parts, int mover, Exits escapes, Layer open, Scratch s) {
    for (size_t i = 0; i < parts.count; ++i) {
        const Block b = held_block(d, parts.pair[i], s);
        const Gather gather{s.set, s.set_touched};
        attacks(b, mover, s, gather);
        captures(b, mover, escapes, s, gather);
        open.live[b.at] = without_gathered(b, true, s, b.words(open), b.occupied(open));
    }
}

// ---- the steps ----

template <class Op>
inline void unmove_free_men(const Block& b, int side, Source in, const uint8_t* want, Op op) {
    for (int axis = 0; axis < b.axes.men; ++axis) {
        if (b.axes.man[axis].side != side) continue;
        for (size_t inner = 0; inner < b.frame.inner; ++inner) unmove_man<false>(b, axis, inner, in, want, op);
    }
}

// Removes from the scratch set every position with a move into the winner's open set.
inline bool keep_helpless(const Block& b, int loser, Layer open_w, Scratch s) {
    const Remove remove{s.set};
    unmove_free_men(b, loser, source_in(b.d, open_w, b.pair), s.set_touched, remove);
    if (!narrow(b, s)) return false;
    unmove_frame(b, loser, open_w, s.set_touched, remove);
    return narrow(b, s);
}

inline bool gather_moves(const Block& b, int mover, Layer from, Gather gather, const uint8_t* want) {
    bool found = false;
    if (from.live[b.at]) {
        found = true;
        unmove_free_men(b, mover, source_in(b.d, from, b.pair), want, gather);
    }
    if (mover == 1)
        for (const FrameMove& move : b.frame.side[1].moves[static_cast<size_t>(b.pair)])
            found |= from.live[place_in(b.d, move.placement)] != 0;
    if (found) unmove_frame(b, mover, from, want, gather);
    return found;
}

void lose_at_once(const Domain& d, Parts parts, int winner, Exits, Inflows, Layer, Layer open_w, Layer open_l,
                  Layer lost, const uint64_t* canonical, uint64_t* counts, Scratch s) {
    for (size_t i = 0; i < parts.count; ++i) {
        const Block b = held_block(d, parts.pair[i], s);
        check_open(b, open_w);
        check_open(b, open_l);
        check_written(b, lost);
        for (size_t row = 0; row < b.rows; ++row) {
            s.set_touched[row] = b.occupied(open_l)[row];
            for (int r = 0; r < 8; ++r) unit(s.set, row, r) = unit(b.words(open_l), row, r);
        }
        if (keep_helpless(b, 1 - winner, open_w, s)) counts[i] = settle(b, s, open_l, lost, canonical);
        else settle_nothing(b, lost);
    }
}

void win(const Domain& d, Parts parts, int winner, Exits lost_after, Inflows, Layer, Layer lost, Layer open_w,
         Layer won, const uint64_t* canonical, uint64_t* counts, Scratch s) {
    for (size_t i = 0; i < parts.count; ++i) {
        const Block b = held_block(d, parts.pair[i], s);
        check_frontier(b, lost);
        check_open(b, open_w);
        check_written(b, won);
        const Gather gather{s.set, s.set_touched};
        bool found = gather_moves(b, winner, lost, gather, b.occupied(open_w));
        for (const uint64_t* smaller : lost_after.words) found |= smaller != nullptr;
        captures(b, winner, lost_after, s, gather);
        if (found) counts[i] = settle(b, s, open_w, won, canonical);
        else settle_nothing(b, won);
    }
}

void lose(const Domain& d, Parts parts, int winner, Layer won, Layer freed, Inflows, Inflows, Layer open_w,
          Layer open_l, Layer lost, const uint64_t* canonical, uint64_t* counts, Scratch s) {
    for (size_t i = 0; i < parts.count; ++i) {
        const Block b = held_block(d, parts.pair[i], s);
        check_frontier(b, won);
        check_open(b, open_w);
        check_open(b, open_l);
        check_written(b, lost);
        const int loser = 1 - winner;
        const Gather gather{s.set, s.set_touched};
        bool found = release(b, freed, open_l, gather);
        found |= gather_moves(b, loser, won, gather, b.occupied(open_l));
        found = found && narrow(b, s, [&](size_t row, int r) { return unit(b.words(open_l), row, r); });
        if (found && keep_helpless(b, loser, open_w, s)) counts[i] = settle(b, s, open_l, lost, canonical);
        else settle_nothing(b, lost);
    }
}

void collect(const Domain&, Parts, int, Inflow, Layer, Scratch) {
    KINGPAIR_INVARIANT(false, "no pawn structure leads to another");
}

void collect_captures(const Domain& d, Parts parts, int mover, Exits exits, Layer out, Scratch s) {
    for (size_t i = 0; i < parts.count; ++i) {
        const Block b = held_block(d, parts.pair[i], s);
        captures(b, mover, exits, s, {s.set, s.set_touched});
        add_to(b, s, out);
    }
}

// ---- columns ----

// Calls put(slot) for the slots of a word's bits.
template <class Put>
inline void each_slot(const Frame& frame, size_t index, uint64_t word, Put put) {
    const Axes& axes = frame.axes;
    const size_t inner = index / (axes.rows * 64), within = index % (axes.rows * 64);
    for (; word; word &= word - 1) {
        const int32_t slot = axes.slot_of_bit[within * 64 + static_cast<size_t>(lowest(word))];
        if (slot >= 0) put(inner * axes.slots + static_cast<size_t>(slot));
    }
}

template <class T>
bool paint(const Domain& d, const uint8_t* in, size_t size, int value, T* column) {
    auto put = [&](size_t index, uint64_t word) {
        each_slot(*d.frame, index, word, [&](size_t slot) { column[slot] = static_cast<T>(value); });
    };
    return unpack(d, in, size, put, [](size_t) {});
}

// Fills the slots that hold no position with the value before them. Returns how many hold one.
template <class T>
inline uint64_t fill_slots(const Frame& frame, const uint64_t* counted, T* column) {
    const Axes& axes = frame.axes;
    uint64_t found = 0;
    size_t slot = 0;
    T carried = 0;
    for (size_t inner = 0; inner < frame.inner; ++inner, counted += axes.rows * 64)
        for (size_t i = 0; i < axes.slots; ++i, ++slot) {
            const auto at = static_cast<size_t>(axes.bit_of_slot[i]);
            const bool holds = counted[at / 64] >> (at % 64) & 1;
            found += holds;
            carried = holds ? column[slot] : carried;
            column[slot] = carried;
        }
    for (; slot < frame.slots; ++slot) column[slot] = carried;
    return found;
}

template <class T>
bool paint_partition(const Domain& d, int block, PaintedStream* streams, size_t count, const uint64_t* canonical,
                     T* const (&column)[2], uint64_t (&counted)[2], Scratch s) {
    const Block b(d, block);
    check_scratch(b, s);
    bool sound = true;
    for (int side = STRONGER; side <= WEAKER; ++side) {
        std::memset(column[side], 0, d.slots() * sizeof(T));
        for (PaintedStream* stream = streams; stream != streams + count && sound; ++stream)
            if (stream->side == side) sound = paint(d, stream->bytes, stream->size, stream->value, column[side]);
        attacks(b, side, s, {s.set, s.set_touched});
        without_gathered(b, true, s, s.other, nullptr);
        const uint64_t* mask = b.canonical(canonical);
        for (size_t w = 0; w < b.rows * 64; ++w) s.other[w] &= mask[w];
        counted[side] = fill_slots(b.frame, s.other, column[side]);
        std::memset(s.other, 0, b.rows * 512);
    }
    return sound;
}

}  // namespace xq
}  // namespace

template <class T>
constexpr ColumnKernels<T> XIANGQI_COLUMNS = {
    .paint = xq::paint<T>,
    .fill = fill<T>,
    .paint_partition = xq::paint_partition<T>,
    .equal = equal<T>,
    .signs = signs<T>,
};

extern const Kernels XIANGQI_KERNELS;
const Kernels XIANGQI_KERNELS = {
    .level = KINGPAIR_QUOTE(KINGPAIR_LEVEL),
    .prepare = xq::prepare,
    .lose_at_once = xq::lose_at_once,
    .win = xq::win,
    .lose = xq::lose,
    .collect = xq::collect,
    .collect_captures = xq::collect_captures,
    .legal = xq::legal,
    .pack = pack,
    .take_out = take_out,
    .put_in = put_in,
    .restore = restore,
    .refresh = refresh,
    .narrow = XIANGQI_COLUMNS<int8_t>,
    .wide = XIANGQI_COLUMNS<int16_t>,
};

}  // namespace kingpair::KINGPAIR_LEVEL
