// What leaves the bitmaps: a layer as a stream of bytes (for the pass log and the exchange), and columns of values.
//
// A stream holds one partition of a layer:
//
//     u64[(rows + 63) / 64]   which rows are occupied
//     per occupied row        u64 which words, then for each of these
//                             up to FEW bits: a byte each, the bit's number, the last one with 0x80 added;
//                             else 0x40 and the eight bytes of the word
//
// Nearly all layers are nearly empty, so a position costs little more than a byte before any compression.
//
// Cost: packing and unpacking touch occupied rows and the stream, once; painting writes a byte per position.

#pragma once

#include <cstring>

#include "units.hpp"

namespace kingpair::KINGPAIR_LEVEL {
namespace {

constexpr int FEW = 6;
constexpr uint8_t LAST = 0x80, WHOLE_WORD = 0x40;

// Most words that hold anything hold one bit or two: these take no branch that could be foreseen wrongly.
inline size_t pack_word(uint64_t word, uint8_t* out) {
    const int count = count_bits(word);
    if (count > FEW) {
        *out = WHOLE_WORD;
        std::memcpy(out + 1, &word, 8);
        return 9;
    }
    out[0] = static_cast<uint8_t>(lowest(word));
    word &= word - 1;
    out[1] = static_cast<uint8_t>(lowest(word | bit(63)));
    for (int n = 2; n < count; ++n) {
        word &= word - 1;
        out[n] = static_cast<uint8_t>(lowest(word));
    }
    out[count - 1] |= LAST;
    return static_cast<size_t>(count);
}

inline size_t pack_row(const uint64_t* words, uint8_t* out) {
    uint64_t found[64], mask = 0;
    size_t count = 0;
    for (int i = 0; i < 64; ++i) {
        const bool any_here = words[i] != 0;
        found[count] = words[i];
        count += any_here;
        mask |= uint64_t{any_here} << i;
    }
    std::memcpy(out, &mask, 8);
    uint8_t* const start = out;
    out += 8;
    for (size_t i = 0; i < count; ++i) out += pack_word(found[i], out);
    return static_cast<size_t>(out - start);
}

size_t pack(const Domain& d, int pair, Layer layer, uint8_t* out) {
    const size_t rows = d.rows(), at = static_cast<size_t>(d.slot[pair]);
    const uint8_t* occupied = layer.occupied + at * rows;
    const uint64_t* words = layer.words + at * rows * 64;
    uint8_t* const start = out;
    out += 8 * ((rows + 63) / 64);
    for (size_t group = 0; group < rows; group += 64) {
        uint64_t mask = 0;
        for (size_t i = 0; i < 64 && group + i < rows; ++i) mask |= uint64_t{occupied[group + i] != 0} << i;
        std::memcpy(start + group / 8, &mask, 8);
        for (; mask; mask &= mask - 1)
            out += pack_row(words + (group + static_cast<size_t>(lowest(mask))) * 64, out);
    }
    return static_cast<size_t>(out - start);
}

// Whether a stream may name this word: with one man only the first is in use, with none only its first bit.
inline bool in_use(int men, size_t index, uint64_t word) { return men > 1 || (index == 0 && (men == 1 || word == 1)); }

// Reads one word; nothing is left of the stream where it ends too early.
inline uint64_t unpack_word(const uint8_t*& in, const uint8_t* end) {
    uint64_t word = 0;
    if (in != end && *in == WHOLE_WORD) {
        if (end - in < 9) return 0;
        std::memcpy(&word, in + 1, 8);
        in += 9;
        return word;
    }
    while (in != end) {
        word |= bit(*in & 63);
        if (*in++ & LAST) return word;
    }
    return 0;
}

// Calls put(word index, word) for the words of a stream. False if the stream does not end where it should.
template <class Put>
inline bool unpack(const Domain& d, const uint8_t* in, size_t size, Put put) {
    const size_t rows = d.rows(), groups = (rows + 63) / 64;
    const uint8_t* const end = in + size;
    if (size < 8 * groups) return false;
    const uint8_t* const masks = in;
    in += 8 * groups;
    for (size_t g = 0; g < groups; ++g) {
        uint64_t occupied;
        std::memcpy(&occupied, masks + 8 * g, 8);
        if (rows < 64 && occupied >> rows) return false;
        for (; occupied; occupied &= occupied - 1) {
            if (end - in < 8) return false;
            uint64_t mask;
            std::memcpy(&mask, in, 8);
            in += 8;
            const size_t row = (64 * g + static_cast<size_t>(lowest(occupied))) * 64;
            for (; mask; mask &= mask - 1) {
                const size_t index = row + static_cast<size_t>(lowest(mask));
                const uint64_t word = unpack_word(in, end);
                if (!word || !in_use(d.men, index, word)) return false;
                put(index, word);
            }
        }
    }
    return in == end;
}

// open -= the stream's positions, or open |= them. Marks are brought up to date by `refresh`.
bool take_out(const Domain& d, int pair, const uint8_t* in, size_t size, Layer open) {
    uint64_t* words = open.words + static_cast<size_t>(d.slot[pair]) * d.rows() * 64;
    return unpack(d, in, size, [&](size_t index, uint64_t word) { words[index] &= ~word; });
}

bool put_in(const Domain& d, int pair, const uint8_t* in, size_t size, Layer open) {
    uint64_t* words = open.words + static_cast<size_t>(d.slot[pair]) * d.rows() * 64;
    return unpack(d, in, size, [&](size_t index, uint64_t word) { words[index] |= word; });
}

void refresh(const Domain& d, int pair, Layer layer) {
    const size_t rows = d.rows(), at = static_cast<size_t>(d.slot[pair]);
    layer.live[at] = 0;
    for (size_t row = 0; row < rows; ++row) {
        unsigned mask = 0;
        for (int r = 0; r < 8; ++r) mask |= unsigned{any(unit_at(layer.words + (at * rows + row) * 64 + 8 * r))} << r;
        layer.occupied[at * rows + row] = static_cast<uint8_t>(mask);
        layer.live[at] += mask != 0;
    }
}

bool restore(const Domain& d, int pair, const uint8_t* in, size_t size, Layer layer) {
    const size_t rows = d.rows(), at = static_cast<size_t>(d.slot[pair]);
    uint64_t* words = layer.words + at * rows * 64;
    std::memset(words, 0, rows * 512);
    bool sound = unpack(d, in, size, [&](size_t index, uint64_t word) { words[index] = word; });
    refresh(d, pair, layer);
    return sound;
}

// ---- columns of values --------------------------------------------------------------------------------------------

// All ones in byte i where bit i of the word is set.
inline Bytes bytes_of(uint64_t word) {
    Bytes b = reinterpret_cast<Bytes>(broadcast(word));
    b = __builtin_shufflevector(b, b, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 18, 18, 18, 18, 18, 18, 18, 18, 19,
                                19, 19, 19, 19, 19, 19, 19, 36, 36, 36, 36, 36, 36, 36, 36, 37, 37, 37, 37, 37, 37, 37,
                                37, 54, 54, 54, 54, 54, 54, 54, 54, 55, 55, 55, 55, 55, 55, 55, 55);
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
    return unpack(d, in, size,
                  [&](size_t index, uint64_t word) { paint_word(column + 64 * index, word, static_cast<T>(value)); });
}

// A slot that holds no position takes the value before it, so that it costs nothing to compress.
template <class T>
void fill(T* column, const uint64_t* counted, size_t words) {
    T carried = 0;
    for (size_t w = 0; w < words; ++w) {
        T* const at = column + 64 * w;
        const uint64_t kept = counted[w];
        for (uint64_t holes = ~kept; holes;) {
            const int first = lowest(holes);
            const uint64_t from_first = holes >> first;
            const int length = ~from_first ? lowest(~from_first) : 64 - first;
            const T value = first ? at[first - 1] : carried;
            for (int i = first; i < first + length; ++i) at[i] = value;
            if (first + length >= 64) break;
            holes &= ~uint64_t{0} << (first + length);
        }
        carried = at[63];
    }
}

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
