// How a Syzygy file numbers positions.
//
// The men of a sub-table stand in an order of their own and fall into groups. A group has a digit; the digits make a
// number in a mixed radix. The first group leads:
//
//     THREE    three men that are single: 31,332 placings, the board turned by one of eight symmetries
//     KINGS    the two kings, where fewer men are single: 462 placings, turned likewise
//     PAWNS    the pawns of one side; the outermost of them picks one of four sub-tables, the board is mirrored to
//     files a-d
//
// The others are OTHER_PAWNS, the pawns of the other side, and LIKE, like pieces on the squares that are left. Such a
// digit is the place of a set of squares among all sets of that size, in colexicographic order.
//
// All tables here are derived from this description.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kingpair::syzygy {

enum class GroupKind : uint8_t { THREE, KINGS, PAWNS, OTHER_PAWNS, LIKE };

struct Group {
    GroupKind kind;
    uint8_t first, men;  // its men are first, first + 1, ...
    uint64_t factor;     // the weight of its digit

    uint64_t last() const { return first + men; }
};

constexpr int MEN_MAX = 7;
constexpr uint64_t NOWHERE = ~uint64_t{0};

// How many sets of k among n there are.
uint64_t choose(int n, int k);

// How many values the digit of a group has; `before` men stand already, `file` is that of the leading pawn.
uint64_t placings(GroupKind, int men, int before, int file);

// The number of a position. It reorders the squares and turns the board; kings that touch have no number.
uint64_t number_of(const std::vector<Group>&, int men, uint8_t* squares);

// The digit of like men: the place of their squares among those that the men before leave free. Sorts the squares.
uint64_t digit_of_set(uint8_t* squares, const Group&);

// The squares of the men from a number less than that of all positions.
void squares_of(const std::vector<Group>&, int file, uint64_t number, uint8_t* squares);

// The digits of a number, by group, and the squares that they stand for. Men of groups before `from` stand already.
void digits_of(const std::vector<Group>&, int file, uint64_t number, uint64_t* digits);
void place_digits(const std::vector<Group>&, int file, const uint64_t* digits, uint8_t* squares, size_t from = 0);

}  // namespace kingpair::syzygy
