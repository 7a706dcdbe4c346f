// A position of few men: which squares they attack, and whether a side has a move.
//
// It is read from one FEN at a time, so it is a list of men, and moves are tried out on copies.

#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels.hpp"

namespace kingpair {

constexpr int TABLE_MEN_MAX = 4;   // men besides the kings that a table covers: fewer than kernels can solve
constexpr int PAWN = 4, KING = 5;  // after queen, rook, bishop and knight, as `Kind` numbers them
constexpr int WHITE = 0, BLACK = 1;

struct StandingMan {
    uint8_t letter;
    uint8_t square;
    auto operator<=>(const StandingMan&) const = default;
};

struct FewMen {
    int king[2] = {-1, -1};  // white, black
    int count[2] = {0, 0};
    StandingMan men[2][TABLE_MEN_MAX];
    uint64_t occupied = 0;

    // False if there is a second king, or no room for another man.
    bool place(int colour, int letter, int square);

    bool holds(int colour, int letter, int square) const;
    // By the men of the other colour; whether the kings touch is asked apart.
    bool in_check(int colour) const;
    bool kings_touch() const;

    // The position after a pawn's capture en passant on `target`.
    FewMen after_en_passant(int colour, int from, int target) const;

    // Whether the colour has a legal move that is no capture en passant.
    bool can_move(int colour) const;

  private:
    void move(int colour, int man, int to);
    void remove(int colour, int square);
    bool is_legal(int colour, int man, int to) const;
    bool man_can_move(int colour, int man) const;
    bool pawn_can_move(int colour, int man) const;
};

// The ranks by which a pawn's step raises its square.
constexpr int forward(int colour) { return colour == WHITE ? 8 : -8; }

}  // namespace kingpair
