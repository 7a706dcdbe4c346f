// Chinese chess as its kernels see it: the frame (kings, advisors, elephants), the free men, and where a slot lies.
//
// A partition is a block: a placement of the weaker side's frame, of two mirror images the smaller. A block holds all
// placements of the stronger side's frame, one after the other, and for each of them the squares of the free men:
//
//     placement = the stronger side's king, advisors and elephants     `rows_each` rows
//     outer     = the squares of the free men but for the last two      `lane_rows` rows
//     lane      = the square of the last free man but one               eight lanes are two units of a row
//     bit       = the square of the last free man: 45 bits of each unit, ranks 0 to 4 in the first, 5 to 9 in the
//                 second
//
// Squares are file + 9 * rank, the stronger side below. With one free man there is one lane, with none a single bit.
//
// To the kernels that are shared with chess (streams, open sets, painting) a block looks like as many structures of
// two men as it has rows: they know rows of 64 words, and nothing of squares.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kingpair::xiangqi {

constexpr int SQUARES = 90;
constexpr int HALF = 45;  // bits of a word
constexpr int FREE_MAX = 4;
constexpr uint8_t NOWHERE = 255;
constexpr int LETTERS = 2;  // of frame men that can be taken: advisor, elephant

enum class FreeKind : uint8_t { rook, horse, cannon, pawn };

struct FreeMan {
    FreeKind kind;
    uint8_t side;
    bool operator==(const FreeMan&) const = default;
};

struct Board {
    uint64_t half[2];

    bool has(int square) const { return half[square / HALF] >> (square % HALF) & 1; }
    void set(int square) { half[square / HALF] |= uint64_t{1} << (square % HALF); }
    bool any() const { return (half[0] | half[1]) != 0; }
};

// A move of a frame man: to which placement of its side, seen mirrored or not, and the squares that matter.
struct FrameMove {
    int16_t placement;
    bool mirrored;
    uint8_t to;
    uint8_t eye;  // of an elephant, else NOWHERE
};

// A frame man that can be taken: the placement without him, among those of the smaller material, and his square.
struct Captive {
    int16_t placement;
    bool mirrored;
    uint8_t square;
};

// One side's placements: of the weaker side the smaller of two mirror images, of the stronger side all.
struct SidePlacements {
    std::vector<Board> standing;
    std::vector<uint8_t> king;
    std::vector<std::vector<FrameMove>> moves;
    std::vector<std::vector<Captive>> captives[LETTERS];
};

// The free men, and where their squares lie inside a placement.
struct Axes {
    int men = 0;
    FreeMan man[FREE_MAX] = {};
    int count[FREE_MAX] = {};                // squares of each man
    uint8_t square[FREE_MAX][SQUARES] = {};  // by index
    int16_t index[FREE_MAX][SQUARES] = {};   // by square, -1 where it never stands
    size_t outer = 1;                        // placings of the outer men
    size_t lane_rows = 1;
    size_t rows = 1;   // of a placement
    size_t slots = 1;  // of a placement
    Board bits = {};   // squares of the last man
    std::vector<int32_t> bit_of_slot, slot_of_bit;
    std::vector<uint64_t> lane_board;  // by lane its own square: as a set holds it, for one outer placing

    void add(FreeMan man, const std::vector<uint8_t>& squares);
    void finish();

    int lanes() const { return men > 1 ? count[men - 2] : 1; }
    int outers() const { return men > 2 ? men - 2 : 0; }
    bool is_bit(int axis) const { return axis == men - 1; }

    // Of the lower word; the upper one lies eight words on.
    static size_t word_of_lane(size_t lane) { return lane / 8 * 16 + lane % 8; }
    size_t word(size_t outer_placing, size_t lane) const { return outer_placing * lane_rows * 64 + word_of_lane(lane); }
};

struct Frame {
    SidePlacements side[2];
    std::vector<uint16_t> mirrored;       // of the stronger side's placements
    size_t inner = 0;                     // how many of these there are
    size_t smaller_inner[LETTERS] = {};   // without one of its advisors or elephants
    size_t smaller_blocks[LETTERS] = {};  // of the weaker side's without one
    size_t blocks = 0;
    Axes axes;
    std::vector<Axes> without;  // one of the free men
    size_t slots = 0;           // of a block, padded

    size_t rows() const { return inner * axes.rows; }
};

}  // namespace kingpair::xiangqi
