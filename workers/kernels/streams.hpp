// A layer as a stream of bytes, for the pass log and the exchange. A stream holds one partition of a layer:
//
//     u64[(rows + 63) / 64]   which rows are occupied
//     per occupied row        u64 which words, then for each of these
//                             up to FEW bits: a byte each, the bit's number, the last one with 0x80 added;
//                             else 0x40 and the eight bytes of the word
//
// Nearly all layers are nearly empty, so a position costs little more than a byte before any compression.
//
// Cost: packing and unpacking touch occupied rows and the stream, once.

#pragma once

#include <cstring>

#include "units.hpp"

namespace kingpair::KINGPAIR_LEVEL {
namespace {

constexpr int FEW = 6;
constexpr uint8_t LAST = 0x80, WHOLE_WORD = 0x40;

// For each of the eight words of a unit its bit in the mask of occupied words, or 0.
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

// Packs a word without a branch on the number of its bits, which cannot be predicted: it always takes FEW steps and
// writes nine bytes. The next word overwrites the bytes that are not needed.
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
    const size_t rows = d.rows(), at = place_in(d, pair);
    const uint8_t* occupied = layer.occupied + at * rows;
    const uint64_t* words = layer.words + at * rows * 64;
    uint8_t* const start = out;
    out += 8 * ((rows + 63) / 64);
    for (size_t group = 0; group < rows; group += 64) {
        uint64_t mask = 0;
        for (size_t i = 0; i < 64 && group + i < rows; ++i) mask |= uint64_t{occupied[group + i] != 0} << i;
        std::memcpy(start + group / 8, &mask, 8);
        for (; mask; mask &= mask - 1) out += pack_row(words + (group + static_cast<size_t>(lowest(mask))) * 64, out);
    }
    return static_cast<size_t>(out - start);
}

// The words of a row that hold whole slots: without pawns of one man the first, of none not even that.
inline size_t words_in_use(const Domain& d) { return d.men > 1 || d.fixed ? 64 : static_cast<size_t>(d.men); }

// Whether a stream may name this word: with one man only the first is in use, with none only its first bit.
inline bool in_use(const Domain& d, size_t index, uint64_t word) {
    if (d.men > 0) return d.men > 1 || index < d.structures.count;
    const size_t first = 64 * index, count = d.structures.count;
    return first < count && (count - first >= 64 || !(word >> (count - first)));
}

// The bits that eight bytes name.
inline uint64_t bits_named(uint64_t bytes) {
    using Eight = uint8_t __attribute__((vector_size(8)));
    const Unit named = __builtin_convertvector(reinterpret_cast<Eight>(bytes), Unit) & 63;
    const Unit bits = broadcast(1) << named;
    uint64_t word = 0;
    for (int i = 0; i < 8; ++i) word |= bits[i];
    return word;
}

// Reads one word. Returns 0 if the stream ends too early.
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
            // No branch on their number: the bytes behind the last one are replaced by the first.
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

// Reads a stream from its beginning to its end, 64 rows at a time.
class StreamReader {
  public:
    // Goes on where `read` bytes have been read, from the beginning if none.
    StreamReader(size_t rows, const uint8_t* stream, size_t size, size_t read = 0)
        : rows_(rows), stream_(stream), in_(stream + read), end_(stream + size) {
        const size_t directory = 8 * ((rows + 63) / 64);
        is_sound_ = size >= directory;
        if (is_sound_ && !read) in_ += directory;
    }

    // Calls read(word index, in, end) for the words of a group of rows: it takes a word's bytes from `in` and says
    // whether the word may be there. Calls done(row) after the words of a row. False if the stream is none.
    template <class Read, class Done>
    bool group(size_t g, Read read, Done done) {
        if (!is_sound_) return false;
        uint64_t occupied;
        std::memcpy(&occupied, stream_ + 8 * g, 8);
        if (rows_ < 64 && occupied >> rows_) return false;
        for (; occupied; occupied &= occupied - 1) {
            if (end_ - in_ < 8) return false;
            uint64_t mask;
            std::memcpy(&mask, in_, 8);
            in_ += 8;
            const size_t row = 64 * g + static_cast<size_t>(lowest(occupied));
            for (; mask; mask &= mask - 1)
                if (!read(row * 64 + static_cast<size_t>(lowest(mask)), in_, end_)) return false;
            done(row);
        }
        return true;
    }

    size_t read() const { return static_cast<size_t>(in_ - stream_); }
    bool is_over() const { return in_ == end_; }

  private:
    size_t rows_;
    bool is_sound_;
    const uint8_t *stream_, *in_, *end_;
};

// Calls put(word index, word) for the words of a stream, and done(row) after those of a row. False if the stream does
// not end where it should.
template <class Put, class Done>
inline bool unpack(const Domain& d, const uint8_t* in, size_t size, Put put, Done done) {
    StreamReader reader(d.rows(), in, size);
    auto read = [&](size_t index, const uint8_t*& at, const uint8_t* end) {
        const uint64_t word = unpack_word(at, end);
        if (!word || !in_use(d, index, word)) return false;
        put(index, word);
        return true;
    };
    for (size_t g = 0; g < (d.rows() + 63) / 64; ++g)
        if (!reader.group(g, read, done)) return false;
    return reader.is_over();
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
        : words(layer.words + place_in(d, pair) * d.rows() * 64),
          occupied(layer.occupied + place_in(d, pair) * d.rows()),
          live(layer.live[place_in(d, pair)]),
          rows(d.rows()) {}

    Unit& unit(size_t row, int rank) const { return *reinterpret_cast<Unit*>(words + row * 64 + 8 * rank); }

    void mark(size_t row, unsigned units) const {
        live += units && !occupied[row];
        live -= !units && occupied[row];
        occupied[row] = static_cast<uint8_t>(units);
    }

    // For a set that is valid in every row.
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

    // The former bits of the row are lost.
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

// Marks the occupied units of a set that is valid in every row.
void refresh(const Domain& d, int pair, Layer layer) {
    const Marked set(d, pair, layer);
    set.forget();
    for (size_t row = 0; row < set.rows; ++row) {
        unsigned units = 0;
        for (int r = 0; r < 8; ++r) units |= unsigned{any(set.unit(row, r))} << r;
        set.mark(row, units);
    }
}

}  // namespace
}  // namespace kingpair::KINGPAIR_LEVEL
