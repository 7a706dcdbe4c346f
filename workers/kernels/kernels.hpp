// What the kernels are given, and the table of entry points that each instruction-set level fills in.
//
// A set of positions of one side to move is, for each partition (king pair), 64^m bits: m men besides the kings,
// the last man the bit inside a 64-bit word, the last but one the word inside a row, the others the row.
//
//     row  = the squares of the outer men, first man most significant        64^(m-2) rows
//     unit = one rank of the lane man: eight words, one vector register      8 units a row
//     word = one square of the lane man                                      64 words a row
//     bit  = one square of the bit man                                       64 bits a word
//
// With one man (m = 1) the row has a single word in use and no lane man; with none, a single bit.
//
// A `Layer` is sparse: `occupied` has a byte per row with a bit per unit. Invariant: a row whose byte is zero is
// undefined, any other row is valid in all its eight units. So nobody ever clears a layer. Of a partition that is
// not live the bytes are undefined too, unless it is one that the steps write: a copy of another worker's is emptied
// by one store. An `Open` set is dense and always valid, and its bytes say which units still hold a bit.

#pragma once

#include <cstddef>
#include <cstdint>

namespace kingpair {

constexpr int MEN_AXES_MAX = 4;  // men besides the kings
constexpr int PAIRS_MAX = 462;

enum class Kind : uint8_t { queen, rook, bishop, knight };
enum Side : int { STRONGER = 0, WEAKER = 1 };

struct Man {
    Kind kind;
    uint8_t side;
};

// The most bytes that a partition of a layer packs into.
constexpr size_t packed_max(size_t rows) { return rows / 8 + 8 + rows * (8 + 64 * 9) + 8; }

// A king's step from a partition: into `pair`, whose frame shows square s of ours as symmetry(s).
struct Step {
    int16_t pair;
    uint8_t symmetry;
    uint8_t to;  // the square stepped to, in the frame stepped from
};

struct Steps {
    int count;
    Step step[8];
};

// The men of a material and the partitions of the board: all that a kernel knows of chess.
struct Domain {
    int men;
    Man man[MEN_AXES_MAX];
    int pairs;
    uint8_t king[2][PAIRS_MAX];  // by side
    Steps steps[2][PAIRS_MAX];   // by side
    int16_t slot[PAIRS_MAX];     // where a partition lies in the arrays, -1 where it is not held

    int outer() const { return men > 2 ? men - 2 : 0; }
    size_t rows() const { return size_t{1} << (6 * outer()); }
    size_t units() const { return 8 * rows(); }
};

struct Layer {
    uint64_t* words;
    uint8_t* occupied;
    uint32_t* live;  // occupied rows, per partition; of an open set no fewer
};

// Smaller sets: per captive axis, null where the man is not a captive here. `live`, if given, says which partitions
// of it hold anything.
struct Exits {
    const uint64_t* words[MEN_AXES_MAX];
    const uint8_t* live[MEN_AXES_MAX];

    bool any(int captive, int pair) const { return words[captive] && (!live[captive] || live[captive][pair]); }
};

struct Parts {
    const int16_t* pair;
    size_t count;
};

// Thread-local working sets of one partition, all zero between calls.
struct Scratch {
    uint64_t* set;
    uint64_t* placed;
    uint64_t* other;
    uint8_t* set_touched;
    uint8_t* placed_touched;
    uint8_t* other_touched;
};

struct Kernels {
    const char* level;
    void (*prepare)(const Domain&, Parts, int mover, Exits escapes, Layer open, Scratch);
    void (*lose_at_once)(const Domain&, Parts, int winner, Exits won, Layer open_w, Layer open_l, Layer lost,
                         const uint64_t* canonical, uint64_t* counts, Scratch);
    void (*win)(const Domain&, Parts, int winner, Exits lost_after, Layer lost, Layer open_w, Layer won,
                const uint64_t* canonical, uint64_t* counts, Scratch);
    void (*lose)(const Domain&, Parts, int winner, Layer won, Layer freed, Layer open_w, Layer open_l, Layer lost,
                 const uint64_t* canonical, uint64_t* counts, Scratch);
    void (*legal)(const Domain&, int pair, int to_move, uint64_t* out, Scratch);
    size_t (*pack)(const Domain&, int pair, Layer, uint8_t* out);
    bool (*take_out)(const Domain&, int pair, const uint8_t* in, size_t size, Layer open);
    bool (*put_in)(const Domain&, int pair, const uint8_t* in, size_t size, Layer open);
    bool (*restore)(const Domain&, int pair, const uint8_t* in, size_t size, Layer, Layer less);
    void (*refresh)(const Domain&, int pair, Layer);
    bool (*paint8)(const Domain&, const uint8_t* in, size_t size, int value, int8_t* column);
    bool (*paint16)(const Domain&, const uint8_t* in, size_t size, int value, int16_t* column);
    void (*fill8)(int8_t* column, const uint64_t* counted, size_t words);
    void (*fill16)(int16_t* column, const uint64_t* counted, size_t words);
    void (*equal8)(const int8_t* column, int value, size_t words, uint64_t* out);
    void (*equal16)(const int16_t* column, int value, size_t words, uint64_t* out);
    void (*signs8)(const int8_t* column, size_t words, uint64_t* won, uint64_t* lost);
    void (*signs16)(const int16_t* column, size_t words, uint64_t* won, uint64_t* lost);
};

}  // namespace kingpair
