// Men as Syzygy files write them, and the lines along which they see.

#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>

namespace kingpair::syzygy {

constexpr int BLACK_MAN = 8;
enum Piece : uint8_t { PAWN = 1, KNIGHT, BISHOP, ROOK, QUEEN, KING };

inline int colour_of(uint8_t man) { return man >= BLACK_MAN; }
inline int piece_of(uint8_t man) { return man & 7; }
inline bool is_last_rank(int square) { return square >> 3 == 0 || square >> 3 == 7; }
constexpr uint64_t bit(int square) { return uint64_t{1} << square; }

// What men see from a square on an empty board, pawns apart, and what hides it.
struct Lines {
    std::array<std::array<uint64_t, 64>, 64> between{};
    std::array<std::array<uint64_t, 64>, 64> behind{};  // the squares that a man on the second one hides
    std::array<std::array<uint8_t, 64>, 64> seen{};     // a bit for each piece
    std::array<std::array<uint64_t, 64>, KING + 1> reach{};

    Lines() {
        for (int from = 0; from < 64; ++from)
            for (int to = 0; to < 64; ++to)
                if (from != to) add(from, to);
    }

    // The squares that a piece sees, with men on the board.
    uint64_t reach_of(int piece, int from, uint64_t occupied) const {
        uint64_t found = reach[piece][from];
        if (piece == KNIGHT || piece == KING) return found;
        for (uint64_t rest = occupied & found; rest; rest &= rest - 1) found &= ~behind[from][__builtin_ctzll(rest)];
        return found;
    }

  private:
    static int sign(int x) { return (x > 0) - (x < 0); }

    void add(int from, int to) {
        const int files = (to & 7) - (from & 7), ranks = (to >> 3) - (from >> 3);
        const int wide = std::abs(files), high = std::abs(ranks);
        uint8_t pieces = 0;
        if (wide <= 1 && high <= 1) pieces |= 1 << KING;
        if (wide * high == 2) pieces |= 1 << KNIGHT;
        const bool straight = wide == 0 || high == 0, slanted = wide == high;
        if (straight) pieces |= 1 << ROOK | 1 << QUEEN;
        if (slanted) pieces |= 1 << BISHOP | 1 << QUEEN;
        seen[from][to] = pieces;
        for (int piece = KNIGHT; piece <= KING; ++piece)
            if (pieces >> piece & 1) reach[piece][from] |= bit(to);
        if (!straight && !slanted) return;
        const int step = sign(files) + 8 * sign(ranks);
        for (int square = from + step; square != to; square += step) {
            between[from][to] |= bit(square);
            behind[from][square] |= bit(to);
        }
    }
};

inline const Lines& lines() {
    static const Lines tables;
    return tables;
}

// The squares that a pawn attacks.
inline uint64_t pawn_attacks(int colour, int from) {
    constexpr uint64_t A_FILE = 0x0101010101010101, H_FILE = A_FILE << 7;
    const uint64_t ahead = colour ? bit(from) >> 8 : bit(from) << 8;
    return (ahead & ~A_FILE) >> 1 | (ahead & ~H_FILE) << 1;
}

}  // namespace kingpair::syzygy
