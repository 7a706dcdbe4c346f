// Squares as numbers of Syzygy files name them: a1 = 0, b1 = 1, ..., h8 = 63.

#pragma once

#include <cstdint>
#include <utility>

namespace kingpair::syzygy {

inline int file_of(int square) { return square & 7; }
inline int rank_of(int square) { return square >> 3; }

constexpr int PAWN_SQUARES = 48, FIRST_PAWN_SQUARE = 8;

// Sorts a handful of squares by a key.
template <class Key>
void sort_by(uint8_t* squares, int count, Key key) {
    for (int i = 1; i < count; ++i)
        for (int j = i; j > 0 && key(squares[j]) < key(squares[j - 1]); --j) std::swap(squares[j], squares[j - 1]);
}

}  // namespace kingpair::syzygy
