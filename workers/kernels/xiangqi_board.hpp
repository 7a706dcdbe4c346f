// The vocabulary of the kernels of Chinese chess: eight boards of 90 squares in two units, and how men move on them.
//
// A board is two words of 45 bits, ranks 0 to 4 and 5 to 9. A step of one rank shifts by nine bits, and what leaves the
// lower word enters the upper one.

#pragma once

#include "units.hpp"
#include "xiangqi.hpp"

namespace kingpair::KINGPAIR_LEVEL {
namespace {
namespace xq {

using namespace xiangqi;

constexpr uint64_t ALL = (uint64_t{1} << HALF) - 1;
constexpr uint64_t FILE_A = 0x1 | 0x200 | 0x40000 | 0x8000000 | 0x1000000000;

constexpr uint64_t arrivals(int files) {
    uint64_t mask = ALL;
    for (int i = 0; i < files; ++i) mask &= ~(FILE_A << i);
    for (int i = 0; i > files; --i) mask &= ~(FILE_A << (8 + i));
    return mask;
}

template <bool eight>
struct WordOf {
    using Type = uint64_t;
};
template <>
struct WordOf<true> {
    using Type = Unit;
};

// Boards in eight lanes, or one board.
template <bool eight>
struct Two {
    using Word = typename WordOf<eight>::Type;
    Word lower{}, upper{};

    Two operator&(Two o) const { return {lower & o.lower, upper & o.upper}; }
    Two operator|(Two o) const { return {lower | o.lower, upper | o.upper}; }
    Two operator~() const { return {~lower, ~upper}; }
    Two& operator|=(Two o) { return *this = *this | o; }
    Two& operator&=(Two o) { return *this = *this & o; }
};

using Boards = Two<true>;
using One = Two<false>;

inline bool any(One b) { return (b.lower | b.upper) != 0; }
inline bool any(const Boards& b) { return KINGPAIR_LEVEL::any(b.lower | b.upper); }
inline Boards spread(Board b) { return {broadcast(b.half[0]), broadcast(b.half[1])}; }
inline One one(Board b) { return {b.half[0], b.half[1]}; }
inline One square_of(int s) { return s < HALF ? One{bit(s), 0} : One{0, bit(s - HALF)}; }
inline Boards spread(One b) { return {broadcast(b.lower), broadcast(b.upper)}; }
inline Boards boards_at(const uint64_t* words) { return {unit_at(words), unit_at(words + 8)}; }
inline One one_at(const uint64_t* words) { return {words[0], words[8]}; }

// Shifts towards higher squares if `by` is positive. Bits that go round the edge of a file are not taken out here.
template <int by, bool eight>
inline Two<eight> shift_raw(Two<eight> v) {
    if constexpr (by > 0) return {(v.lower << by) & ALL, ((v.upper << by) | (v.lower >> (HALF - by))) & ALL};
    else return {(v.lower >> -by) | ((v.upper << (HALF + by)) & ALL), v.upper >> -by};
}

template <int files, int ranks>
inline Boards shift(Boards v) {
    v = shift_raw<9 * ranks + files>(v);
    if constexpr (files != 0) v = {v.lower & arrivals(files), v.upper & arrivals(files)};
    return v;
}

// Slides from `from` over `free` until something stands in the way: three doublings, and one step more along a file,
// which has ten squares.
template <int files, int ranks>
inline Boards slide(Boards from, Boards free) {
    constexpr int by = 9 * ranks + files;
    Boards way = free, reach = from;
    if constexpr (files != 0) way &= spread(One{arrivals(files), arrivals(files)});
    reach |= way & shift_raw<by>(reach);
    Boards way2 = way & shift_raw<by>(way);
    reach |= way2 & shift_raw<2 * by>(reach);
    Boards way4 = way2 & shift_raw<2 * by>(way2);
    reach |= way4 & shift_raw<4 * by>(reach);
    if constexpr (files == 0) reach |= way & shift_raw<by>(reach);
    return way & shift_raw<by>(reach);
}

// Squares that a cannon jumps from: over exactly one man.
template <int files, int ranks>
inline Boards jump(Boards from, Boards free) {
    const Boards met = shift<files, ranks>(from | slide<files, ranks>(from, free)) & ~free;
    return slide<files, ranks>(met, free);
}

// The horse came by `files`, `ranks`, so it stood at their opposite; its leg is beside that square.
template <int files, int ranks>
inline Boards unleap(Boards in, Boards free) {
    constexpr int leg_files = files / 2, leg_ranks = ranks / 2;
    const Boards legs = spread(One{ALL, ALL}) & free;
    return shift<-files, -ranks>(in) & shift<-leg_files, -leg_ranks>(legs);
}

inline Boards unleap_all(Boards in, Boards free) {
    return unleap<1, 2>(in, free) | unleap<-1, 2>(in, free) | unleap<1, -2>(in, free) | unleap<-1, -2>(in, free) |
           unleap<2, 1>(in, free) | unleap<-2, 1>(in, free) | unleap<2, -1>(in, free) | unleap<-2, -1>(in, free);
}

constexpr One own_half(int side) { return side == 0 ? One{ALL, 0} : One{0, ALL}; }

inline Boards unadvance(int side, Boards in) {
    const Boards beyond = spread(own_half(1 - side)), there = in & beyond;
    const Boards back = side == 0 ? shift<0, -1>(in) : shift<0, 1>(in);
    return back | ((shift<1, 0>(there) | shift<-1, 0>(there)) & beyond);
}

// Where the man stood before, given where he stands. Cannons capture by a jump, all others as they move.
template <bool captures>
inline Boards unmove_bits(FreeMan man, Boards in, Boards free) {
    switch (man.kind) {
        case FreeKind::horse: return unleap_all(in, free);
        case FreeKind::pawn: return unadvance(man.side, in);
        case FreeKind::cannon:
            if constexpr (captures)
                return jump<0, 1>(in, free) | jump<0, -1>(in, free) | jump<1, 0>(in, free) | jump<-1, 0>(in, free);
            [[fallthrough]];
        case FreeKind::rook: break;
    }
    return slide<0, 1>(in, free) | slide<0, -1>(in, free) | slide<1, 0>(in, free) | slide<-1, 0>(in, free);
}

// ---- a man on another axis: one board of the bit man for each of his squares ----

constexpr bool on_board(int file, int rank) { return file >= 0 && file < 9 && rank >= 0 && rank < 10; }

struct Leap {
    uint8_t from, leg;
};

struct Leaps {
    int count;
    Leap leap[8];
};

// The squares that a horse comes from, with its leg.
constexpr auto LEAPS = [] {
    List<Leaps, SQUARES> all{};
    for (int s = 0; s < SQUARES; ++s)
        for (int df = -2; df <= 2; ++df)
            for (int dr = -2; dr <= 2; ++dr) {
                const int f = s % 9 - df, r = s / 9 - dr;
                if (df * df + dr * dr != 5 || !on_board(f, r)) continue;
                Leaps& leaps = all[static_cast<size_t>(s)];
                leaps.leap[leaps.count++] = {static_cast<uint8_t>(9 * r + f),
                                             static_cast<uint8_t>(9 * (r + dr / 2) + f + df / 2)};
            }
    return all;
}();

struct Ray {
    int count;
    uint8_t square[9];
};

constexpr auto RAYS = [] {
    List<List<Ray, 4>, SQUARES> all{};
    constexpr int step[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    for (int s = 0; s < SQUARES; ++s)
        for (size_t i = 0; i < 4; ++i) {
            Ray& ray = all[static_cast<size_t>(s)][i];
            for (int f = s % 9 + step[i][0], r = s / 9 + step[i][1]; on_board(f, r); f += step[i][0], r += step[i][1])
                ray.square[ray.count++] = static_cast<uint8_t>(9 * r + f);
        }
    return all;
}();

// Calls put(square, board) for each square from which a man on `square` may have come, and the places of the bit man
// for which he did. `blocked` are the squares of all men but these two.
template <bool captures, class Put>
inline void unmove_board(FreeMan man, int square, One t, Board blocked, Put put) {
    if (man.kind == FreeKind::pawn) {
        const int back = square + (man.side == 0 ? -9 : 9), rank = square / 9;
        const bool beyond = man.side == 0 ? rank > 4 : rank < 5;
        if (back >= 0 && back < SQUARES) put(back, t & ~square_of(back));
        if (beyond && square % 9 > 0) put(square - 1, t & ~square_of(square - 1));
        if (beyond && square % 9 < 8) put(square + 1, t & ~square_of(square + 1));
        return;
    }
    if (man.kind == FreeKind::horse) {
        const Leaps& leaps = LEAPS[static_cast<size_t>(square)];
        for (int i = 0; i < leaps.count; ++i) {
            const Leap leap = leaps.leap[i];
            if (!blocked.has(leap.leg)) put(leap.from, t & ~square_of(leap.leg) & ~square_of(leap.from));
        }
        return;
    }
    for (const Ray& ray : RAYS[static_cast<size_t>(square)]) {
        One sliding = t, jumped = {0, 0};
        for (int i = 0; i < ray.count; ++i) {
            const int s = ray.square[i];
            if (captures && man.kind == FreeKind::cannon) {
                if (blocked.has(s)) {
                    jumped = sliding;
                    sliding = {0, 0};
                } else {
                    const One met = sliding & square_of(s);
                    jumped &= ~square_of(s);
                    if (any(jumped)) put(s, jumped);
                    jumped |= met;
                    sliding &= ~square_of(s);
                }
                if (!any(jumped | sliding)) break;
                continue;
            }
            if (blocked.has(s)) break;
            sliding &= ~square_of(s);
            if (!any(sliding)) break;
            put(s, sliding);
        }
    }
}

// ---- the mirror image ----

template <bool eight>
inline Two<eight> mirror(Two<eight> v) {
    using Word = typename Two<eight>::Word;
    const auto mirrored = [](Word w) -> Word {
        constexpr uint64_t a = FILE_A;
        return (w & a << 4) | (w & a) << 8 | (w & a << 8) >> 8 | (w & a << 1) << 6 | (w & a << 7) >> 6 |
               (w & a << 2) << 4 | (w & a << 6) >> 4 | (w & a << 3) << 2 | (w & a << 5) >> 2;
    };
    return {mirrored(v.lower), mirrored(v.upper)};
}

constexpr int mirror_square(int s) { return s / 9 * 9 + 8 - s % 9; }

}  // namespace xq
}  // namespace
}  // namespace kingpair::KINGPAIR_LEVEL
