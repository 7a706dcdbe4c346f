// A partition painted: all layers of both analyses into the columns of both sides to move.
//
//     column(x) = value of the layer that has x, else 0 (a draw)      x a position
//     column(x) = column(x - 1)                                       x no position
//
// Columns are painted 64 rows at a time, by every layer in turn, so that they are in the cache until they are done.
//
// Cost: every stream is read once, every byte of the columns is written three times in the nearest cache.

#pragma once

#include "invariants.hpp"
#include "values.hpp"

namespace kingpair::KINGPAIR_LEVEL {
namespace {

// Reads a word's bytes from a stream and paints the slots that they name. Returns false if the domain has no such word.
template <class T>
inline bool paint_encoded(const Domain& d, size_t index, const uint8_t*& in, const uint8_t* end, T value, T* column) {
    if (d.men > 1 && end - in >= 9) {
        uint64_t bytes;
        std::memcpy(&bytes, in, 8);
        const uint64_t lasts = bytes & 0x808080808080;
        if (lasts && *in != WHOLE_WORD) {
            // No branch on their number: the bytes behind the last one are replaced by the first.
            const uint64_t behind = ~(lasts ^ (lasts - 1));
            const uint64_t named = (bytes & ~behind) | ((bytes & 255) * 0x0101010101010101 & behind);
            in += lowest(lasts) / 8 + 1;
            for (int i = 0; i < FEW; ++i) column[named >> (8 * i) & 63] = value;
            return true;
        }
    }
    const uint64_t word = unpack_word(in, end);
    if (!word || !in_use(d, index, word)) return false;
    paint_word(column, word, value);
    return true;
}

// Paints a group of 64 rows with the streams of one side. Returns false if one of them is not a stream.
template <class T>
inline bool paint_group(const Part& p, size_t group, int side, PaintedStream* streams, size_t count, T* column) {
    for (PaintedStream* stream = streams; stream != streams + count; ++stream) {
        if (stream->side != side) continue;
        KINGPAIR_INVARIANT(stream->read <= stream->size, "a stream is read no further than it goes");
        const T value = static_cast<T>(stream->value);
        KINGPAIR_INVARIANT(value == stream->value, "a value fits the column");
        auto paint_next = [&](size_t index, const uint8_t*& in, const uint8_t* end) {
            return paint_encoded(p.d, index, in, end, value, column + 64 * index);
        };
        StreamReader reader(p.rows, stream->bytes, stream->size, stream->read);
        if (!reader.group(group, paint_next, [](size_t) {})) return false;
        stream->read = reader.read();
        if (64 * (group + 1) >= p.rows && !reader.is_over()) return false;
    }
    return true;
}

// Fills the slots of a row that hold no position. Returns how many hold one; `gathered` are the attacks.
template <class T>
inline uint64_t fill_row(const Part& p, size_t row, uint64_t* gathered, const uint64_t* canonical, T* column,
                         T& carried) {
    const RowSquares squares(p.d, row, p.kings);
    alignas(64) uint64_t positions[64];
    uint64_t counted = 0;
    for (int r = 0; r < 8; ++r) {
        const Unit v = apart(p, row, squares, r) & ~unit(gathered, row, r) & unit_at(canonical + row * 64 + 8 * r);
        unit(positions, 0, r) = v;
        counted += popcount(v);
    }
    carried = fill_words(column, positions, words_in_use(p.d), carried);
    return counted;
}

// Paints and fills both columns of a partition, and counts the positions of each side, one of each orbit. Returns false
// if one of the streams is not a stream.
template <class T>
bool paint_partition(const Domain& d, int pair, PaintedStream* streams, size_t count, const uint64_t* canonical,
                     T* const (&column)[2], uint64_t (&counted)[2], Scratch s) {
    const Part p(d, pair);
    check_scratch(p, s);
    KINGPAIR_INVARIANT(is_aligned(canonical), "the masks of canonical slots are aligned");
    const size_t slots_of_row = words_in_use(d) ? 64 * words_in_use(d) : 1;
    bool sound = true;
    for (int side = STRONGER; side <= WEAKER; ++side) {
        attacks(p, side, s, {s.set, s.set_touched});
        counted[side] = 0;
        T carried = 0;
        for (size_t group = 0; 64 * group < p.rows && sound; ++group) {
            const size_t first = 64 * group, last = first + 64 < p.rows ? first + 64 : p.rows;
            std::memset(column[side] + first * slots_of_row, 0, (last - first) * slots_of_row * sizeof(T));
            sound = paint_group(p, group, side, streams, count, column[side]);
            for (size_t row = first; row < last; ++row)
                counted[side] +=
                    fill_row(p, row, s.set, p.canonical(canonical), column[side] + row * slots_of_row, carried);
        }
        clear(s.set, s.set_touched, p.rows);
    }
    return sound;
}

}  // namespace
}  // namespace kingpair::KINGPAIR_LEVEL
