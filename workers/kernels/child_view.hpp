// The values of a solved material as a domain with pawns sees them (frames.py): the child of an exit.
//
//     out(pair, place, x) = column(row, pair', map(x)) if there is such a position, else 0
//
// A place is what an exit leaves of our pawns, with the square of a pawn that it has promoted; x are the squares of our
// pieces that are left. By place the *view* says how the child is turned, and by view and pair of kings where to read:
// the pair as the child names it, one of two rows (a structure that is its own mirror image has two), and a map that
// turns the squares, puts the child's pieces in their order, and adds the promoted one.
//
// Cost: a byte read and a byte written for each slot of each place, whatever the child has beside.

#pragma once

#include <cstddef>
#include <cstdint>

namespace kingpair {

struct SeenPair {
    int32_t pair, second, map;
};

constexpr size_t PLACES_TOGETHER = 64;

struct ChildView {
    size_t places, views, pairs;  // of ours
    size_t left;                  // slots of the pieces that are left
    size_t child_rows, child_pairs, child_slots;
    const int32_t* row;    // [place][2]
    const int32_t* view;   // by place
    const SeenPair* seen;  // [view][pair]
    const uint32_t* map;   // [map][slot of the pieces that are left]

    template <class T>
    void read(size_t pair, const T* column, T* out) const {
        for (size_t place = 0; place < places; ++place, out += left) {
            const SeenPair& s = seen[static_cast<size_t>(view[place]) * pairs + pair];
            const size_t at = static_cast<size_t>(row[2 * place + static_cast<size_t>(s.second)]);
            const T* const from = column + (at * child_pairs + static_cast<size_t>(s.pair)) * child_slots;
            const uint32_t* const squares = map + static_cast<size_t>(s.map) * left;
            for (size_t x = 0; x < left; ++x) out[x] = from[squares[x]];
        }
    }

    // The same for `count` pairs, each of which has `size` values in `out`. Without pieces a place is one value: a
    // child has neighbouring places side by side, and those of the next pair behind them, so a block of places is read
    // for all pairs in turn.
    template <class T>
    void read_points(const int16_t* pair, size_t count, const T* column, T* out, size_t size) const {
        for (size_t first = 0; first < places; first += PLACES_TOGETHER) {
            const size_t last = first + PLACES_TOGETHER < places ? first + PLACES_TOGETHER : places;
            for (size_t i = 0; i < count; ++i)
                for (size_t place = first; place < last; ++place) {
                    const SeenPair& s = seen[static_cast<size_t>(view[place]) * pairs + static_cast<size_t>(pair[i])];
                    const size_t at = static_cast<size_t>(row[2 * place + static_cast<size_t>(s.second)]);
                    out[i * size + place] = column[(at * child_pairs + static_cast<size_t>(s.pair)) * child_slots +
                                                   map[static_cast<size_t>(s.map)]];
                }
        }
    }
};

}  // namespace kingpair
