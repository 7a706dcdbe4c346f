// Reads a FEN into the rows of tables that hold its position.
//
//     without pawns   row = king pair of 462 * 64^m + squares of the men        (slots.hpp)
//     with pawns      row = (structure * 3612 + king pair) * 64^q + squares of the q pieces
//
// workers/index/table_index.py defines both. A row has no right to capture en passant: a position with that right is
// its row without it, and the rows after each lawful capture.

#pragma once

#include <string_view>
#include <vector>

#include "few_men.hpp"
#include "slots.hpp"

namespace kingpair {

enum class Reading : uint8_t {
    good = 0,
    look_closer = 1,  // unusual or wrong: for a reader that can explain
    unlisted = 2,     // the structures of `material` are not listed yet
};

struct TableRow {
    uint64_t material;  // four bits each, from bit 39 down: P of the weaker, P of the stronger side, Q R B N of each
    int64_t row;
    uint8_t weaker_to_move;
};

struct Read {
    Reading status;
    TableRow at;
    uint8_t captures;  // lawful ones en passant
    bool only_moves;
    TableRow after[2];
};

// The tables from which the rows of positions are computed.
struct RowIndex {
    Placements turned;      // of the kings without pawns
    int16_t fixed[64][64];  // with pawns: [stronger][weaker] -> pair, -1: they touch
    // By the pawns of the stronger and of the weaker side: the keys of all structures in ascending order.
    std::vector<int64_t> structures[TABLE_MEN_MAX + 1][TABLE_MEN_MAX + 1];
};

// Fills `read`; what does not apply is undefined.
void read_fen(const RowIndex&, std::string_view fen, Read& read);

}  // namespace kingpair
