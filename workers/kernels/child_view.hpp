// The values of a solved material as a domain with pawns sees them (frames.py): the child of an exit.
//
//     out(pair, place, x) = column(row, pair', map(x)) if there is such a position, else 0
//
// A place is what an exit leaves of our pawns, with the square of a pawn that it has promoted; x are the squares of our
// pieces that are left. By place the *view* says how the child is turned, and by view and pair of kings where to read:
// the pair as the child names it, one of two rows (a structure that is its own mirror image has two), and a map that
// turns the squares, puts the child's pieces in their order, and adds the promoted one. A column has all pairs of the
// child, or some consecutive ones.
//
// Where the squares of a rank have slots side by side, eight values are read at once.
//
// Cost: a byte read and a byte written for each slot of each place, whatever the child has beside.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace kingpair {

struct SeenPair {
    int32_t pair, second, map;
};

constexpr size_t PLACES_TOGETHER = 64, PAIRS_TOGETHER = 128;

// Values of a child: those of `pairs` consecutive pairs from `first` on, for each of its rows.
template <class T>
struct ChildColumn {
    const T* values;
    size_t first, pairs;
};

// How a map turns eight slots that follow each other, all of them: into such slots, or into those in reverse.
enum class Eights : uint8_t { apart, ascending, descending };

inline Eights eights_of(const uint32_t* map, size_t slots) {
    bool ascend = slots % 8 == 0, descend = ascend;
    for (size_t x = 0; x < slots; ++x) {
        const size_t first = x & ~size_t{7}, place = x & 7;
        ascend = ascend && map[x] == map[first] + place;
        descend = descend && map[x] + place == map[first];
    }
    return ascend ? Eights::ascending : descend ? Eights::descending : Eights::apart;
}

struct ChildView {
    size_t places, views, pairs;  // of ours
    size_t left;                  // slots of the pieces that are left
    size_t child_rows, child_pairs, child_slots;
    const int32_t* row;    // [place][2]
    const int32_t* view;   // by place
    const SeenPair* seen;  // [view][pair]
    const uint32_t* map;   // [map][slot of the pieces that are left]
    const Eights* eights;  // by map

    template <class T>
    void read(size_t pair, const ChildColumn<T>& column, T* out) const {
        for (size_t place = 0; place < places; ++place, out += left) {
            const SeenPair& s = seen[static_cast<size_t>(view[place]) * pairs + pair];
            const size_t at = static_cast<size_t>(row[2 * place + static_cast<size_t>(s.second)]);
            const T* const from = run_of(column, at, s);
            const uint32_t* const squares = map + static_cast<size_t>(s.map) * left;
            switch (eights[s.map]) {
                case Eights::apart:
                    for (size_t x = 0; x < left; ++x) out[x] = from[squares[x]];
                    break;
                case Eights::ascending:
                    for (size_t x = 0; x < left; x += 8) std::memcpy(out + x, from + squares[x], 8 * sizeof(T));
                    break;
                case Eights::descending:
                    for (size_t x = 0; x < left; x += 8) copy_in_reverse(from + squares[x + 7], out + x);
            }
        }
    }

    // The same for `count` pairs, each of which has `size` values in `out`. Without pieces a place is one value. A
    // child has the pairs of a structure side by side, and places that differ in the square of the promoted piece read
    // the same cache lines of it. So few enough pairs are read for a block of places that their lines stay in the
    // cache.
    template <class T>
    void read_points(const int16_t* pair, size_t count, const ChildColumn<T>& column, T* out, size_t size) const {
        for (size_t at = 0; at < count; at += PAIRS_TOGETHER) {
            const size_t some = count - at < PAIRS_TOGETHER ? count - at : PAIRS_TOGETHER;
            for (size_t first = 0; first < places; first += PLACES_TOGETHER)
                read_block(pair + at, some, column, first, out + at * size, size);
        }
    }

  private:
    template <class T>
    static void copy_in_reverse(const T* from, T* out) {
        if constexpr (sizeof(T) == 1) {
            uint64_t eight;
            std::memcpy(&eight, from, 8);
            eight = __builtin_bswap64(eight);
            std::memcpy(out, &eight, 8);
        } else {
            for (size_t i = 0; i < 8; ++i) out[i] = from[7 - i];
        }
    }

    // Values of some places for some pairs. In `out` the values of a place lie far apart, and most often in lines that
    // take each other's place in the cache: they are put together elsewhere.
    template <class T>
    void read_block(const int16_t* pair, size_t count, const ChildColumn<T>& column, size_t first, T* out,
                    size_t size) const {
        const size_t width = places - first < PLACES_TOGETHER ? places - first : PLACES_TOGETHER;
        T block[PAIRS_TOGETHER][PLACES_TOGETHER];
        for (size_t p = 0; p < width; ++p) {
            const size_t place = first + p;
            const SeenPair* const of_view = seen + static_cast<size_t>(view[place]) * pairs;
            const auto at = [&](int32_t second) { return static_cast<size_t>(row[2 * place + second]); };
            const size_t rows[2] = {at(0), at(1)};
            for (size_t i = 0; i < count; ++i) {
                const SeenPair& s = of_view[pair[i]];
                block[i][p] = run_of(column, rows[s.second], s)[map[s.map]];
            }
        }
        for (size_t i = 0; i < count; ++i) std::memcpy(out + i * size + first, block[i], width * sizeof(T));
    }

    template <class T>
    const T* run_of(const ChildColumn<T>& column, size_t structure, const SeenPair& s) const {
        const size_t run = structure * column.pairs + static_cast<size_t>(s.pair) - column.first;
        return column.values + run * child_slots;
    }
};

}  // namespace kingpair
