// The vocabulary of the kernels: a unit of 512 positions, the operations that move its bits and lanes, and the lines of
// the board. Everything is inline and lies in a namespace of the level that is being compiled, so that the linker
// can never take one level's code for another's.

#pragma once

#include "assertions.hpp"
#include "kernels.hpp"

#define KINGPAIR_QUOTE_(x) #x
#define KINGPAIR_QUOTE(x) KINGPAIR_QUOTE_(x)

namespace kingpair::KINGPAIR_LEVEL {
namespace {

using Unit = uint64_t __attribute__((vector_size(64), may_alias));
using Bytes = uint8_t __attribute__((vector_size(64), may_alias));

// The standard library's own would be emitted once per program, at one level's instruction set.
inline int count_bits(uint64_t w) { return __builtin_popcountll(w); }
inline int lowest(uint64_t w) { return __builtin_ctzll(w); }
inline int highest(uint64_t w) { return 63 - __builtin_clzll(w); }

// Where a partition that is held lies in the arrays.
inline size_t place_in(const Domain& d, int pair) {
    KINGPAIR_INVARIANT(pair >= 0 && pair < d.pairs && d.slot[pair] >= 0, "a partition that is read or written is held");
    return static_cast<size_t>(d.slot[pair]);
}

template <class T, size_t N>
struct List {
    T item[N];
    constexpr T& operator[](size_t i) { return item[i]; }
    constexpr const T& operator[](size_t i) const { return item[i]; }
    constexpr const T* begin() const { return item; }
    constexpr const T* end() const { return item + N; }
};

constexpr uint64_t bit(int square) { return uint64_t{1} << square; }

inline Unit broadcast(uint64_t word) { return Unit{} + word; }

inline bool any(Unit v) {
    using Half = uint64_t __attribute__((vector_size(32)));
    using Quarter = uint64_t __attribute__((vector_size(16)));
    Half h = __builtin_shufflevector(v, v, 0, 1, 2, 3) | __builtin_shufflevector(v, v, 4, 5, 6, 7);
    Quarter q = __builtin_shufflevector(h, h, 0, 1) | __builtin_shufflevector(h, h, 2, 3);
    return (q[0] | q[1]) != 0;
}

inline uint64_t popcount(Unit v) {
    uint64_t n = 0;
    for (int i = 0; i < 8; ++i) n += static_cast<uint64_t>(count_bits(v[i]));
    return n;
}

// ---- the board ----

constexpr uint64_t FILE_A = 0x0101010101010101, FILE_H = FILE_A << 7;

struct Line {
    uint64_t mask;
    int step;  // ascending
};

constexpr uint64_t line_from(int square, int files, int ranks) {
    uint64_t mask = 0;
    for (int f = square & 7, r = square >> 3; f >= 0 && f < 8 && r >= 0 && r < 8; f += files, r += ranks)
        mask |= bit(8 * r + f);
    return mask;
}

constexpr auto ROOK_LINES = [] {
    List<Line, 16> lines{};
    for (int i = 0; i < 8; ++i) {
        lines[i] = {line_from(8 * i, 1, 0), 1};
        lines[8 + i] = {line_from(i, 0, 1), 8};
    }
    return lines;
}();

constexpr auto BISHOP_LINES = [] {
    List<Line, 26> lines{};
    int n = 0;
    for (int i = 0; i < 7; ++i) lines[n++] = {line_from(i, 1, 1), 9};
    for (int i = 1; i < 7; ++i) lines[n++] = {line_from(8 * i, 1, 1), 9};
    for (int i = 1; i < 8; ++i) lines[n++] = {line_from(i, -1, 1), 7};
    for (int i = 1; i < 7; ++i) lines[n++] = {line_from(8 * i + 7, -1, 1), 7};
    return lines;
}();

constexpr auto KNIGHT_TARGETS = [] {
    List<uint64_t, 64> targets{};
    for (int s = 0; s < 64; ++s)
        for (int df = -2; df <= 2; ++df)
            for (int dr = -2; dr <= 2; ++dr) {
                int f = (s & 7) + df, r = (s >> 3) + dr;
                if (df * df + dr * dr == 5 && f >= 0 && f < 8 && r >= 0 && r < 8) targets[s] |= bit(8 * r + f);
            }
    return targets;
}();

constexpr int turned_square(int symmetry, int square) {
    int f = square & 7, r = square >> 3;
    if (symmetry & 1) f = 7 - f;
    if (symmetry & 2) r = 7 - r;
    return symmetry & 4 ? 8 * f + r : 8 * r + f;
}

// ---- tables of units ----

struct Tables {
    alignas(64) uint64_t lanes[256][8];  // all bits of the lanes named by a byte
    alignas(64) uint64_t apart[8][8];    // rank r: lane f without the bit of its own square
};

constexpr Tables TABLES = [] {
    Tables t{};
    for (int m = 0; m < 256; ++m)
        for (int f = 0; f < 8; ++f) t.lanes[m][f] = (m >> f) & 1 ? ~uint64_t{0} : 0;
    for (int r = 0; r < 8; ++r)
        for (int f = 0; f < 8; ++f) t.apart[r][f] = ~bit(8 * r + f);
    return t;
}();

inline Unit unit_at(const uint64_t* words) { return *reinterpret_cast<const Unit*>(words); }
inline Unit lanes_of(uint64_t squares, int rank) { return unit_at(TABLES.lanes[(squares >> (8 * rank)) & 255]); }
inline Unit lane_apart_from_bit(int rank) { return unit_at(TABLES.apart[rank]); }

// ---- moving bits and lanes ----

template <int files>
inline Unit shift_lanes(Unit v) {
    constexpr Unit zero{};
    if constexpr (files == 0) return v;
    if constexpr (files == 1) return __builtin_shufflevector(zero, v, 0, 8, 9, 10, 11, 12, 13, 14);
    if constexpr (files == 2) return __builtin_shufflevector(zero, v, 0, 1, 8, 9, 10, 11, 12, 13);
    if constexpr (files == 4) return __builtin_shufflevector(zero, v, 0, 1, 2, 3, 8, 9, 10, 11);
    if constexpr (files == -1) return __builtin_shufflevector(v, zero, 1, 2, 3, 4, 5, 6, 7, 8);
    if constexpr (files == -2) return __builtin_shufflevector(v, zero, 2, 3, 4, 5, 6, 7, 8, 9);
    if constexpr (files == -4) return __builtin_shufflevector(v, zero, 4, 5, 6, 7, 8, 9, 10, 11);
}

constexpr uint64_t arrivals(int files) {  // the bits that a shift by `files` can reach without going round the edge
    uint64_t mask = ~uint64_t{0};
    for (int i = 0; i < files; ++i) mask &= ~(FILE_A << i);
    for (int i = 0; i > files; --i) mask &= ~(FILE_H >> -i);
    return mask;
}

template <int files, int ranks>
inline Unit shift_bits(Unit v) {
    constexpr int by = 8 * ranks + files;
    if constexpr (by > 0) return (v << by) & arrivals(files);
    return (v >> -by) & arrivals(files);
}

// Slide from `from` over `free` until something stands in the way: three doublings (Kogge-Stone).
template <int files, int ranks>
inline Unit slide_bits(Unit from, Unit free) {
    constexpr int by = 8 * ranks + files;
    auto shift = [](Unit v, int times) { return by > 0 ? v << (by * times) : v >> (-by * times); };
    Unit way = free & arrivals(files), reach = from;
    reach |= way & shift(reach, 1);
    Unit way2 = way & shift(way, 1);
    reach |= way2 & shift(reach, 2);
    Unit way4 = way2 & shift(way2, 2);
    reach |= way4 & shift(reach, 4);
    return way & shift(reach, 1);
}

template <int direction>
inline Unit slide_lanes(Unit from, Unit free) {
    Unit way = free, reach = from;
    reach |= way & shift_lanes<direction>(reach);
    way &= shift_lanes<direction>(way);
    reach |= way & shift_lanes<2 * direction>(reach);
    way &= shift_lanes<2 * direction>(way);
    reach |= way & shift_lanes<4 * direction>(reach);
    return free & shift_lanes<direction>(reach);
}

// ---- the eight symmetries ----

inline Unit reverse_bits_in_bytes(Unit v) {
    v = ((v >> 1) & 0x5555555555555555) | ((v & 0x5555555555555555) << 1);
    v = ((v >> 2) & 0x3333333333333333) | ((v & 0x3333333333333333) << 2);
    return ((v >> 4) & 0x0f0f0f0f0f0f0f0f) | ((v & 0x0f0f0f0f0f0f0f0f) << 4);
}

inline Unit reverse_bytes_in_words(Unit v) {
    Bytes b = reinterpret_cast<Bytes>(v);
    b = __builtin_shufflevector(b, b, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, 23, 22, 21, 20, 19, 18, 17,
                                16, 31, 30, 29, 28, 27, 26, 25, 24, 39, 38, 37, 36, 35, 34, 33, 32, 47, 46, 45, 44, 43,
                                42, 41, 40, 55, 54, 53, 52, 51, 50, 49, 48, 63, 62, 61, 60, 59, 58, 57, 56);
    return reinterpret_cast<Unit>(b);
}

inline Unit transpose_bits(Unit v) {
    Unit t = (v ^ (v >> 7)) & 0x00aa00aa00aa00aa;
    v ^= t ^ (t << 7);
    t = (v ^ (v >> 14)) & 0x0000cccc0000cccc;
    v ^= t ^ (t << 14);
    t = (v ^ (v >> 28)) & 0x00000000f0f0f0f0;
    return v ^ t ^ (t << 28);
}

inline Unit reverse_lanes(Unit v) { return __builtin_shufflevector(v, v, 7, 6, 5, 4, 3, 2, 1, 0); }

// Bits of one unit as `symmetry` shows them; lanes stay.
template <int symmetry>
inline Unit turn_bits(Unit v) {
    if constexpr (symmetry & 4) v = transpose_bits(v);
    if constexpr (symmetry & 2) v = reverse_bytes_in_words(v);
    if constexpr (symmetry & 1) v = reverse_bits_in_bytes(v);
    return v;
}

inline void transpose_lanes(Unit (&u)[8]) {
    Unit a[8], b[8];
    for (int i = 0; i < 8; i += 2) {
        a[i] = __builtin_shufflevector(u[i], u[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        a[i + 1] = __builtin_shufflevector(u[i], u[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int i = 0; i < 8; i += 4)
        for (int j = 0; j < 2; ++j) {
            b[i + j] = __builtin_shufflevector(a[i + j], a[i + j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            b[i + j + 2] = __builtin_shufflevector(a[i + j], a[i + j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    for (int i = 0; i < 4; ++i) {
        u[i] = __builtin_shufflevector(b[i], b[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        u[i + 4] = __builtin_shufflevector(b[i], b[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

}  // namespace
}  // namespace kingpair::KINGPAIR_LEVEL
