// Which slot of a table holds a position.
//
//     slot = partition * 64^m + squares of the men, the last man least significant
//
// The board is turned so that the kings stand as their partition names them, and like men stand in ascending order. If
// both kings are on the long diagonal the smaller slot of the position and its mirror image is taken. The slot that is
// chosen is *canonical*: each distinct position has one.

#pragma once

#include <array>

#include "kernels.hpp"

namespace kingpair {

constexpr int TURNED_PAIRS = 462;  // pairs of kings up to the eight symmetries

// Where each ordered pair of kings is kept: [stronger][weaker] -> partition (-1: they touch) and symmetry.
struct Placements {
    int16_t pair[64][64];
    uint8_t symmetry[64][64];
    bool diagonal[TURNED_PAIRS];
};

inline int turned(int symmetry, int square) {
    int f = square & 7, r = square >> 3;
    if (symmetry & 1) f = 7 - f;
    if (symmetry & 2) r = 7 - r;
    return symmetry & 4 ? 8 * f + r : 8 * r + f;
}

// like[i]: man i + 1 is like man i.
struct LikeMen {
    int men;
    bool like[MEN_AXES_MAX];
};

LikeMen like_men(const Domain&);

// The squares of the men by axis; those beyond the last man are 0.
using AxisSquares = std::array<uint8_t, MEN_AXES_MAX>;

// The canonical slot inside a partition.
size_t canonical_slot(const LikeMen&, bool diagonal, const AxisSquares&);

// Writes `words` words with a bit for each slot: set if the slot is canonical.
void canonical_mask(const LikeMen&, bool diagonal, size_t words, uint64_t* out);

// Copies into every slot of `wanted` the bit of its canonical slot.
void spread(const LikeMen&, bool diagonal, const uint64_t* wanted, uint64_t* set);

// The same for values.
template <class T>
void spread_values(const LikeMen&, bool diagonal, const uint64_t* wanted, T* column);

// out(x) = in(x turned, its men in another order): `axis[i]` is the place in `in` of man i of `out`.
void reframe(int men, int symmetry, const uint8_t* axis, const uint64_t* in, uint64_t* out);

template <class T>
void reframe_values(int men, int symmetry, const uint8_t* axis, const T* in, T* out);

}  // namespace kingpair
