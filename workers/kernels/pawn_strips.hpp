// The strips of a setup: where the men stand, and which lanes are legal positions.
//
// The strips that differ only in the square of the *near* man, on the axis before that of the lane, are a *plane*. What
// depends on the other men alone is found once for a plane.

#pragma once

#include "assertions.hpp"
#include "keys.hpp"
#include "verify_pawns.hpp"

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

    Placed() = default;
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

// ---- planes ----

// The squares on all axes before that of the near man.
inline size_t plane_of(const uint8_t* squares, int lane_axis) {
    size_t plane = 0;
    for (int i = 0; i + 1 < lane_axis; ++i) plane = plane << 6 | squares[i];
    return plane;
}

// The strips of a setup, one after the other. The fast path is for pieces on the last two axes; its result is that of
// `legal`.
class Strips {
  public:
    Strips(const Setup& setup, int lane_axis, int to_move)
        : setup_(setup),
          lane_axis_(lane_axis),
          by_(to_move),
          near_(lane_axis > 2 ? setup.man_on(lane_axis - 1) : NO_LANE) {
        lane_ = lane_axis > 2 && near_ > 1 ? setup.man_on(lane_axis) : NO_LANE;
    }

    // The men of a strip.
    const Placed& place(const uint8_t* squares) {
        if (!has_planes()) return placed_ = Placed(setup_, squares, lane_axis_);
        if (plane_of(squares) != plane_) enter_plane(squares);
        const uint8_t near = squares[lane_axis_ - 1];
        placed_.of[near_] = near;
        placed_.apart = are_apart_ && !(occupied_ >> near & 1);
        placed_.occupied = occupied_ | bit(near);
        return placed_;
    }

    // The legal lanes of the strip that was placed last.
    uint64_t legal() const {
        if (!has_planes()) return verify::legal(board_, setup_, placed_, by_);
        return placed_.apart ? ~placed_.occupied & ~attacked() : 0;
    }

  private:
    bool has_planes() const { return lane_ > 1; }
    size_t plane_of(const uint8_t* squares) const { return verify::plane_of(squares, lane_axis_); }

    void enter_plane(const uint8_t* squares) {
        plane_ = plane_of(squares);
        occupied_ = setup_.pawns.all();
        are_apart_ = true;
        for (int i = 0; i < setup_.count; ++i) {
            if (i == lane_ || i == near_) continue;
            const int at = setup_.axis[i] == NO_AXIS ? setup_.promoted : squares[setup_.axis[i]];
            placed_.of[i] = static_cast<uint8_t>(at);
            are_apart_ &= !(occupied_ >> at & 1);
            occupied_ |= bit(at);
        }
        placed_.lane = lane_;
        are_apart_ &= !(near(placed_.of[0]) >> placed_.of[1] & 1);
        king_ = placed_.of[1 - by_];
        is_attacked_ = setup_.attacked[by_] >> king_ & 1;
        open_lines_ = 0;
        for (int i = 2; i < setup_.count; ++i)
            if (i != lane_ && i != near_ && looks_at_king(i, placed_.of[i]))
                line_[open_lines_++] = between(placed_.of[i]);
        by_lane_ = setup_.man[lane_].side == by_ ? reached(board_, setup_.man[lane_].kind, king_, occupied_) : 0;
    }

    uint64_t between(int from) const { return board_.between[king_][from]; }

    // Whether a man of the other side attacks the king from a square, unless the near man or that of the lane blocks.
    bool looks_at_king(int man, int from) const {
        const Man& is = setup_.man[man];
        return is.side == by_ && board_.reach[static_cast<int>(is.kind)][king_] >> from & 1 &&
               !(between(from) & occupied_);
    }

    // The lanes in which the king is attacked.
    uint64_t attacked() const {
        if (is_attacked_) return ~uint64_t{0};
        const int near = placed_.of[near_];
        uint64_t found = by_lane_;
        if (found >> near & 1 && setup_.man[lane_].kind != Kind::knight) found &= ~board_.behind[king_][near];
        for (int i = 0; i < open_lines_; ++i)
            if (!(line_[i] >> near & 1)) found |= ~line_[i];
        return looks_at_king(near_, near) ? found | ~between(near) : found;
    }

    const Setup& setup_;
    int lane_axis_, by_, near_, lane_;
    const Board& board_ = board();
    Placed placed_{};
    // Of the plane.
    size_t plane_ = ~size_t{0};
    uint64_t occupied_ = 0;
    bool are_apart_ = false;
    int king_ = 0;
    bool is_attacked_ = false;      // by a pawn
    uint64_t line_[AXES_MAX] = {};  // between the king and those that attack him
    int open_lines_ = 0;
    uint64_t by_lane_ = 0;  // the lanes from which the man of the lane attacks him
};

}  // namespace
}  // namespace kingpair::verify
