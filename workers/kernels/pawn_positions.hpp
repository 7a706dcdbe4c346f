// The values of the positions of a setup, a strip at a time, where a table keeps them.

#pragma once

#include "pawn_keys.hpp"
#include "pawn_strips.hpp"

namespace kingpair::verify {
namespace {

// Reads the values of a setup's positions where a table keeps them.
template <class Key>
class Reader {
  public:
    using Value = std::make_signed_t<Key>;

    explicit Reader(const Location& location)
        : at_(location),
          count_(at_.table ? at_.table->men.count : 0),
          last_(count_ && !at_.table->index.like_men() ? at_.man[count_ - 1] : NO_LANE) {}

    Value value(const uint8_t* squares) const {
        if (!at_.table) return 0;
        const Frame frame = frame_of(squares[0], squares[1]);
        uint8_t turned[MEN_MAX];
        for (int i = 0; i < men().count; ++i) turned[i] = frame.turn[squares[at_.man[i]]];
        return frame.run[at_.table->index.of(turned, frame.diagonal)];
    }

    // The values of the lanes that are wanted; anything in others.
    Strip<Key> strip(const Placed& p, uint64_t wanted) const {
        if (!at_.table) return Strip<Key>{};
        if (p.lane < 2) return by_king(p, wanted);
        Frame frame = frame_of(p.of[0], p.of[1]);
        if (p.lane == last_ && !frame.diagonal) return in_order(p, frame);
        uint8_t turned[MEN_MAX] = {};
        const int lane = turn_men(p, frame, turned);
        KINGPAIR_INVARIANT(lane >= 0, "the man of the lane is not taken");
        if (frame.diagonal && !at_.table->index.like_men()) choose_image(p, frame, turned, lane);
        const bool before = like(lane - 1), behind = like(lane);
        if (frame.diagonal || (before && (behind || like(lane - 2))) || (behind && like(lane + 1)))
            return one_by_one(frame, turned, lane, wanted);
        if (before || behind) return of_two(frame, turned, lane, before ? lane - 1 : lane + 1, wanted);
        return of_one(frame, turned, lane, wanted);
    }

  private:
    struct Frame {
        const Value* run;
        const uint8_t* turn;
        int symmetry;
        bool diagonal;
    };

    const Men& men() const { return at_.table->men; }

    // Whether a man of the table and the next one are alike.
    bool like(int man) const {
        if (man < 0 || man + 1 >= men().count) return false;
        return men().man[man].kind == men().man[man + 1].kind && men().man[man].side == men().man[man + 1].side;
    }

    Frame frame_of(int stronger, int weaker) const {
        if (at_.swapped) std::swap(stronger, weaker);
        if (!at_.table->has_pawns()) {
            const int pair = kings_.pair[stronger][weaker], symmetry = kings_.symmetry[stronger][weaker];
            return frame(0, pair, symmetry, kings_.diagonal[pair]);
        }
        const int flip = at_.swapped ? 56 : 0, half = stronger >> 2 & 1;
        const int mirror = at_.mirrored[half], turn = flip ^ (mirror ? 7 : 0);
        return frame(half, fixed_.pair[stronger ^ turn][weaker ^ turn], mirror | at_.swapped << 1, false);
    }

    // The man of the lane is the last one in the table, and no men are alike: the values lie side by side.
    Strip<Key> in_order(const Placed& p, const Frame& frame) const {
        size_t strip = 0;
        for (int i = 0; i + 1 < count_; ++i) strip = strip << 6 | frame.turn[p.of[at_.man[i]]];
        return verify::turned(frame.symmetry, reinterpret_cast<const Key*>(frame.run + 64 * strip));
    }

    // Where the men but that of the lane stand in the table; which man that is.
    int turn_men(const Placed& p, const Frame& frame, uint8_t* turned) const {
        int lane = NO_LANE;
        for (int i = 0; i < men().count; ++i) {
            if (at_.man[i] == p.lane) lane = i;
            else turned[i] = frame.turn[p.of[at_.man[i]]];
        }
        return lane;
    }

    // With both kings on the diagonal the smaller of two images counts. The first man off the diagonal says which, if
    // he comes before the man of the lane.
    void choose_image(const Placed& p, Frame& frame, uint8_t* turned, int lane) const {
        for (int i = 0; i < lane && frame.diagonal; ++i) {
            const int image = turned[i] >> 3 | (turned[i] & 7) << 3;
            if (turned[i] == image) continue;
            frame.diagonal = false;
            if (turned[i] < image) return;
            frame.symmetry ^= TRANSPOSED;
            frame.turn = board_.turned[frame.symmetry];
            turn_men(p, frame, turned);
        }
    }

    Frame frame(int half, int pair, int symmetry, bool diagonal) const {
        const Value* values = static_cast<const Value*>(at_.values[half]);
        const auto run = static_cast<size_t>(at_.place ? at_.place[pair] : pair);
        return {values + run * at_.table->slots(), board_.turned[symmetry], symmetry, diagonal};
    }

    // Pawns fix the board, so all but the king of the lane is the same in each half of the board.
    Strip<Key> by_fixed_king(const Placed& p, uint64_t wanted) const {
        const bool lane_is_stronger = (p.lane == 0) != at_.swapped;
        const int other = p.of[1 - p.lane], flip = at_.swapped ? 56 : 0;
        const size_t slots = at_.table->slots();
        const Value* run[2];
        int turn[2];
        for (int half : {0, 1}) {
            const int mirror = at_.mirrored[half];
            uint8_t turned[MEN_MAX] = {};
            for (int i = 0; i < men().count; ++i)
                turned[i] = board_.turned[mirror | at_.swapped << 1][p.of[at_.man[i]]];
            run[half] = static_cast<const Value*>(at_.values[half]) + at_.table->index.of(turned, false);
            turn[half] = flip ^ (mirror ? 7 : 0);
        }
        if (lane_is_stronger)
            return gathered(wanted, [&](int s) {
                const int half = s >> 2 & 1;
                return run[half][place(fixed_.pair[s ^ turn[half]][other ^ turn[half]]) * slots];
            });
        const int half = other >> 2 & 1, stronger = other ^ turn[half];
        if (slots == 1 && stronger < SPREAD_KINGS) return spread(run[half], stronger, turn[half]);
        const int16_t* const pairs = fixed_.pair[stronger];
        return gathered(wanted, [&](int s) { return run[half][place(pairs[s ^ turn[half]]) * slots]; });
    }

    // Where there are no pieces, the values for a square of the stronger king lie side by side, without those of the
    // squares next to him. Up to 64 values behind them are read too, which the last kings do not have.
    static constexpr int SPREAD_KINGS = 62;
    Strip<Key> spread(const Value* run, int stronger, int turn) const {
        uint64_t gaps = near(stronger);
        Value found[128];
        const Value* from = run + fixed_.pair[stronger][__builtin_ctzll(~gaps)];
        int to = 0;
        while (true) {
            std::memcpy(found + to, from, 64 * sizeof(Value));
            if (!gaps) break;
            const int gap = __builtin_ctzll(gaps), behind = gap + __builtin_ctzll(~(gaps >> gap));
            from += gap - to;
            to = behind;
            gaps &= gaps + bit(gap);
        }
        return verify::turned((turn & 7 ? 1 : 0) | (turn & 56 ? 2 : 0), reinterpret_cast<const Key*>(found));
    }

    // Of a pair of kings that touch (-1) anything is read.
    static size_t place(int pair) { return static_cast<size_t>(std::max(pair, 0)); }

    Strip<Key> by_king(const Placed& p, uint64_t wanted) const {
        if (at_.table->has_pawns()) return by_fixed_king(p, wanted);
        uint8_t squares[AXES_MAX + 1];
        std::copy_n(p.of, AXES_MAX + 1, squares);
        return gathered(wanted & ~near(p.of[1 - p.lane]), [&](int s) {
            squares[p.lane] = static_cast<uint8_t>(s);
            return value(squares);
        });
    }

    // Reads the lanes that are wanted.
    template <class Read>
    static Strip<Key> gathered(uint64_t wanted, Read read) {
        Value found[64] = {};
        for (; wanted; wanted &= wanted - 1) {
            const int s = __builtin_ctzll(wanted);
            found[s] = read(s);
        }
        return load<Key>(found);
    }

    Strip<Key> one_by_one(const Frame& frame, uint8_t* turned, int lane, uint64_t wanted) const {
        return gathered(wanted, [&](int s) {
            turned[lane] = frame.turn[s];
            return frame.run[at_.table->index.of(turned, frame.diagonal)];
        });
    }

    // The man of the lane is like one other man: the smaller square of both comes first. If both have the last axes,
    // the values lie side by side where he stands behind the other one.
    Strip<Key> of_two(const Frame& frame, uint8_t* turned, int lane, int partner, uint64_t wanted) const {
        const uint32_t other = turned[lane] = turned[partner];
        const int shift = 6 * (men().count - 1 - std::max(lane, partner));
        const uint32_t rest = at_.table->index.of(turned, false) & ~(uint32_t{0xFFF} << shift);
        const auto read = [&](int s) {
            const uint32_t square = frame.turn[s], first = std::min(square, other), second = std::max(square, other);
            return frame.run[rest | (first << 6 | second) << shift];
        };
        if (shift) return gathered(wanted, read);
        const Strip<Key> side_by_side =
            verify::turned(frame.symmetry, reinterpret_cast<const Key*>(frame.run + (rest | other << 6)));
        const uint64_t before = wanted & squares_before(frame, static_cast<uint8_t>(other));
        if (!before) return side_by_side;
        const Strip<Key> chosen = lanes<Key>(before);
        return (gathered(before, read) & chosen) | (side_by_side & ~chosen);
    }

    // The squares that are turned to one before another.
    static uint64_t squares_before(const Frame& frame, uint8_t other) {
        const auto is_before = [other](auto turn) { return reinterpret_cast<Register<uint8_t>>(turn < other); };
        return bits_of(each(is_before, load<uint8_t>(frame.turn)));
    }

    Strip<Key> of_one(const Frame& frame, const uint8_t* turned, int lane, uint64_t wanted) const {
        const Value* from = frame.run + at_.table->index.of(turned, false);
        const int shift = 6 * (men().count - 1 - lane);
        if (shift == 0) return verify::turned(frame.symmetry, reinterpret_cast<const Key*>(from));
        return gathered(wanted, [&](int s) { return from[size_t{frame.turn[s]} << shift]; });
    }

    const Location& at_;
    int count_, last_;  // men of the table; the last one, if no two are alike
    const Board& board_ = board();
    const Kings& kings_ = kings();
    const FixedKings& fixed_ = fixed_kings();
};

}  // namespace
}  // namespace kingpair::verify
