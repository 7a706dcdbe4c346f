// Columns of values: a layer painted into one, and the sets of positions that hold a value.

#pragma once

#include <type_traits>

#include "streams.hpp"

namespace kingpair::KINGPAIR_LEVEL {
namespace {

// ---- painting ----

// All ones in byte i where bit i of the word is set.
inline Bytes bytes_of(uint64_t word) {
    Bytes b = reinterpret_cast<Bytes>(broadcast(word));
    b = __builtin_shufflevector(b, b, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 18, 18, 18, 18, 18, 18, 18, 18,
                                19, 19, 19, 19, 19, 19, 19, 19, 36, 36, 36, 36, 36, 36, 36, 36, 37, 37, 37, 37, 37, 37,
                                37, 37, 54, 54, 54, 54, 54, 54, 54, 54, 55, 55, 55, 55, 55, 55, 55, 55);
    const Bytes bits = reinterpret_cast<Bytes>(broadcast(0x8040201008040201));
    return reinterpret_cast<Bytes>((b & bits) == bits);
}

inline void blend(int8_t* column, uint64_t word, int8_t value) {
    const Bytes mask = bytes_of(word);
    Bytes held;
    std::memcpy(&held, column, 64);
    held = (held & ~mask) | (mask & static_cast<uint8_t>(value));
    std::memcpy(column, &held, 64);
}

inline void blend(int16_t* column, uint64_t word, int16_t value) {
    for (int i = 0; i < 64; ++i) column[i] = (word >> i & 1) ? value : column[i];
}

template <class T>
inline void paint_word(T* column, uint64_t word, T value) {
    if (count_bits(word) <= FEW) {
        for (; word; word &= word - 1) column[lowest(word)] = value;
        return;
    }
    blend(column, word, value);
}

template <class T>
bool paint(const Domain& d, const uint8_t* in, size_t size, int value, T* column) {
    auto put = [&](size_t index, uint64_t word) { paint_word(column + 64 * index, word, static_cast<T>(value)); };
    return unpack(d, in, size, put, [](size_t) {});
}

// ---- filling ----

// Each lane of a unit holds eight bytes of a column, the first one lowest. Returns the last value of each lane in all
// places of that lane.
template <class T>
inline Unit last_of_lanes(Unit v) {
    v >>= 64 - 8 * sizeof(T);
    for (size_t by = 8 * sizeof(T); by < 64; by *= 2) v |= v << by;
    return v;
}

// v(i) = v(j), j the last place <= i that is kept; where there is none, `carried`. A mask is all ones where kept.
template <class T>
inline Unit fill_unit(Unit v, Unit kept, T carried) {
    v &= kept;
    for (size_t by = 8 * sizeof(T); by < 64; by *= 2) {
        v |= (v << by) & ~kept;
        kept |= kept << by;
    }
    // A lane passes its last value to the next lane. A lane that keeps no value passes on the one it was given.
    Unit passed = last_of_lanes<T>(v), known = last_of_lanes<T>(kept);
    const auto pass = [&](Unit from, Unit from_known) {
        passed |= from & ~known;
        known |= from_known;
    };
    pass(shift_lanes<1>(passed), shift_lanes<1>(known));
    pass(shift_lanes<2>(passed), shift_lanes<2>(known));
    pass(shift_lanes<4>(passed), shift_lanes<4>(known));
    using Pattern = std::make_unsigned_t<T>;
    const Unit before = broadcast(uint64_t{static_cast<Pattern>(carried)} * (~uint64_t{0} / static_cast<Pattern>(-1)));
    const Unit entering = shift_lanes<1>(passed) | (before & ~shift_lanes<1>(known));
    return v | (entering & ~kept);
}

inline void fill_word(int8_t* at, uint64_t kept, int8_t carried) {
    Unit v;
    std::memcpy(&v, at, 64);
    v = fill_unit(v, reinterpret_cast<Unit>(bytes_of(kept)), carried);
    std::memcpy(at, &v, 64);
}

inline void fill_word(int16_t* at, uint64_t kept, int16_t carried) {
    using Marks = int8_t __attribute__((vector_size(32)));
    using WideMarks = int16_t __attribute__((vector_size(64)));
    const Bytes bytes = bytes_of(kept);
    for (int half = 0; half < 2; ++half, at += 32) {
        Marks marks;
        std::memcpy(&marks, reinterpret_cast<const uint8_t*>(&bytes) + 32 * half, 32);
        Unit v;
        std::memcpy(&v, at, 64);
        v = fill_unit(v, reinterpret_cast<Unit>(__builtin_convertvector(marks, WideMarks)), carried);
        std::memcpy(at, &v, 64);
        carried = at[31];
    }
}

// A slot that holds no position takes the value before it, so that it costs nothing to compress. The first of them take
// `carried`; returns the last value of all.
template <class T>
inline T fill_words(T* column, const uint64_t* counted, size_t words, T carried) {
    for (size_t w = 0; w < words; ++w) {
        T* const at = column + 64 * w;
        if (~counted[w]) fill_word(at, counted[w], carried);
        carried = at[63];
    }
    return carried;
}

template <class T>
void fill(T* column, const uint64_t* counted, size_t words) {
    fill_words<T>(column, counted, words, 0);
}

// ---- the sets of a value ----

// Bit i of the word: whether byte i is not zero in a vector of bytes that are all ones or zero.
inline uint64_t bits_of(Bytes mask) {
    const Unit ones = reinterpret_cast<Unit>(mask & uint8_t{1});
    const Unit packed = (ones * 0x0102040810204080) >> 56;
    uint64_t word = 0;
    for (int i = 0; i < 8; ++i) word |= packed[i] << (8 * i);
    return word;
}

template <class Keep>
inline uint64_t word_where(const int8_t* values, Keep keep) {
    using Signed = int8_t __attribute__((vector_size(64), may_alias));
    Signed v;
    std::memcpy(&v, values, 64);
    return bits_of(reinterpret_cast<Bytes>(keep(v)));
}

template <class Keep>
inline uint64_t word_where(const int16_t* values, Keep keep) {
    uint64_t word = 0;
    for (int i = 0; i < 64; ++i) word |= uint64_t{keep(values[i]) != 0} << i;
    return word;
}

template <class T>
void equal(const T* column, int value, size_t words, uint64_t* out) {
    const T wanted = static_cast<T>(value);
    const bool possible = wanted == value;
    for (size_t w = 0; w < words; ++w)
        out[w] = possible ? word_where(column + 64 * w, [&](auto v) { return v == wanted; }) : 0;
}

// won: positive values, lost: negative ones.
template <class T>
void signs(const T* column, size_t words, uint64_t* won, uint64_t* lost) {
    for (size_t w = 0; w < words; ++w) {
        won[w] = word_where(column + 64 * w, [](auto v) { return v > 0; });
        lost[w] = word_where(column + 64 * w, [](auto v) { return v < 0; });
    }
}

}  // namespace
}  // namespace kingpair::KINGPAIR_LEVEL
