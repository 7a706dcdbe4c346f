// Keys of moves in a material with pawns, by the rule that counts them (verify_pawns.hpp).

#pragma once

#include "keys.hpp"
#include "verify_pawns.hpp"

namespace kingpair::verify {
namespace {

constexpr int CLOCK_LIMIT = 100;

// The keys of values after a move that sets the clock to zero: wins in 1 or 101, loses in 1 or 101.
template <class Key>
Strip<Key> zeroing_keys_of(const Strip<Key>& values) {
    using Value = std::make_signed_t<Key>;
    constexpr Value LONGEST = CLOCK_LIMIT;
    return each(
        [](auto v) {
            const auto value = reinterpret_cast<SignedRegister<Key>>(v);
            const auto won = reinterpret_cast<Register<Key>>(value > 0),
                       lost = reinterpret_cast<Register<Key>>(value < 0),
                       drawn = reinterpret_cast<Register<Key>>(value == 0),
                       late = reinterpret_cast<Register<Key>>(value > LONGEST) |
                              reinterpret_cast<Register<Key>>(value < static_cast<Value>(-LONGEST - 1));
            const auto in_two = won & Key{2}, limit = late & Key{LONGEST};
            return (in_two + (won & limit)) | ((lost - (lost & limit)) & lost) | (drawn & DRAW<Key>);
        },
        values);
}

template <class Key>
Strip<Key> keys_of(const Strip<Key>& values, Rule rule) {
    if (rule == Rule::zeroing) return zeroing_keys_of<Key>(values);
    return keys_of<Key>(values, rule == Rule::plies ? 2 : rule == Rule::moves ? 1 : 0);
}

template <class Key>
Key key_of(int value, Rule rule) {
    if (value == 0) return DRAW<Key>;
    const bool is_late = value > CLOCK_LIMIT || value < -CLOCK_LIMIT - 1;
    if (rule == Rule::zeroing) value = (value > 0 ? 2 : -1) + (value > 0 ? 1 : -1) * (is_late ? CLOCK_LIMIT : 0);
    if (value > 0) value += rule == Rule::plies ? 2 : rule == Rule::moves ? 1 : 0;
    return static_cast<Key>(value);
}

// The best keys of the positions that moves with these keys lead to, as far as the keys tell.
template <class Key>
Strip<Key> best_that_gave(const Strip<Key>& keys, Rule rule) {
    const Key zeroing = rule == Rule::zeroing ? 1 : 0;
    return each(
        [zeroing](auto key) {
            const auto signed_key = reinterpret_cast<SignedRegister<Key>>(key);
            const auto won = reinterpret_cast<Register<Key>>(signed_key > 0),
                       lost = reinterpret_cast<Register<Key>>(signed_key < 0) &
                              ~reinterpret_cast<Register<Key>>(key == DRAW<Key>);
            return -(key + won) + (lost & zeroing);  // -DRAW is DRAW
        },
        keys);
}

}  // namespace
}  // namespace kingpair::verify
