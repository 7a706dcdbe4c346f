// Copies the rows of a partition into the order of slots, in which another man may be the last.

#pragma once

#include "strips.hpp"
#include "verify.hpp"

namespace kingpair::verify {
namespace {

// Transposes 64 runs of rows into the 64 strips of a plane. `wanted` has a bit for each eight strips.
template <class T>
inline void turn_over(const T* const* rows, unsigned wanted, T* out) {
    for (size_t a = 0; a < 64; a += 8) {
        if (!(wanted >> a / 8 & 1)) continue;
        T tile[8][64];  // by eight rows: their part in eight columns
        for (size_t b = 0; b < 8; ++b)
            for (size_t i = 0; i < 8; ++i) std::memcpy(tile[b] + 8 * i, rows[8 * b + i] + a, 8 * sizeof(T));
        for (auto& here : tile) store<T>(here, turned(TRANSPOSED, here));
        for (size_t i = 0; i < 8; ++i)
            for (size_t b = 0; b < 8; ++b) std::memcpy(out + 64 * (a + i) + 8 * b, tile[b] + 8 * i, 8 * sizeof(T));
    }
}

// The same where a register holds a strip.
inline void turn_over_whole(const uint8_t* const* rows, unsigned wanted, uint8_t* out) {
    WholeRanks tile[8][8];  // by eight columns, by eight rows
    for (size_t b = 0; b < 8; ++b) {
        WholeRanks part[8];
        for (size_t i = 0; i < 8; ++i) std::memcpy(&part[i], rows[8 * b + i], sizeof part[i]);
        transpose(part);
        for (size_t a = 0; a < 8; ++a) tile[a][b] = part[a];
    }
    for (size_t a = 0; a < 8; ++a) {
        if (!(wanted >> a & 1)) continue;
        for (auto& here : tile[a]) {
            auto board = reinterpret_cast<Whole>(here);
            transpose(board);
            here = reinterpret_cast<WholeRanks>(board);
        }
        transpose(tile[a]);
        std::memcpy(out + 64 * 8 * a, tile[a], sizeof tile[a]);
    }
}

// A bit for each eight strips of a plane: set if any of them holds a counted position.
inline unsigned wanted_of(const Standing& standing, size_t plane) {
    unsigned wanted = 0;
    for (size_t strip = 0; strip < 64; ++strip)
        if (standing.own_lanes(64 * plane + strip)) wanted |= 1U << strip / 8;
    return wanted;
}

template <class Key, class Value>
void arrange(const Men& men, const Rows<Value>& rows, const Standing& standing, Value* out) {
    if (!men.behind) {
        for (size_t row = 0; row < men.slots(); row += rows.size)
            std::memcpy(out + row, rows.at(row), rows.size * sizeof(Value));
        return;
    }
    for (size_t plane = 0; plane < men.strips() / 64; ++plane) {
        const size_t slot = 64 * 64 * plane;
        const Key* from[64];
        for (size_t s = 0; s < 64; ++s) from[s] = reinterpret_cast<const Key*>(rows.at(men.row_of(slot + s)));
        Key* to = reinterpret_cast<Key*>(out + slot);
        if constexpr (sizeof(Key) == 1 && REGISTER == sizeof(Whole))
            turn_over_whole(from, wanted_of(standing, plane), to);
        else turn_over<Key>(from, wanted_of(standing, plane), to);
    }
}

}  // namespace
}  // namespace kingpair::verify
