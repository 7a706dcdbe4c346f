// Captures of Chinese chess: sets of smaller materials, un-moved into the larger one.
//
// A free man takes: the smaller set is put where the captor stands on the captive's square, and the captor is un-moved.
// A frame man takes a free man by one of its steps: the smaller set is read where the step leads to, and put where the
// captive stands on the square stepped to. A frame man takes no frame man, because none crosses the river.
//
// The smaller sets are those of `Exits`: one for each free man, then one for each letter of a frame man and each side.

#pragma once

#include "xiangqi_unmove.hpp"

namespace kingpair::KINGPAIR_LEVEL {
namespace {
namespace xq {

constexpr int exit_of_letter(int side, int letter) { return FREE_MAX + LETTERS * side + letter; }

// A placement of a smaller set, in which every row is valid.
struct Smaller {
    const Axes& axes;
    const uint64_t* words;
    bool mirrored;

    // The board of the last man where the others stand on these squares; nothing if they cannot.
    One board(const uint8_t* square) const {
        Squares at(axes);
        for (int i = 0; i < at.count; ++i) {
            const int index = axes.index[i][mirrored ? mirror_square(square[i]) : square[i]];
            if (index < 0) return {0, 0};
            at.put(axes, i, static_cast<size_t>(index));
        }
        const One found = one_at(words + at.word(axes));
        return mirrored && axes.men > 0 ? mirror(found) : found;
    }
};

inline bool has(One b, int square) { return any(b & square_of(square)); }

// Calls op(squares) for all placings of the men but the last one.
template <class Op>
inline void each_placing(const Axes& axes, Op op) {
    Squares squares(axes);
    for (size_t outer = 0; outer < axes.outer; ++outer) {
        squares.outer(axes, outer);
        for (size_t lane = 0; lane < static_cast<size_t>(axes.lanes()); ++lane) {
            if (axes.men > 1) squares.put(axes, axes.men - 2, lane);
            op(squares);
        }
    }
}

// ---- a frame man is taken ----

// out: the captor stands on the captive's square, all others as in the smaller set.
inline void place_captor(const Block& b, size_t inner, Smaller from, int axis, int square, Gather out) {
    const Axes& axes = b.axes;
    const size_t base = b.first_row(inner) * 64;
    if (!axes.is_bit(axis) && axes.index[axis][square] < 0) return;
    each_placing(axes, [&](const Squares& squares) {
        if (!axes.is_bit(axis) && squares.square[axis] != square) return;
        One board = from.board(squares.square);
        if (axes.is_bit(axis)) board &= square_of(square);
        if (any(board)) put_board(out, base + squares.word(axes), board);
    });
}

// Calls op(its place, captive) for the frame men of a letter that can be taken in a placement.
template <class Op>
inline void each_captive(const Block& b, size_t inner, int side, int letter, Op op) {
    const auto& captives = b.frame.side[side].captives[letter];
    if (captives.empty()) return;
    const size_t ours = b.frame.inner, theirs = b.frame.smaller_inner[letter];
    if (side == 0)
        for (const Captive& captive : captives[inner])
            op(b.pair, static_cast<size_t>(b.pair) * theirs + static_cast<size_t>(captive.placement), captive);
    else
        for (const Captive& captive : captives[static_cast<size_t>(b.pair)])
            op(captive.placement,
               static_cast<size_t>(captive.placement) * ours + (captive.mirrored ? b.frame.mirrored[inner] : inner),
               captive);
}

inline void captures_of_frame_men(const Block& b, int mover, Exits exits, Scratch s, Gather op) {
    const Gather placed{s.placed, s.placed_touched};
    const size_t size = b.axes.rows * 64;
    for (size_t inner = 0; inner < b.frame.inner; ++inner)
        for (int axis = 0; axis < b.axes.men; ++axis) {
            if (b.axes.man[axis].side != mover) continue;
            bool found = false;
            for (int letter = 0; letter < LETTERS; ++letter) {
                const int exit = exit_of_letter(1 - mover, letter);
                if (!exits.words[exit]) continue;
                each_captive(b, inner, 1 - mover, letter, [&](int block, size_t placement, const Captive& captive) {
                    if (!exits.any(exit, block)) return;
                    found = true;
                    const Smaller from{b.axes, exits.words[exit] + placement * size, captive.mirrored};
                    place_captor(b, inner, from, axis, captive.square, placed);
                });
            }
            if (!found) continue;
            unmove_man<true>(b, axis, inner, {s.placed, s.placed_touched}, nullptr, op);
            clear_rows(b, inner, s.placed, s.placed_touched);
        }
}

// ---- a free man is taken ----

// Calls put(squares, board of the last man) where man `captive` stands on `square` and the others as in the smaller
// set.
template <class Put>
inline void place_captive(const Axes& axes, const Smaller& from, int captive, int square, Put put) {
    if (!axes.is_bit(captive) && axes.index[captive][square] < 0) return;
    if (axes.is_bit(captive) && !axes.bits.has(square)) return;
    each_placing(axes, [&](const Squares& squares) {
        if (!axes.is_bit(captive) && squares.square[captive] != square) return;
        uint8_t others[FREE_MAX];
        int count = 0;
        for (int i = 0; i < squares.count; ++i)
            if (i != captive) others[count++] = squares.square[i];
        One board = from.board(others);
        if (axes.is_bit(captive)) {
            // The last of the others is the last man of the smaller set.
            const bool held = axes.men == 1 ? board.lower & 1 : has(board, others[count - 1]);
            board = held ? square_of(square) : One{0, 0};
        }
        if (any(board)) put(squares, board);
    });
}

inline void captures_by_frame_men(const Block& b, int mover, int captive, Exits exits, Gather op) {
    const Axes& axes = b.axes;
    const Axes& without = b.frame.without[static_cast<size_t>(captive)];
    each_step(b, mover, [&](size_t inner, int block, size_t placement, const FrameMove& move) {
        if (!exits.any(captive, block)) return;
        const size_t at = static_cast<size_t>(block) * b.frame.inner + placement;
        const Smaller from{without, exits.words[captive] + at * without.rows * 64, move.mirrored};
        place_captive(axes, from, captive, move.to, [&](const Squares& squares, One board) {
            for (int i = 0; i < squares.count; ++i)
                if (squares.square[i] == move.eye) return;
            if (move.eye != NOWHERE && axes.men > 0) board &= ~square_of(move.eye);
            put_board(op, b.first_row(inner) * 64 + squares.word(axes), board);
        });
    });
}

inline void captures_by_free_men(const Block& b, int mover, int captive, Exits exits, Scratch s, Gather op) {
    const Axes& axes = b.axes;
    const Axes& without = b.frame.without[static_cast<size_t>(captive)];
    if (!exits.any(captive, b.pair)) return;
    const Gather placed{s.placed, s.placed_touched};
    for (size_t inner = 0; inner < b.frame.inner; ++inner) {
        const size_t at = static_cast<size_t>(b.pair) * b.frame.inner + inner;
        const Smaller from{without, exits.words[captive] + at * without.rows * 64, false};
        for (int captor = 0; captor < axes.men; ++captor) {
            if (axes.man[captor].side != mover) continue;
            for (int i = 0; i < axes.count[captive]; ++i) {
                const int square = axes.square[captive][i];
                place_captive(axes, from, captive, square, [&](const Squares& squares, One board) {
                    if (!axes.is_bit(captor) && squares.square[captor] != square) return;
                    if (axes.is_bit(captor)) board &= square_of(square);
                    if (any(board)) put_board(placed, b.first_row(inner) * 64 + squares.word(axes), board);
                });
            }
            unmove_man<true>(b, captor, inner, {s.placed, s.placed_touched}, nullptr, op);
            clear_rows(b, inner, s.placed, s.placed_touched);
        }
    }
}

// Positions in which `mover` can capture into one of the smaller sets.
inline void captures(const Block& b, int mover, Exits exits, Scratch s, Gather op) {
    for (int captive = 0; captive < b.axes.men; ++captive) {
        if (!exits.words[captive] || b.axes.man[captive].side == mover) continue;
        captures_by_frame_men(b, mover, captive, exits, op);
        captures_by_free_men(b, mover, captive, exits, s, op);
    }
    captures_of_frame_men(b, mover, exits, s, op);
}

}  // namespace xq
}  // namespace
}  // namespace kingpair::KINGPAIR_LEVEL
