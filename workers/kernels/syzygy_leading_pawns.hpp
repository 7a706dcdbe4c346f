// How a Syzygy file numbers the placings of the pawns that lead.
//
// The outermost pawn leads: file a before b, then the lower rank; mirror images are equal. The board is mirrored so
// that it stands on a file a to d, each of which has a sub-table. Numbers go by the leader, and then by the set of the
// others, which stand behind the leader in that order.

#pragma once

#include <cstdint>

namespace kingpair::syzygy {

// How many placings of so many pawns have their leader on this file.
uint64_t placings_of_pawns(int pawns, int file);

// The file a to d, 0 to 3, of the pawn that leads these.
int leading_file(const uint8_t* pawns, int count);

// Puts the leader first and the others in the order of their numbers, and mirrors all men if the leader asks for it.
void arrange_pawns(uint8_t* squares, int pawns, int men);

// The number of arranged pawns among the placings of their leader's file, and back.
uint64_t number_of_pawns(const uint8_t* squares, int pawns);
void place_pawns(uint64_t number, int file, int pawns, uint8_t* squares);

}  // namespace kingpair::syzygy
