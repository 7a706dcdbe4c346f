// The keys of the positions of a setup that moves lead to, a strip at a time.

#pragma once

#include "pawn_positions.hpp"

namespace kingpair::verify {
namespace {

// The keys of moves that all lead to the same squares: pushes, captures, or the promotions of one pawn.
template <class Key>
class Entered {
  public:
    Entered(const Setup& after, const Location* into, int count, int to_move, Rule rule, int lane_axis)
        : after_(after), to_move_(to_move), rule_(rule), strips_(after, lane_axis, to_move) {
        for (int i = 0; i < count; ++i) readers_.emplace_back(into[i]);
    }

    // The best keys in a strip; 0 where a position is not legal.
    Strip<Key> strip(const uint8_t* squares) {
        const Placed& p = strips_.place(squares);
        const uint64_t here = strips_.legal();
        if (!here) return Strip<Key>{};
        if (readers_.size() == 1) return keys_of<Key>(readers_[0].strip(p, here), rule_) & lanes<Key>(here);
        return best_of_all(p, here);
    }

    // The best key of one position, whose squares are given for all axes.
    Key one(const uint8_t* squares) const {
        const Placed p(after_, squares, NO_LANE);
        if (!legal(board_, after_, p, to_move_)) return 0;
        Key best = 0;
        for (const auto& reader : readers_) best = std::max(best, key_of<Key>(reader.value(p.of), rule_));
        return best;
    }

  private:
    // Of several promotions the first one mostly wins at once: no key is larger.
    Strip<Key> best_of_all(const Placed& p, uint64_t here) const {
        Strip<Key> best{};
        for (const auto& reader : readers_) {
            best = larger(best, keys_of<Key>(reader.strip(p, here), rule_) & lanes<Key>(here));
            here &= ~bits_of(equal<Key>(best, LARGEST));
            if (!here) break;
        }
        return best;
    }

    static constexpr Key LARGEST = static_cast<Key>(~Key{0});

    const Setup& after_;
    int to_move_;
    Rule rule_;
    Strips strips_;
    std::vector<Reader<Key>> readers_;
    const Board& board_ = board();
};

// The keys of moves after which the man of the lane is taken, or stands on a square that is given: one in each strip.
// Of a plane they are found together: by the square of the near man, or if he is taken by that of the man of the lane.
template <class Key>
class KeysOfPlane {
  public:
    KeysOfPlane(const Setup& after, const Location* into, int count, int to_move, Rule rule, int lane_axis)
        : lane_axis_(lane_axis), along_(axis_along(after)), entered_(after, into, count, to_move, rule, along_) {}

    // The key of a strip, given where the man of the lane stands if he is still there.
    Key key(const uint8_t* squares, uint8_t lane) {
        uint8_t placed[AXES_MAX];
        std::copy_n(squares, lane_axis_, placed);
        placed[lane_axis_] = lane;
        if (along_ == NO_AXIS) return entered_.one(placed);
        const size_t plane = plane_of(squares, lane_axis_) << 6 | (along_ == lane_axis_ ? 0 : lane);
        if (plane != plane_) store<Key>(keys_, entered_.strip(placed));
        plane_ = plane;
        return keys_[placed[along_]];
    }

  private:
    int axis_along(const Setup& after) const {
        const int near = lane_axis_ - 1;
        if (near < 2) return NO_AXIS;
        return after.man_on(near) != NO_LANE ? near : lane_axis_;
    }

    int lane_axis_, along_;
    Entered<Key> entered_;
    size_t plane_ = ~size_t{0};
    Key keys_[64] = {};
};

}  // namespace
}  // namespace kingpair::verify
