// Which positions of a strip are legal, and the best that a move of its side leads to.

#pragma once

#include "strips.hpp"
#include "verify.hpp"

namespace kingpair::verify {
namespace {

constexpr uint64_t bit(int square) { return uint64_t{1} << square; }

template <class Key>
constexpr Key DRAW = static_cast<Key>(Key{1} << (8 * sizeof(Key) - 1));

// The men of a strip: all in place but the last.
struct Placing {
    uint8_t square[MEN_MAX];
    uint64_t occupied;  // by kings and placed men
    bool apart;         // no two on a square

    Placing(const Men& men, uint64_t kings, size_t strip) : square{}, occupied(kings), apart(true) {
        for (int i = men.outer(); i-- > 0; strip >>= 6) {
            square[i] = strip & 63;
            apart &= !(occupied >> square[i] & 1);
            occupied |= bit(square[i]);
        }
    }
};

// The squares of the last man for which a king is attacked by the men of a side.
uint64_t attacked(const Board& b, const Men& men, const Placing& p, int king, int by) {
    uint64_t attacked = 0;
    for (int i = 0; i < men.outer(); ++i) {
        if (men.man[i].side != by || !(b.reach[static_cast<int>(men.man[i].kind)][king] >> p.square[i] & 1)) continue;
        const uint64_t between = b.between[king][p.square[i]];
        if (!(between & p.occupied)) attacked |= ~between;
    }
    const Man last = men.man[men.outer()];
    if (last.side != by) return attacked;
    uint64_t from = b.reach[static_cast<int>(last.kind)][king];
    if (last.kind != Kind::knight)
        for (uint64_t rest = p.occupied & from; rest; rest &= rest - 1) from &= ~b.behind[king][__builtin_ctzll(rest)];
    return attacked | from;
}

// A partition as one side to move finds it.
struct Partition {
    const Board& board;
    const Men& men;
    int king[2];
    uint64_t kings;

    Partition(const Men& m, int pair)
        : board(verify::board()), men(m), king{verify::kings().square[0][pair], verify::kings().square[1][pair]},
          kings(bit(king[0]) | bit(king[1])) {}

    Placing placing(size_t strip) const { return {men, kings, strip}; }

    uint64_t legal(const Placing& p, int to_move) const {
        return p.apart ? ~p.occupied & ~attacked(board, men, p, king[1 - to_move], to_move) : 0;
    }
};

// ---- forward moves ---------------------------------------------------------------------------------------------------

template <class Key>
struct KingStep {
    int to;
    int pair;
    int symmetry;  // 0: the board stays as it is
    const Key* quiet;
};

template <class Key>
class Moves {
  public:
    Moves(const Partition& partition, int pair, int mover, const Key* quiet, const int16_t* place,
          const Key* const* taken)
        : at_(partition), pair_(pair), mover_(mover), taken_(taken), quiet_(quiet) {
        const Kings& kings = verify::kings();
        const size_t slots = partition.men.slots();
        if (place[pair] >= 0) quiet_ = quiet + static_cast<size_t>(place[pair]) * slots;
        const int still = partition.king[1 - mover];
        for (int d = 0; d < 8; ++d) {
            const Ray& ray = partition.board.ray[d][partition.king[mover]];
            if (!ray.length) continue;
            const int to = ray.square[0];
            const int first = mover == 0 ? to : still, second = mover == 0 ? still : to;
            const int entered = kings.pair[first][second];
            if (entered < 0) continue;
            const int symmetry = kings.symmetry[first][second];
            step_[steps_++] = {to, entered, symmetry, quiet + static_cast<size_t>(place[entered]) * slots};
        }
    }

    // The best key of each position of a strip; 0 where there is no move.
    Strip<Key> best(size_t strip, const Placing& p) const {
        Strip<Key> best{};
        for (int i = 0; i < at_.men.outer(); ++i)
            if (at_.men.man[i].side == mover_) best = larger(best, by_man(i, strip, p));
        if (last().side == mover_) best = larger(best, by_last(strip, p));
        for (int i = 0; i < steps_; ++i) best = larger(best, by_king(step_[i], p));
        return best;
    }

  private:
    Man last() const { return at_.men.man[at_.men.outer()]; }
    int last_index() const { return at_.men.outer(); }
    bool last_is_captive() const { return last().side != mover_; }
    int place_of(int man) const { return 6 * (at_.men.outer() - 1 - man); }  // of its square in the number of a strip

    int man_on(int square, const Placing& p) const {
        for (int i = 0; i < at_.men.outer(); ++i)
            if (p.square[i] == square) return i;
        return -1;
    }
    bool is_captive(int man) const { return man >= 0 && at_.men.man[man].side != mover_; }

    // The number of the strip with these squares but without one man.
    size_t strip_without(int man, const Placing& p) const {
        size_t strip = 0;
        for (int i = 0; i < at_.men.outer(); ++i)
            if (i != man) strip = strip << 6 | p.square[i];
        return strip;
    }

    const Key* without(int man, int pair) const {
        return taken_[man] + static_cast<size_t>(pair) * (at_.men.slots() / 64);
    }

    Strip<Key> by_man(int man, size_t strip, const Placing& p) const {
        const int shift = place_of(man), kind = static_cast<int>(at_.men.man[man].kind);
        const size_t others = strip & ~(size_t{63} << shift);
        const Key* captures = last_is_captive() ? without(last_index(), pair_) : nullptr;
        Strip<Key> best{};
        for (int d = DIRECTIONS[kind].first; d < DIRECTIONS[kind].last; ++d) {
            const Ray& ray = at_.board.ray[d][p.square[man]];
            Strip<Key> open = ~Strip<Key>{};  // the last man is not in the way
            for (int i = 0; i < ray.length; ++i) {
                const int to = ray.square[i];
                if (p.occupied >> to & 1) {
                    best = larger(best, captured(man, to, pair_, p) & open);
                    break;
                }
                const size_t entered = others | static_cast<size_t>(to) << shift;
                best = larger(best, load<Key>(quiet_ + 64 * entered) & open);
                const Strip<Key> here = only<Key>(to);
                if (captures) best = larger(best, all<Key>(captures[entered]) & here);
                open = open & ~here;
            }
        }
        return best;
    }

    // What a man gets by taking whoever of the placed men stands there.
    Strip<Key> captured(int man, int to, int pair, const Placing& p) const {
        const int captive = man_on(to, p);
        if (!is_captive(captive)) return Strip<Key>{};
        Placing after = p;
        after.square[man] = static_cast<uint8_t>(to);
        return load<Key>(without(captive, pair) + 64 * strip_without(captive, after));
    }

    Strip<Key> by_last(size_t strip, const Placing& p) const {
        Worths<Key> worths;
        std::memset(worths.board, 0, sizeof worths.board);
        Key* at = worths.board + 16;
        std::memcpy(at, quiet_ + 64 * strip, 64 * sizeof(Key));
        for (int i = 0; i < at_.men.outer(); ++i)
            if (is_captive(i)) at[p.square[i]] = without(i, pair_)[64 * strip_without(i, p) + p.square[i]];
        if (last().kind == Kind::knight) return by_knight(worths);
        store<Key>(worths.open, lanes<Key>(~p.occupied));
        return by_slider(last().kind, worths);
    }

    Strip<Key> by_king(const KingStep<Key>& step, const Placing& p) const {
        const int captive = p.occupied >> step.to & 1 ? man_on(step.to, p) : -1;
        if (captive >= 0 && !is_captive(captive)) return Strip<Key>{};
        Placing after = p;
        if (step.symmetry)
            for (int i = 0; i < at_.men.outer(); ++i) after.square[i] = at_.board.turned[step.symmetry][p.square[i]];
        const size_t strip = strip_without(captive, after);
        const Key* from = (captive >= 0 ? without(captive, step.pair) : step.quiet) + 64 * strip;
        const Strip<Key> keys = step.symmetry ? turned(step.symmetry, from) : load<Key>(from);
        if (captive >= 0 || !last_is_captive()) return keys;
        const Key capture = without(last_index(), step.pair)[strip];
        return larger(keys, all<Key>(capture) & only<Key>(step.to));
    }

    const Partition& at_;
    int pair_, mover_;
    const Key* const* taken_;
    const Key* quiet_;
    KingStep<Key> step_[8];
    int steps_ = 0;
};

}  // namespace
}  // namespace kingpair::verify
