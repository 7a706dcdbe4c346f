// Un-moves of Chinese chess within a block and from block to block.
//
// Of the last free man (the bit) all squares lie in two units, and eight lanes are un-moved at once. Any other free man
// is un-moved board by board. Frame men change the placement: a step is read where it leads to, and what stands on an
// elephant's eye takes it away.
//
// Cost: the bit man about 150 operations for eight lanes; a pawn or a horse on the lanes 20 for each board that is not
// empty; a frame step one load and one OR for each unit that is occupied.

#pragma once

#include <cstring>

#include "legality.hpp"
#include "xiangqi_board.hpp"

namespace kingpair::KINGPAIR_LEVEL {
namespace {
namespace xq {

// A partition of the domain, with what its kernels need of the frame.
struct Block : Part {
    const Frame& frame;
    const Axes& axes;

    Block(const Domain& d, int block) : Part(d, block), frame(*d.frame), axes(d.frame->axes) {}

    size_t first_row(size_t inner) const { return inner * axes.rows; }
    const Board& weaker() const { return frame.side[1].standing[static_cast<size_t>(pair)]; }
    Board standing(size_t inner) const {
        const Board& ours = frame.side[0].standing[inner];
        return {{ours.half[0] | weaker().half[0], ours.half[1] | weaker().half[1]}};
    }
    int king(int side, size_t inner) const {
        return side ? frame.side[1].king[static_cast<size_t>(pair)] : frame.side[0].king[inner];
    }
};

inline Source source_in(const Domain& d, Layer layer, int block) {
    const size_t at = place_in(d, block);
    return {layer.words + at * d.rows() * 64, layer.occupied + at * d.rows()};
}

// The squares of the men that are not the last one, while all placings of them are gone through.
struct Squares {
    int count;  // of these men
    size_t index[FREE_MAX] = {};
    uint8_t square[FREE_MAX] = {};

    explicit Squares(const Axes& axes) : count(axes.men > 1 ? axes.men - 1 : 0) {}

    // The outer men of an outer placing.
    void outer(const Axes& axes, size_t placing) {
        for (int i = axes.outers(); i-- > 0;) {
            const auto size = static_cast<size_t>(axes.count[i]);
            put(axes, i, placing % size);
            placing /= size;
        }
    }
    void put(const Axes& axes, int axis, size_t at) {
        index[axis] = at;
        square[axis] = axes.square[axis][at];
    }
    size_t outer_placing(const Axes& axes) const {
        size_t placing = 0;
        for (int i = 0; i < axes.outers(); ++i) placing = placing * static_cast<size_t>(axes.count[i]) + index[i];
        return placing;
    }
    size_t lane(const Axes& axes) const { return axes.men > 1 ? index[axes.men - 2] : 0; }
    size_t word(const Axes& axes) const { return axes.word(outer_placing(axes), lane(axes)); }
};

// The rows that are wanted; all of them if no marks are given.
inline bool is_wanted(const uint8_t* want, size_t row) { return !want || want[row]; }

// ORs a board into a set, or takes it out of one.
inline void put_board(const Gather& op, size_t word, One b) {
    op.words[word] |= b.lower;
    op.words[word + 8] |= b.upper;
    op.touched[word / 64] = static_cast<uint8_t>(op.touched[word / 64] | 3u << (word % 64 / 8));
}
inline void put_board(const Remove& op, size_t word, One b) {
    op.words[word] &= ~b.lower;
    op.words[word + 8] &= ~b.upper;
}

template <class Op>
inline void put_boards(Op op, size_t row, int unit_in_row, Boards b) {
    op(row, unit_in_row, b.lower);
    op(row, unit_in_row + 1, b.upper);
}

inline Boards lane_boards(const Axes& axes, size_t row_in_outer, int unit_in_row) {
    Boards b;  // the array is not aligned to units
    std::memcpy(static_cast<void*>(&b),
                axes.lane_board.data() + row_in_outer * 64 + static_cast<size_t>(unit_in_row) * 8, sizeof b);
    return b;
}

template <bool captures, class Op>
inline void unmove_bit_man(const Block& b, size_t inner, Source in, const uint8_t* want, Op op) {
    const Axes& axes = b.axes;
    const FreeMan man = axes.man[axes.men - 1];
    const Board standing = b.standing(inner);
    Squares squares(axes);
    for (size_t outer = 0; outer < axes.outer; ++outer) {
        Board blocked = standing;
        squares.outer(axes, outer);
        for (int i = 0; i < axes.outers(); ++i) blocked.set(squares.square[i]);
        const Boards free = ~spread(blocked) & spread(One{ALL, ALL});
        for (size_t r = 0; r < axes.lane_rows; ++r) {
            const size_t row = b.first_row(inner) + outer * axes.lane_rows + r;
            if (!is_wanted(want, row)) continue;
            for (unsigned units = in.occupied[row]; units;) {
                const int u = lowest(units) & ~1;
                units &= ~(3u << u);
                const Boards from = boards_at(in.row(row) + 8 * u);
                put_boards(op, row, u, unmove_bits<captures>(man, from, free & ~lane_boards(axes, r, u)));
            }
        }
    }
}

// A man on the lanes or outside of them.
template <bool captures, class Op>
inline void unmove_other_man(const Block& b, int axis, size_t inner, Source in, const uint8_t* want, Op op) {
    const Axes& axes = b.axes;
    const size_t base = b.first_row(inner);
    Squares squares(axes);
    const auto unmove_from = [&](const uint64_t* words) {
        const One t = one_at(words);
        if (!any(t)) return;
        Board blocked = b.standing(inner);
        for (int i = 0; i < squares.count; ++i)
            if (i != axis) blocked.set(squares.square[i]);
        Squares before = squares;
        unmove_board<captures>(axes.man[axis], squares.square[axis], t, blocked, [&](int s, One from) {
            if (axes.index[axis][s] < 0) return;
            before.put(axes, axis, static_cast<size_t>(axes.index[axis][s]));
            const size_t word = base * 64 + before.word(axes);
            if (is_wanted(want, word / 64)) put_board(op, word, from);
        });
    };
    for (size_t outer = 0; outer < axes.outer; ++outer) {
        squares.outer(axes, outer);
        for (size_t r = 0; r < axes.lane_rows; ++r) {
            const size_t row = base + outer * axes.lane_rows + r;
            for (unsigned units = in.occupied[row]; units;) {
                const int u = lowest(units) & ~1;
                units &= ~(3u << u);
                const size_t first = r * 32 + static_cast<size_t>(u) * 4;
                for (size_t lane = first; lane < first + 8 && lane < static_cast<size_t>(axes.lanes()); ++lane) {
                    squares.put(axes, axes.men - 2, lane);
                    unmove_from(in.row(row) + static_cast<size_t>(u) * 8 + lane % 8);
                }
            }
        }
    }
}

template <bool captures, class Op>
inline void unmove_man(const Block& b, int axis, size_t inner, Source in, const uint8_t* want, Op op) {
    if (b.axes.is_bit(axis)) unmove_bit_man<captures>(b, inner, in, want, op);
    else unmove_other_man<captures>(b, axis, inner, in, want, op);
}

// ---- frame steps ----

// Eight lanes of a placement as its mirror image shows them.
inline Boards mirrored_boards(const Axes& axes, const uint64_t* placement, const uint8_t* occupied,
                              const Squares& squares, size_t first_lane) {
    Squares theirs = squares;
    for (int i = 0; i < axes.outers(); ++i)
        theirs.put(axes, i, static_cast<size_t>(axes.index[i][mirror_square(squares.square[i])]));
    if (axes.men == 0) return boards_at(placement);
    Boards shown{};
    for (size_t i = 0; i < 8 && first_lane + i < static_cast<size_t>(axes.lanes()); ++i) {
        const size_t lane = first_lane + i;
        if (axes.men > 1) {
            const int mirrored = mirror_square(axes.square[axes.men - 2][lane]);
            theirs.put(axes, axes.men - 2, static_cast<size_t>(axes.index[axes.men - 2][mirrored]));
        }
        const size_t word = theirs.word(axes);
        if (occupied && !occupied[word / 64]) continue;
        const One board = one_at(placement + word);
        shown.lower[i] = board.lower;
        shown.upper[i] = board.upper;
    }
    return mirror(shown);
}

// Lanes whose own man stands on a square.
inline Boards lanes_on(const Axes& axes, size_t row_in_outer, int unit_in_row, int square) {
    const Boards there = lane_boards(axes, row_in_outer, unit_in_row) & spread(square_of(square));
    const Unit any_there = reinterpret_cast<Unit>((there.lower | there.upper) != Unit{});
    return {any_there, any_there};
}

// The source of a frame step: a placement of some block, as it is or mirrored.
struct Entered {
    const uint64_t* words;
    const uint8_t* occupied;  // by row of the placement; rows that are not occupied are undefined
    bool mirrored;
};

template <class Op>
inline void unstep(const Block& b, size_t inner, Entered from, int eye, const uint8_t* want, Op op) {
    const Axes& axes = b.axes;
    bool live = false;
    for (size_t r = 0; r < axes.rows && !live; ++r) live = from.occupied[r];
    if (!live) return;
    Squares squares(axes);
    for (size_t outer = 0; outer < axes.outer; ++outer) {
        squares.outer(axes, outer);
        bool blocked = false;
        for (int i = 0; i < axes.outers(); ++i) blocked |= squares.square[i] == eye;
        if (blocked) continue;
        for (size_t r = 0; r < axes.lane_rows; ++r) {
            const size_t there = outer * axes.lane_rows + r, row = b.first_row(inner) + there;
            if (!is_wanted(want, row)) continue;
            unsigned units = from.mirrored ? 255 : from.occupied[there];
            while (units) {
                const int u = lowest(units) & ~1;
                units &= ~(3u << u);
                const size_t first_lane = r * 32 + static_cast<size_t>(u) * 4;
                if (first_lane >= static_cast<size_t>(axes.lanes())) break;
                Boards v = from.mirrored ? mirrored_boards(axes, from.words, from.occupied, squares, first_lane)
                                         : boards_at(from.words + there * 64 + static_cast<size_t>(u) * 8);
                if (eye != NOWHERE) v &= ~lanes_on(axes, r, u, eye) & ~spread(square_of(eye));
                put_boards(op, row, u, v);
            }
        }
    }
}

// Calls step(inner, block, its placement, move) for every frame step of a side.
template <class Step>
inline void each_step(const Block& b, int side, Step step) {
    const auto& moves = b.frame.side[side].moves;
    for (size_t inner = 0; inner < b.frame.inner; ++inner) {
        if (side == 0) {
            for (const FrameMove& move : moves[inner]) step(inner, b.pair, static_cast<size_t>(move.placement), move);
        } else {
            for (const FrameMove& move : moves[static_cast<size_t>(b.pair)])
                step(inner, move.placement, move.mirrored ? b.frame.mirrored[inner] : inner, move);
        }
    }
}

template <class Op>
inline void unmove_frame(const Block& b, int side, Layer from, const uint8_t* want, Op op) {
    const size_t rows = b.axes.rows;
    each_step(b, side, [&](size_t inner, int block, size_t placement, const FrameMove& move) {
        const size_t at = place_in(b.d, block);
        if (!from.live[at]) return;
        const size_t first = at * b.rows + placement * rows;
        bool wanted = false;
        for (size_t r = 0; r < rows && !wanted; ++r) wanted = is_wanted(want, b.first_row(inner) + r);
        if (!wanted) return;
        unstep(b, inner, {from.words + first * 64, from.occupied + first, move.mirrored}, move.eye, want, op);
    });
}

// Empties the rows of a placement.
inline void clear_rows(const Block& b, size_t inner, uint64_t* words, uint8_t* touched) {
    clear(words + b.first_row(inner) * 64, touched + b.first_row(inner), b.axes.rows);
}

// ---- legality ----

// Squares between two kings that would see each other, if nothing stands there; all frame men aside.
struct Sight {
    bool open = false;  // only free men can stand between
    Board between = {};

    Sight(const Block& b, size_t inner) {
        const int below = b.king(0, inner), above = b.king(1, inner);
        if (below % 9 != above % 9) return;
        open = true;
        const Board standing = b.standing(inner);
        for (int s = below + 9; s < above; s += 9) {
            between.set(s);
            if (standing.has(s)) open = false;
        }
    }
};

inline Boards valid(const Block& b, size_t inner, const Squares& squares, size_t r, int u) {
    const Axes& axes = b.axes;
    const size_t first_lane = r * 32 + static_cast<size_t>(u) * 4;
    Board blocked = b.standing(inner);
    for (int i = 0; i < axes.outers(); ++i) {
        if (blocked.has(squares.square[i])) return {};
        blocked.set(squares.square[i]);
    }
    Boards v{};
    if (axes.men == 0) {
        v.lower[0] = first_lane == 0;
        return v;
    }
    for (size_t i = 0; i < 8 && first_lane + i < static_cast<size_t>(axes.lanes()); ++i) {
        if (axes.men > 1 && blocked.has(axes.square[axes.men - 2][first_lane + i])) continue;
        v.lower[i] = axes.bits.half[0] & ~blocked.half[0];
        v.upper[i] = axes.bits.half[1] & ~blocked.half[1];
    }
    return axes.men > 1 ? v & ~lane_boards(axes, r, u) : v;
}

// Boards on which a free man stands between the kings.
inline Boards shielded(const Block& b, const Sight& sight, const Squares& squares, size_t r, int u) {
    const Axes& axes = b.axes;
    const Boards all = spread(One{ALL, ALL});
    for (int i = 0; i < axes.outers(); ++i)
        if (sight.between.has(squares.square[i])) return all;
    if (axes.men == 0) return {};
    Boards v = spread(sight.between);
    if (axes.men > 1) {
        const Boards there = lane_boards(axes, r, u) & spread(sight.between);
        const Unit lanes = reinterpret_cast<Unit>((there.lower | there.upper) != Unit{});
        v |= {lanes, lanes};
    }
    return v;
}

// Positions in which a free man of `by` attacks the other side's king.
inline void attacks(const Block& b, int by, Scratch s, Gather op) {
    const Axes& axes = b.axes;
    for (size_t inner = 0; inner < b.frame.inner; ++inner) {
        const int king = b.king(1 - by, inner);
        for (int axis = 0; axis < axes.men; ++axis) {
            if (axes.man[axis].side != by) continue;
            Squares squares(axes);
            const Gather placed{s.placed, s.placed_touched};
            const bool on_bit = axes.is_bit(axis);
            if (!on_bit && axes.index[axis][king] < 0) continue;
            for (size_t outer = 0; outer < axes.outer; ++outer) {
                squares.outer(axes, outer);
                for (size_t lane = 0; lane < static_cast<size_t>(axes.lanes()); ++lane) {
                    if (axes.men > 1) squares.put(axes, axes.men - 2, lane);
                    if (!on_bit && squares.square[axis] != king) continue;
                    put_board(placed, b.first_row(inner) * 64 + squares.word(axes),
                              on_bit ? square_of(king) : One{ALL, ALL});
                }
            }
            unmove_man<true>(b, axis, inner, {s.placed, s.placed_touched}, nullptr, op);
            clear_rows(b, inner, s.placed, s.placed_touched);
        }
    }
}

// out = positions of a block with nothing wrong but for what was gathered in the scratch set, which is left empty.
inline uint32_t without_gathered(const Block& b, bool with_sight, Scratch s, uint64_t* out, uint8_t* occupied) {
    uint32_t live = 0;
    for (size_t inner = 0; inner < b.frame.inner; ++inner) {
        const Sight sight(b, inner);
        Squares squares(b.axes);
        for (size_t outer = 0; outer < b.axes.outer; ++outer) {
            squares.outer(b.axes, outer);
            for (size_t r = 0; r < b.axes.lane_rows; ++r) {
                const size_t row = b.first_row(inner) + outer * b.axes.lane_rows + r;
                unsigned mask = 0;
                for (int u = 0; u < 8; u += 2) {
                    Boards v = valid(b, inner, squares, r, u) & ~Boards{unit(s.set, row, u), unit(s.set, row, u + 1)};
                    if (with_sight && sight.open) v &= shielded(b, sight, squares, r, u);
                    unit(out, row, u) = v.lower;
                    unit(out, row, u + 1) = v.upper;
                    mask |= unsigned{KINGPAIR_LEVEL::any(v.lower)} << u | unsigned{KINGPAIR_LEVEL::any(v.upper)}
                                                                              << (u + 1);
                }
                if (occupied) occupied[row] = static_cast<uint8_t>(mask);
                live += mask != 0;
            }
        }
    }
    clear(s.set, s.set_touched, b.rows);
    return live;
}

}  // namespace xq
}  // namespace
}  // namespace kingpair::KINGPAIR_LEVEL
