// Reads a FEN of Chinese chess into the row of a table that holds its position.
//
//     row = block * slots of a block + placement * squares of each free man + ...
//
// workers/index/blocks.py defines it; blocks and placements are numbered as workers/index/frame.py says. Nothing is
// given to this kernel: it derives the numbers of all placements once.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kingpair::xiangqi {

constexpr int LETTERS_OF_FEN = 7;  // R N C P A B K

// A board of FEN: the squares of each side's men by letter. White is 0.
struct FenBoard {
    int8_t colour[90];  // -1 on empty squares
    int count[2][LETTERS_OF_FEN];
    uint8_t square[2][LETTERS_OF_FEN][5];

    // The number of characters read, or 0 if the text is unusual or a man stands where it never stands.
    size_t read(std::string_view fen);
    // Whether the colour's king can be taken, or sees the other king.
    bool in_check(int colour) const;
};

struct BoardRow {
    uint64_t material;  // four bits each of R N C P A B, stronger side first, and bit 62; 0 for bare kings
    int64_t row;
    uint8_t weaker_to_move;
};

// False if the men are too many for any table.
bool find_row(const FenBoard&, int to_move, BoardRow& found);

}  // namespace kingpair::xiangqi
