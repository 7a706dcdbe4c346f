// Keys: values as the moves that lead to them compare (verify.hpp).

#pragma once

#include "strips.hpp"
#include "verify.hpp"

namespace kingpair::verify {
namespace {

constexpr uint64_t bit(int square) { return uint64_t{1} << square; }

template <class Key>
constexpr Key DRAW = static_cast<Key>(Key{1} << (8 * sizeof(Key) - 1));

// The keys of values. A successor that the other side wins is so much deeper for the side that moved there: 1 where
// distances count moves, 2 where they count plies, 0 after a capture that carries no depth.
template <class Key>
Strip<Key> keys_of(const Strip<Key>& values, int by) {
    const Key deeper = static_cast<Key>(-by);
    return each(
        [deeper](auto v) {
            const auto value = reinterpret_cast<SignedRegister<Key>>(v);
            const auto won = reinterpret_cast<Register<Key>>(value > 0),
                       drawn = reinterpret_cast<Register<Key>>(value == 0);
            return (v - (won & deeper)) | (drawn & DRAW<Key>);
        },
        values);
}

// The values that follow from the best keys. Mates are entered later.
template <class Key>
Strip<Key> values_of(const Strip<Key>& best) {
    return each(
        [](auto key) {
            const auto drawn = reinterpret_cast<Register<Key>>(key == DRAW<Key>);
            return -key & ~drawn;
        },
        best);
}

}  // namespace
}  // namespace kingpair::verify
