// The positions of a setup, a strip at a time: which are legal, and their values in a table.

#pragma once

#include <algorithm>

#include "assertions.hpp"
#include "pawn_keys.hpp"

namespace kingpair::verify {
namespace {

constexpr uint64_t FILE_A = 0x0101010101010101, FILE_H = FILE_A << 7;

// A square and those that a king there attacks.
constexpr uint64_t near(int square) {
    const uint64_t here = bit(square), rank = here | (here & ~FILE_A) >> 1 | (here & ~FILE_H) << 1;
    return rank | rank << 8 | rank >> 8;
}

// The men of a setup in a strip: all stand but the man of the lane, if there is one.
struct Placed {
    uint8_t of[AXES_MAX + 1];
    uint64_t occupied;
    bool apart;  // no two men on a square, no kings that touch
    int lane;

    Placed(const Setup& setup, const uint8_t* squares, int lane_axis)
        : of{}, occupied(setup.pawns.all()), apart(true), lane(setup.man_on(lane_axis)) {
        for (int i = 0; i < setup.count; ++i) {
            if (i == lane) continue;
            of[i] = setup.axis[i] == NO_AXIS ? setup.promoted : squares[setup.axis[i]];
            apart &= !(occupied >> of[i] & 1);
            occupied |= bit(of[i]);
        }
        if (lane > 1 || lane == NO_LANE) apart &= !(near(of[0]) >> of[1] & 1);
    }
};

// The squares that a piece attacks.
inline uint64_t reached(const Board& b, Kind kind, int from, uint64_t occupied) {
    uint64_t found = b.reach[static_cast<int>(kind)][from];
    if (kind != Kind::knight)
        for (uint64_t rest = occupied & found; rest; rest &= rest - 1) found &= ~b.behind[from][__builtin_ctzll(rest)];
    return found;
}

// The lanes in which the king of a side is attacked; all or none if no man has the lane.
inline uint64_t attacked(const Board& b, const Setup& setup, const Placed& p, int side) {
    const int by = 1 - side;
    if (p.lane == side) {
        uint64_t found = setup.attacked[by];
        for (int i = 2; i < setup.count; ++i)
            if (setup.man[i].side == by) found |= reached(b, setup.man[i].kind, p.of[i], p.occupied);
        return found;
    }
    const int king = p.of[side];
    uint64_t found = setup.attacked[by] >> king & 1 ? ~uint64_t{0} : 0;
    for (int i = 2; i < setup.count; ++i) {
        if (setup.man[i].side != by) continue;
        if (i == p.lane) {
            found |= reached(b, setup.man[i].kind, king, p.occupied);
        } else if (b.reach[static_cast<int>(setup.man[i].kind)][king] >> p.of[i] & 1) {
            const uint64_t between = b.between[king][p.of[i]];
            if (!(between & p.occupied)) found |= p.lane == NO_LANE ? ~uint64_t{0} : ~between;
        }
    }
    return found;
}

// The lanes with a man apart from all others.
inline uint64_t free_lanes(const Placed& p) {
    if (!p.apart || p.lane == NO_LANE) return p.apart ? ~uint64_t{0} : 0;
    return ~p.occupied & (p.lane < 2 ? ~near(p.of[1 - p.lane]) : ~uint64_t{0});
}

inline uint64_t legal(const Board& b, const Setup& setup, const Placed& p, int to_move) {
    const uint64_t free = free_lanes(p);
    return free ? free & ~attacked(b, setup, p, 1 - to_move) : 0;
}

// ---- values ----

// Reads the values of a setup's positions where a table keeps them.
template <class Key>
class Reader {
  public:
    using Value = std::make_signed_t<Key>;

    explicit Reader(const Location& location) : at_(location) {}

    Value value(const uint8_t* squares) const {
        if (!at_.table) return 0;
        const Frame frame = frame_of(squares[0], squares[1]);
        uint8_t turned[MEN_MAX];
        for (int i = 0; i < men().count; ++i) turned[i] = frame.turn[squares[at_.man[i]]];
        return frame.run[at_.table->index.of(turned, frame.diagonal)];
    }

    // The values of all lanes; anything where a king of the lane touches the other one.
    Strip<Key> strip(const Placed& p) const {
        if (!at_.table) return Strip<Key>{};
        if (p.lane < 2) return by_king(p);
        Frame frame = frame_of(p.of[0], p.of[1]);
        uint8_t turned[MEN_MAX] = {};
        const int lane = turn_men(p, frame, turned);
        KINGPAIR_INVARIANT(lane >= 0, "the man of the lane is not taken");
        if (frame.diagonal && !at_.table->index.like_men()) choose_image(p, frame, turned, lane);
        const bool before = like(lane - 1), behind = like(lane);
        if (frame.diagonal || (before && (behind || like(lane - 2))) || (behind && like(lane + 1)))
            return one_by_one(frame, turned, lane);
        if (before || behind) return of_two(frame, turned, lane, before ? lane - 1 : lane + 1);
        return of_one(frame, turned, lane);
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
    Strip<Key> by_fixed_king(const Placed& p) const {
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
        Value found[64];
        if (!lane_is_stronger) {
            const int half = other >> 2 & 1;
            const int16_t* const pairs = fixed_.pair[other ^ turn[half]];
            for (int s = 0; s < 64; ++s) found[s] = run[half][place(pairs[s ^ turn[half]]) * slots];
        } else {
            for (int s = 0; s < 64; ++s) {
                const int half = s >> 2 & 1;
                found[s] = run[half][place(fixed_.pair[s ^ turn[half]][other ^ turn[half]]) * slots];
            }
        }
        return load<Key>(found);
    }

    // Of a pair of kings that touch (-1) anything is read.
    static size_t place(int pair) { return static_cast<size_t>(std::max(pair, 0)); }

    Strip<Key> by_king(const Placed& p) const {
        if (at_.table->has_pawns()) return by_fixed_king(p);
        uint8_t squares[AXES_MAX + 1];
        std::copy_n(p.of, AXES_MAX + 1, squares);
        Value found[64];
        const uint64_t touching = near(p.of[1 - p.lane]);
        for (int s = 0; s < 64; ++s) {
            squares[p.lane] = static_cast<uint8_t>(s);
            found[s] = touching >> s & 1 ? Value{0} : value(squares);
        }
        return load<Key>(found);
    }

    Strip<Key> one_by_one(const Frame& frame, uint8_t* turned, int lane) const {
        Value found[64];
        for (int s = 0; s < 64; ++s) {
            turned[lane] = frame.turn[s];
            found[s] = frame.run[at_.table->index.of(turned, frame.diagonal)];
        }
        return load<Key>(found);
    }

    // The man of the lane is like one other man: the smaller square of both comes first.
    Strip<Key> of_two(const Frame& frame, uint8_t* turned, int lane, int partner) const {
        const uint32_t other = turned[lane] = turned[partner];
        const int shift = 6 * (men().count - 1 - std::max(lane, partner));
        const uint32_t rest = at_.table->index.of(turned, false) & ~(uint32_t{0xFFF} << shift);
        Value found[64];
        for (int s = 0; s < 64; ++s) {
            const uint32_t square = frame.turn[s], first = std::min(square, other), second = std::max(square, other);
            found[s] = frame.run[rest | (first << 6 | second) << shift];
        }
        return load<Key>(found);
    }

    Strip<Key> of_one(const Frame& frame, const uint8_t* turned, int lane) const {
        const Value* from = frame.run + at_.table->index.of(turned, false);
        const int shift = 6 * (men().count - 1 - lane);
        if (shift == 0) return verify::turned(frame.symmetry, reinterpret_cast<const Key*>(from));
        Value found[64];
        for (int s = 0; s < 64; ++s) found[s] = from[size_t{frame.turn[s]} << shift];
        return load<Key>(found);
    }

    const Location& at_;
    const Board& board_ = board();
    const Kings& kings_ = kings();
    const FixedKings& fixed_ = fixed_kings();
};

// ---- keys ----

// The keys of moves that all lead to the same squares: pushes, captures, or the promotions of one pawn.
template <class Key>
class Entered {
  public:
    Entered(const Setup& after, const Location* into, int count, int to_move, Rule rule, int lane_axis)
        : after_(after), to_move_(to_move), rule_(rule), lane_axis_(lane_axis) {
        for (int i = 0; i < count; ++i) readers_.emplace_back(into[i]);
    }

    // The best keys in a strip; 0 where a position is not legal.
    Strip<Key> strip(const uint8_t* squares) const {
        const Placed p(after_, squares, lane_axis_);
        const uint64_t here = legal(board_, after_, p, to_move_);
        if (!here) return Strip<Key>{};
        Strip<Key> best{};
        for (const auto& reader : readers_) best = larger(best, keys_of<Key>(reader.strip(p), rule_));
        return best & lanes<Key>(here);
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
    const Setup& after_;
    int to_move_;
    Rule rule_;
    int lane_axis_;
    std::vector<Reader<Key>> readers_;
    const Board& board_ = board();
};

}  // namespace
}  // namespace kingpair::verify
