// Which slot of a table holds a position.
//
//     slot = partition * 64^m + squares of the men, the last man least significant
//
// The board is turned so that the kings stand as their partition names them; like men stand in ascending order; and
// where both kings are on the long diagonal, of the position and its mirror image the smaller slot counts. The slot
// chosen so is *canonical*: one for each distinct position.

#pragma once

#include <string_view>

#include "kernels.hpp"

namespace kingpair {

// Where each ordered pair of kings is kept: [stronger][weaker] -> partition (-1: they touch) and symmetry.
struct Placements {
    int16_t pair[64][64];
    uint8_t symmetry[64][64];
    bool diagonal[PAIRS_MAX];
};

int turned(int symmetry, int square);

// like[i]: man i + 1 is like man i.
struct LikeMen {
    int men;
    bool like[MEN_AXES_MAX];
};

LikeMen like_men(const Domain&);

// The canonical slot inside a partition.
size_t canonical_slot(const LikeMen&, bool diagonal, const uint8_t* squares);

// Bit by slot: whether it is canonical; `words` words.
void canonical_mask(const LikeMen&, bool diagonal, size_t words, uint64_t* out);

// Give every slot of `wanted` what its canonical slot has.
void spread(const LikeMen&, bool diagonal, const uint64_t* wanted, uint64_t* set);

// The same for values.
template <class T>
void spread_values(const LikeMen&, bool diagonal, const uint64_t* wanted, T* column);

// out(x) = in(x turned, its men in another order): `axis[i]` is the place in `in` of man i of `out`.
void reframe(int men, int symmetry, const uint8_t* axis, const uint64_t* in, uint64_t* out);

enum class Reading : uint8_t { good = 0, look_closer = 1 };

struct Read {
    Reading status;
    uint8_t weaker_to_move;
    uint32_t material;  // four bits each: Q R B N of the stronger side, Q R B N of the weaker
    int64_t slot;
};

template <class T>
void reframe_values(int men, int symmetry, const uint8_t* axis, const T* in, T* out);

// A FEN without pawns and castling, at most `MEN_AXES_MAX` men besides the kings, legal: anything else is for a
// reader that can explain (`look_closer`).
Read read_fen(const Placements&, std::string_view fen);

}  // namespace kingpair
