// The values of all positions of a Syzygy sub-table, read from our tables, and the freedom that probers leave.
//
// Probers look at captures first and take the greater of the best capture and of the file's value. So where a capture
// reaches the value of a position, the file may hold any value not greater; where the position is impossible, any value
// at all. Distances are needed where no winning capture or pawn move settles the position; a draw needs none.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "syzygy_lines.hpp"
#include "syzygy_numbering.hpp"
#include "syzygy_pairs.hpp"

namespace kingpair::syzygy {

// The results, as files number them.
constexpr int LOSS = 0, BLESSED_LOSS = 1, DRAW = 2, CURSED_WIN = 3, WIN = 4;
constexpr int CLAIM = 100;

// Where a table of ours has a position: the index is that of index/table_index.py.
struct TableRows {
    const int16_t* pair;        // [stronger king][weaker king]: the king pair
    const uint8_t* symmetry;    // [stronger king][weaker king]: the symmetry that shows the board so
    const uint8_t* turned;      // [symmetry][square]
    const int32_t* structure;   // [pawn squares]: twice the structure, plus 1 if it is mirrored; null without pawns
    const uint8_t* own_mirror;  // by structure: whether it is its own mirror image
    const int32_t* mirror;      // by structure: its image
    int pairs, pawns, axes;
    std::vector<uint8_t> like;  // by axis: whether it holds the same kind of man as the one before

    // How the table shows a board: the squares as it names them, the row of squares from which slots count, and whether
    // a position and its mirror image have the smaller of two rows.
    struct View {
        const uint8_t* board;
        uint64_t run;
        bool folded;
    };

    View view(const uint8_t* squares) const;
    uint32_t structure_of(const uint8_t* squares) const;
    bool is_own_mirror(const uint8_t* squares) const { return own_mirror[structure_of(squares) >> 1]; }

    // The row of a position. Its squares are those of the stronger king, of the weaker king, of the pawns, of the axes.
    uint64_t row(const uint8_t* squares) const;
    uint64_t row(const uint8_t* squares, const View&) const;  // in the view of these squares
};

// What a byte of a column means: the result that it is, or that of the plies that it is.
using Meaning = std::array<uint8_t, 256>;
extern const Meaning RESULTS_THEMSELVES, RESULTS_OF_PLIES;

// A table, and how its men are found among those of a position.
struct Lookup {
    TableRows rows;
    const uint8_t* results[2];   // by the side to move, the stronger first; null for bare kings, and for a side that no
                                 // move leads to
    std::vector<uint8_t> order;  // the place of each man in the position
    bool swapped;                // its stronger side is Black
    const Meaning* meaning;

    // The result of a row of a column, which is not null.
    int result_at(int side, uint64_t row) const { return (*meaning)[results[side][row]]; }
    uint64_t row(const uint8_t* squares) const;
    int result(const uint8_t* squares, int to_move) const;

    // The rows of positions that differ in the square of one man; `squares` is changed there.
    void rows_of(uint8_t* squares, size_t man, uint64_t lanes, uint64_t (&out)[64]) const;
};

struct PositionSource {
    std::vector<uint8_t> men;  // as in files
    std::vector<Group> groups;
    int file;
    const Lookup* own;
    const int16_t* plies[2];                           // of our own table, null where its results are bytes of plies
    std::vector<const Lookup*> taken;                  // by captive
    std::vector<std::vector<const Lookup*>> promoted;  // by pawn: to Q, R, B and N
    std::vector<std::vector<std::vector<const Lookup*>>> taken_promoted;  // by pawn and captive

    int plies_at(int side, uint64_t row) const {
        return plies[side] ? plies[side][row] : static_cast<int8_t>(own->results[side][row]);
    }
};

// A distance that is not needed. Others have their result in the two highest bits: win, loss, cursed, blessed.
constexpr uint16_t ANY_DISTANCE = 0xffff;
constexpr int RESULT_SHIFT = 14;

// The distance of a position that is no draw.
inline uint16_t distance_of(int value, int plies) {
    constexpr int RESULT[] = {1, 3, 0, 2, 0};
    int distance = plies > 0 ? plies : -plies - 1;
    if (value == CURSED_WIN || value == BLESSED_LOSS) distance -= CLAIM;
    return static_cast<uint16_t>(RESULT[value] << RESULT_SHIFT | distance);
}

// The results of numbers of plies.
void find_results(std::span<const int16_t> plies, std::span<uint8_t> results);

// The values from a number on, with the freedom of each; results and distances only where there is room for them.
void read_positions(const PositionSource&, int to_move, uint64_t first, std::span<uint16_t> results,
                    std::span<uint16_t> distances);

}  // namespace kingpair::syzygy
