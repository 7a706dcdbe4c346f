// Captures: their keys, and the slots in which these are stored.
//
// A slot in which two men stand on one square holds no position. It stores the key after one has taken the other. So a
// capture is read in the slot that the captor moves to, like any other move.

#pragma once

#include "forward.hpp"

namespace kingpair::verify {
namespace {

// The strips of a partition of a smaller table, turned into the frame of the larger material.
template <class Key, class Value>
class Left {
  public:
    Left(const Smaller& smaller, const Partition& partition, const Value* column) : smaller_(smaller) {
        const Kings& kings = verify::kings();
        const int first = partition.king[smaller.swapped], second = partition.king[!smaller.swapped];
        const int place = kings.pair[first][second];
        symmetry_ = kings.symmetry[first][second];
        turn_ = partition.board.turned[symmetry_];
        values_ = column + static_cast<size_t>(place) * smaller.theirs.slots();
        const Standing& standing = smaller.standing[kings.diagonal[place]];
        if (!standing.slot.empty()) standing_ = standing.slot.data();
    }

    Strip<Key> strip(const Placing& p) const {
        const int last = smaller_.ours.outer();
        size_t others = 0;  // their slot but for the last of ours
        for (int i = 0; i < last; ++i) others |= size_t{turn_[p.square[i]]} << smaller_.shift[i];
        if (!standing_ && smaller_.shift[last] == 0)
            return turned(symmetry_, reinterpret_cast<const Key*>(values_ + others));
        Value gathered[64];
        for (int s = 0; s < 64; ++s) {
            const size_t slot = others | size_t{turn_[s]} << smaller_.shift[last];
            gathered[s] = values_[standing_ ? standing_[slot] : slot];
        }
        return load<Key>(gathered);
    }

  private:
    const Smaller& smaller_;
    int symmetry_;
    const uint8_t* turn_;
    const Value* values_;
    const uint32_t* standing_ = nullptr;  // the slot that stands for each, if not all stand for themselves
};

// Writes the keys after captures of one man. Where a capture ends the phase only the winner counts, not the depth.
template <class Key, class Value>
void taken(const Smaller& smaller, int pair, int to_move, bool carry_depth, const Value* column, Key* out) {
    const Partition partition(smaller.ours, pair);
    const Left<Key, Value> left(smaller, partition, column);
    for (size_t strip = 0; strip < smaller.ours.strips(); ++strip, out += 64) {
        const Placing placing = partition.placing(strip);
        const uint64_t legal = partition.legal(placing, to_move);
        store<Key>(out,
                   legal ? keys_of<Key>(left.strip(placing), carry_depth ? 1 : 0) & lanes<Key>(legal) : Strip<Key>{});
    }
}

// The captures of one side in a partition. `taken[i]` holds the keys of all partitions without man i.
template <class Key>
class Captures {
  public:
    Captures(const Partition& partition, int pair, int captor, const Key* const* taken)
        : at_(partition), captor_(captor) {
        const size_t slots = partition.men.slots() / 64;
        for (int i = 0; taken && i < partition.men.count; ++i)
            if (is_captive(i)) left_[i] = taken[i] + static_cast<size_t>(pair) * slots;
    }

    // Puts the keys after captures into the slots of a strip in which a captor meets his captive.
    void enter(size_t strip, const Placing& p, Key* here) const {
        const uint64_t captors = of_captors(p);
        const int last = at_.men.outer();
        if (p.apart && is_captive(last)) {
            for (uint64_t rest = captors; rest; rest &= rest - 1) here[__builtin_ctzll(rest)] = left_[last][strip];
            return;
        }
        for (int i = 0; i < last; ++i) {
            if (!is_captive(i)) continue;
            if (p.apart) here[p.square[i]] = without(i, p)[p.square[i]];
            else if (captors >> p.square[i] & 1) store<Key>(here, load<Key>(without(i, p)));
        }
    }

  private:
    bool is_captive(int man) const { return at_.men.man[man].side != captor_; }

    uint64_t of_captors(const Placing& p) const {
        uint64_t squares = bit(at_.king[captor_]);
        for (int i = 0; i < at_.men.outer(); ++i)
            if (!is_captive(i)) squares |= bit(p.square[i]);
        return squares;
    }

    // The strip with these squares but without one man.
    const Key* without(int man, const Placing& p) const {
        size_t strip = 0;
        for (int i = 0; i < at_.men.outer(); ++i)
            if (i != man) strip = strip << 6 | p.square[i];
        return left_[man] + 64 * strip;
    }

    const Partition& at_;
    int captor_;
    const Key* left_[MEN_MAX] = {};
};

}  // namespace
}  // namespace kingpair::verify
