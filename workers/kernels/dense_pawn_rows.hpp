// The strips of a dense block of a table with pawns: which rows hold a position, and the class of each.
//
// The kings and the pieces stand on axes: the stronger king, the weaker king, the pieces in the order of the table. In
// a strip all men stand still but the last one, who has the square of the lane. Without pieces he is the weaker king.

#pragma once

#include <vector>

#include "dense_rows.hpp"
#include "verify_pawns.hpp"

namespace kingpair::dense {

constexpr int NO_STEPS = 6;  // a side has no pawn

// The pawns of a structure.
struct Placing {
    verify::Pawns on;
    uint64_t attacked[2];
    std::vector<uint8_t> square;  // the stronger side's pawns first
    bool is_symmetric;            // the mirror image has the same files
    int steps[2];                 // that the foremost pawn of a side has to go to the last rank but one
    int leader;                   // the square of the foremost pawn of both sides
    int steps_of_leader;
};

// Where a column with pawns has its blocks on the board.
struct PawnGeometry {
    verify::Men pieces;
    int to_move;
    int pawns[2];
    std::vector<Placing> structures;

    // `squares` lists the pawns of each structure, the stronger side's first.
    PawnGeometry(const verify::Men&, int to_move, int stronger, int weaker, const uint8_t* squares, size_t structures);

    int men() const { return pieces.count + pawns[0] + pawns[1]; }
    int last() const { return 1 + pieces.count; }  // the axis of the lane
    size_t classes() const { return size_t{1} << (2 * men() + 1); }
    size_t structure_rows() const { return verify::FIXED_PAIRS * pieces.slots(); }
    size_t rows() const { return structures.size() * structure_rows(); }
    size_t blocks() const { return (rows() + BLOCK - 1) / BLOCK; }
    size_t rows_of(size_t block) const { return std::min(BLOCK, rows() - block * BLOCK); }
    size_t rows_filled() const { return structure_rows(); }
    bool is_bishop(int axis) const { return axis >= 2 && pieces.man[axis - 2].kind == verify::Kind::bishop; }
};

struct Strip {
    Row row;         // the lanes that hold a position, and their classes
    uint64_t lanes;  // that have a row in the block
    size_t first;    // the place of the first of these rows in the block
    const Placing* placing;
    uint8_t square[verify::AXES_MAX];  // of all men but the last one
};

// Makes the strips of a block, one by one.
class Strips {
  public:
    Strips(const PawnGeometry&, size_t block);
    bool next(Strip&);  // false: there are no more

  private:
    const PawnGeometry& geometry_;
    size_t begin_, row_, end_;
};

}  // namespace kingpair::dense
