// The rows of a dense block: which lanes hold a position, and the class of each.

#pragma once

#include <algorithm>
#include <array>

#include "dense.hpp"

namespace kingpair::dense {

struct Row {
    uint64_t held = 0;
    int bits = 0;
    uint64_t bit[2 * verify::MEN_MAX + 1];  // of the class, lane by lane

    // The first eight bits of eight lanes are transposed together.
    void classes(uint16_t (&of)[64]) const {
        for (int first = 0; first < 64; first += 8) {
            uint64_t square = 0;
            for (int i = 0; i < std::min(bits, 8); ++i) square |= (bit[i] >> first & 255) << 8 * i;
            square = transposed(square);
            for (int lane = 0; lane < 8; ++lane) of[first + lane] = square >> 8 * lane & 255;
        }
        for (int i = 8; i < bits; ++i)
            for (int lane = 0; lane < 64; ++lane) of[lane] |= static_cast<uint16_t>((bit[i] >> lane & 1) << i);
    }

    // Eight rows of eight bits as columns.
    static uint64_t transposed(uint64_t x) {
        const auto swap = [&](int shift, uint64_t mask) {
            const uint64_t differs = (x ^ x >> shift) & mask;
            x ^= differs ^ differs << shift;
        };
        swap(7, 0x00AA00AA00AA00AA);
        swap(14, 0x0000CCCC0000CCCC);
        swap(28, 0x00000000F0F0F0F0);
        return x;
    }
};

// Of each square two earlier ones that it is compared with, or -1 twice. Bishops are compared with squares of the same
// colour.
using Earlier = std::array<std::array<int, 2>, 64>;

const Earlier& earlier(bool is_bishop);

// The squares that a man attacks, and those that a king does.
uint64_t reach_of(verify::Kind, int square, uint64_t occupied);
uint64_t king_reach(int square);

// A block on the board; makes its rows one by one.
class Rows {
  public:
    Rows(const Geometry&, size_t block);
    Row row(int square) const;

  private:
    struct Placed;
    uint64_t own(const Placed&) const;
    uint64_t on_diagonal(const Placed&, uint64_t lanes) const;

    const Geometry& geometry_;
    verify::Slots slots_;
    int king_[2];
    bool diagonal_;
    uint8_t outer_[verify::MEN_MAX];
};

}  // namespace kingpair::dense
