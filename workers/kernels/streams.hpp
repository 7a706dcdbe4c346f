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

// Which of the eight words of a unit hold anything, as a number for each of its lanes to be put together.
inline Unit named(const uint64_t* words, int rank) {
    constexpr Unit first = {1, 2, 4, 8, 16, 32, 64, 128};
    return reinterpret_cast<Unit>(unit_at(words) != Unit{}) & (first << (8 * rank));
}

inline uint64_t held_words(const uint64_t* words) {
    Unit sum{};
    for (int r = 0; r < 8; ++r) sum |= named(words + 8 * r, r);
    uint64_t mask = 0;
    for (int i = 0; i < 8; ++i) mask |= sum[i];
    return mask;
}

// Always as many steps as few bits may take, and nine bytes: how many bits there are cannot be foreseen. What is too
// much is written over by the next word.
inline size_t pack_word(uint64_t word, uint8_t* out) {
    const int count = count_bits(word);
    uint64_t bytes = 0, rest = word;
    for (int n = 0; n < FEW; ++n) {
        bytes |= static_cast<uint64_t>(lowest(rest | bit(63))) << (8 * n);
        rest &= rest - 1;
    }
    bytes |= uint64_t{LAST} << (8 * (count - 1) & 63);
    const bool is_few = count <= FEW;
    bytes = is_few ? bytes : WHOLE_WORD | word << 8;
    std::memcpy(out, &bytes, 8);
    out[8] = static_cast<uint8_t>(word >> 56);
    return is_few ? static_cast<size_t>(count) : 9;
}

inline size_t pack_row(const uint64_t* words, uint8_t* out) {
    const uint64_t mask = held_words(words);
    std::memcpy(out, &mask, 8);
    uint8_t* const start = out;
    out += 8;
    for (uint64_t rest = mask; rest; rest &= rest - 1) out += pack_word(words[lowest(rest)], out);
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

// The bits that eight bytes name.
inline uint64_t bits_named(uint64_t bytes) {
    using Eight = uint8_t __attribute__((vector_size(8)));
    const Unit named = __builtin_convertvector(reinterpret_cast<Eight>(bytes), Unit) & 63;
    const Unit bits = broadcast(1) << named;
    uint64_t word = 0;
    for (int i = 0; i < 8; ++i) word |= bits[i];
    return word;
}

// Reads one word; nothing is left of the stream where it ends too early.
inline uint64_t unpack_word(const uint8_t*& in, const uint8_t* end) {
    uint64_t word = 0;
    if (in != end && *in == WHOLE_WORD) {
        if (end - in < 9) return 0;
        std::memcpy(&word, in + 1, 8);
        in += 9;
        return word;
    }
    if (end - in >= 8) {
        uint64_t bytes;
        std::memcpy(&bytes, in, 8);
        if (const uint64_t lasts = bytes & 0x8080808080808080) {
            // How many there are takes no branch: those behind the last are made to repeat the first.
            const uint64_t behind = ~(lasts ^ (lasts - 1));
            in += lowest(lasts) / 8 + 1;
            return bits_named((bytes & ~behind) | ((bytes & 255) * 0x0101010101010101 & behind));
        }
    }
    while (in != end) {
        word |= bit(*in & 63);
        if (*in++ & LAST) return word;
    }
    return 0;
}

// Calls put(word index, word) for the words of a stream, and done(row) after those of a row. False if the stream does
// not end where it should.
template <class Put, class Done>
inline bool unpack(const Domain& d, const uint8_t* in, size_t size, Put put, Done done) {
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
            const size_t row = 64 * g + static_cast<size_t>(lowest(occupied));
            for (; mask; mask &= mask - 1) {
                const size_t index = row * 64 + static_cast<size_t>(lowest(mask));
                const uint64_t word = unpack_word(in, end);
                if (!word || !in_use(d.men, index, word)) return false;
                put(index, word);
            }
            done(row);
        }
    }
    return in == end;
}

// Calls put(row, words, units) for the rows of a stream: all words of the row, and which of its units hold any.
template <class Put>
inline bool unpack_rows(const Domain& d, const uint8_t* in, size_t size, Put put) {
    alignas(64) uint64_t words[64] = {};
    unsigned units = 0;
    auto add = [&](size_t index, uint64_t word) {
        words[index & 63] = word;
        units |= 1u << (index >> 3 & 7);
    };
    auto done = [&](size_t row) {
        put(row, words, units);
        for (; units; units &= units - 1) *reinterpret_cast<Unit*>(words + 8 * lowest(units)) = Unit{};
    };
    return unpack(d, in, size, add, done);
}

// One partition of a layer, with its marks.
struct Marked {
    uint64_t* words;
    uint8_t* occupied;
    uint32_t& live;
    size_t rows;

    Marked(const Domain& d, int pair, Layer layer)
        : words(layer.words + static_cast<size_t>(d.slot[pair]) * d.rows() * 64),
          occupied(layer.occupied + static_cast<size_t>(d.slot[pair]) * d.rows()),
          live(layer.live[d.slot[pair]]),
          rows(d.rows()) {}

    Unit& unit(size_t row, int rank) const { return *reinterpret_cast<Unit*>(words + row * 64 + 8 * rank); }

    void mark(size_t row, unsigned units) const {
        live += units && !occupied[row];
        live -= !units && occupied[row];
        occupied[row] = static_cast<uint8_t>(units);
    }

    // Of a set that is valid in every row.
    void take_out(size_t row, const uint64_t* out, unsigned units) const {
        unsigned left = occupied[row];
        for (; units; units &= units - 1) {
            const int r = lowest(units);
            unit(row, r) &= ~unit_at(out + 8 * r);
            if (!any(unit(row, r))) left &= ~(1u << r);
        }
        mark(row, left);
    }

    void put_in(size_t row, const uint64_t* in, unsigned units) const {
        mark(row, occupied[row] | units);
        for (; units; units &= units - 1) unit(row, lowest(units)) |= unit_at(in + 8 * lowest(units));
    }

    // Whatever was in the row is forgotten.
    void replace(size_t row, const uint64_t* in, unsigned units) const {
        for (int r = 0; r < 8; ++r) unit(row, r) = unit_at(in + 8 * r);
        mark(row, units);
    }

    void forget() const {
        std::memset(occupied, 0, rows);
        live = 0;
    }
};

// open -= the stream's positions.
bool take_out(const Domain& d, int pair, const uint8_t* in, size_t size, Layer open) {
    const Marked left(d, pair, open);
    return unpack_rows(d, in, size, [&](auto... row) { left.take_out(row...); });
}

// open |= the stream's positions.
bool put_in(const Domain& d, int pair, const uint8_t* in, size_t size, Layer open) {
    const Marked all(d, pair, open);
    return unpack_rows(d, in, size, [&](auto... row) { all.put_in(row...); });
}

// layer = the stream's positions;  less -= these, if it is given. Rows that the stream does not name are not touched.
bool restore(const Domain& d, int pair, const uint8_t* in, size_t size, Layer layer, Layer less) {
    const Marked restored(d, pair, layer);
    restored.forget();
    if (!less.words) return unpack_rows(d, in, size, [&](auto... row) { restored.replace(row...); });
    const Marked left(d, pair, less);
    return unpack_rows(d, in, size, [&](auto... row) {
        restored.replace(row...);
        left.take_out(row...);
    });
}

// Marks of a set that is valid in every row.
void refresh(const Domain& d, int pair, Layer layer) {
    const Marked set(d, pair, layer);
    set.forget();
    for (size_t row = 0; row < set.rows; ++row) {
        unsigned units = 0;
        for (int r = 0; r < 8; ++r) units |= unsigned{any(set.unit(row, r))} << r;
        set.mark(row, units);
    }
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
    auto put = [&](size_t index, uint64_t word) { paint_word(column + 64 * index, word, static_cast<T>(value)); };
    return unpack(d, in, size, put, [](size_t) {});
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
