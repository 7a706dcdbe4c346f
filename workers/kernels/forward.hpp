// The legal positions of a strip, and the best key that a move of the side to move leads to.

#pragma once

#include "keys.hpp"
#include "strips.hpp"
#include "verify.hpp"

namespace kingpair::verify {
namespace {

// The men of a strip, all in place but the last; or those of a plane, without the last two.
struct Placing {
    uint8_t square[MEN_MAX];
    uint64_t occupied;  // by kings and placed men
    bool apart;         // no two on a square

    Placing(int men, uint64_t kings, size_t squares) : square{}, occupied(kings), apart(true) {
        for (int i = men; i-- > 0; squares >>= 6) {
            square[i] = squares & 63;
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

// A partition: where its kings stand, and the men with them.
struct Partition {
    const Board& board;
    const Men& men;
    int king[2];
    uint64_t kings;

    Partition(const Men& m, int pair)
        : board(verify::board()),
          men(m),
          king{verify::kings().square[0][pair], verify::kings().square[1][pair]},
          kings(bit(king[0]) | bit(king[1])) {}

    Placing placing(size_t strip) const { return {men.outer(), kings, strip}; }
    Placing placing_of_plane(size_t plane) const { return {men.outer() - 1, kings, plane}; }

    uint64_t legal(const Placing& p, int to_move) const {
        return p.apart ? ~p.occupied & ~attacked(board, men, p, king[1 - to_move], to_move) : 0;
    }
};

// ---- forward moves ----

// The successors of positions with one side to move. A capture is read like any other move: the slot in which captor
// and captive meet holds the key after the capture (captures.hpp). It holds 0 where a man meets one of his own side, or
// the other king.
//
// Strips are judged plane by plane. In the 64 strips of a plane the man before the last stands on each square, and the
// other men stay in place. A move of one of the others leads from the whole plane into one other plane.
template <class Key>
class Moves {
  public:
    // `quiet` holds the keys of partition p from place[p] on.
    Moves(const Partition& partition, int pair, int mover, const Key* quiet, const int16_t* place)
        : at_(partition), mover_(mover), here_(quiet + static_cast<size_t>(place[pair]) * partition.men.slots()) {
        const Kings& kings = verify::kings();
        const int still = partition.king[1 - mover];
        for (int d = 0; d < 8; ++d) {
            const Ray& ray = partition.board.ray[d][partition.king[mover]];
            if (!ray.length) continue;
            const int to = ray.square[0];
            const int first = mover == 0 ? to : still, second = mover == 0 ? still : to;
            const int next = kings.pair[first][second];
            if (next < 0) continue;
            const Key* entered = quiet + static_cast<size_t>(place[next]) * partition.men.slots();
            step_[steps_++] = {entered, kings.symmetry[first][second]};
        }
    }

    // Prepares the moves that all strips of a plane share.
    void begin(size_t plane) {
        const Placing p = at_.placing_of_plane(plane);
        const size_t strip = 64 * plane;
        leaps_ = slides_ = turns_ = 0;
        for (int man = 0; man < man_of_plane(); ++man) {
            if (!moves(man)) continue;
            if (kind(man) == Kind::knight) leaps(man, strip, p, [&](const Key* entered) { leap_[leaps_++] = entered; });
            else slides(man, strip, p, [&](const Slide& slide) { slide_[slides_++] = slide; });
        }
        for (int i = 0; i < steps_; ++i) {
            const uint8_t* turn = at_.board.turned[step_[i].symmetry];
            size_t there = 0;
            for (int man = 0; man < man_of_plane(); ++man) there = there << 6 | turn[p.square[man]];
            const Key* entered = step_[i].entered + 64 * 64 * there;
            if (step_[i].symmetry) turn_[turns_++] = {entered, step_[i].symmetry};
            else leap_[leaps_++] = entered;
        }
    }

    // The best key of each position of a strip of the plane; 0 where there is no move.
    Strip<Key> best(size_t strip, const Placing& p) const {
        const size_t square = strip & 63;
        Strip<Key> best{};
        const auto leap = [&](const Key* entered) { best = larger(best, load<Key>(entered)); };
        const auto slide = [&](const Slide& s) { best = larger(best, load<Key>(s.entered) & s.open); };
        for (int i = 0; i < leaps_; ++i) leap(leap_[i] + 64 * square);
        for (int i = 0; i < slides_; ++i)
            if (!(slide_[i].passed >> square & 1)) slide({slide_[i].entered + 64 * square, 0, slide_[i].open});
        for (int i = 0; i < turns_; ++i) {
            const auto [entered, symmetry] = turn_[i];
            const size_t there = man_of_plane() < 0 ? 0 : at_.board.turned[symmetry][square];
            best = larger(best, turned(symmetry, entered + 64 * there));
        }
        if (const int man = man_of_plane(); man >= 0 && moves(man)) {
            if (kind(man) == Kind::knight) leaps(man, strip, p, leap);
            else slides(man, strip, p, slide);
        }
        return moves(at_.men.outer()) ? larger(best, by_last(strip, p)) : best;
    }

  private:
    // A king's move, into a partition or a plane of it that shows the board turned.
    struct Turn {
        const Key* entered;
        int symmetry;
    };

    struct Slide {
        const Key* entered;
        uint64_t passed;  // squares on which the man of the plane is in the way
        Strip<Key> open;  // squares on which the last man is not
    };

    int man_of_plane() const { return at_.men.outer() - 1; }
    bool moves(int man) const { return at_.men.man[man].side == mover_; }
    Kind kind(int man) const { return at_.men.man[man].kind; }

    // The strip with a man on another square.
    const Key* entered(int man, size_t strip, int to) const {
        const int shift = 6 * (at_.men.outer() - 1 - man);
        return here_ + 64 * ((strip & ~(size_t{63} << shift)) | static_cast<size_t>(to) << shift);
    }

    template <class Function>
    void leaps(int man, size_t strip, const Placing& p, Function f) const {
        for (uint64_t rest = at_.board.reach[static_cast<int>(Kind::knight)][p.square[man]]; rest; rest &= rest - 1)
            f(entered(man, strip, __builtin_ctzll(rest)));
    }

    template <class Function>
    void slides(int man, size_t strip, const Placing& p, Function f) const {
        const auto [first, last] = DIRECTIONS[static_cast<int>(kind(man))];
        for (int d = first; d < last; ++d) {
            const Ray& ray = at_.board.ray[d][p.square[man]];
            Slide slide{nullptr, 0, ~Strip<Key>{}};
            for (int i = 0; i < ray.length; ++i) {
                const int to = ray.square[i];
                slide.entered = entered(man, strip, to);
                f(slide);
                if (p.occupied >> to & 1) break;
                slide.passed |= bit(to);
                slide.open = slide.open & ~only<Key>(to);
            }
        }
    }

    Strip<Key> by_last(size_t strip, const Placing& p) const {
        const Kind kind = this->kind(at_.men.outer());
        const Strip<Key> here = load<Key>(here_ + 64 * strip);
        return kind == Kind::knight ? by_knight(here) : by_slider(kind, here, lanes<Key>(~p.occupied));
    }

    const Partition& at_;
    int mover_;
    const Key* here_;
    int steps_ = 0;
    Turn step_[8];
    // Of a plane.
    int leaps_ = 0, slides_ = 0, turns_ = 0;
    const Key* leap_[8 * MEN_MAX];
    Slide slide_[28 * MEN_MAX];
    Turn turn_[8];
};

}  // namespace
}  // namespace kingpair::verify
