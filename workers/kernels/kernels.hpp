// The arguments of the kernels, and the table of entry points that each instruction-set level fills in.
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
// undefined, any other row is valid in all its eight units. So a layer is never cleared. Of a partition that is
// not live the bytes are undefined too, unless it is one that the steps write: a copy of another worker's is emptied
// by one store. An `Open` set is dense and always valid, and its bytes say which units still hold a bit.

#pragma once

#include <cstddef>
#include <cstdint>

namespace kingpair {

constexpr int MEN_AXES_MAX = 5;  // men besides the kings
constexpr int EXITS_MAX = 8;     // smaller sets: one for each man, in Chinese chess besides for frame men of a letter
constexpr int PAIRS_MAX = 3612;  // all ordered pairs of kings that do not touch

namespace xiangqi { struct Frame; }

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

// The placings of pawns that a domain holds side by side; without pawns one, on which no pawn stands. No move inside
// a domain leads from one structure to another.
//
// Where fewer than two men move, several structures share a row: 64 words of one structure each (one man), or 64 words
// of 64 structures each (no man). The arrays go on to the end of the last row, as if pawns stood on all squares.
struct Structures {
    size_t count;
    const uint64_t* pawns;         // by structure: the squares of all pawns
    const uint64_t* attacked[2];   // by side, by structure: the squares that its pawns attack
    const uint64_t* standing;      // no man: by square the set of structures with a pawn on it
    const uint64_t* attacking[2];  // no man: by side, by square the set of structures with a pawn that attacks it
};

constexpr size_t ROWS_MAX = size_t{1} << (6 * (MEN_AXES_MAX - 2));

// How many rows of 64 words hold so many structures of so many men.
constexpr size_t rows_of(int men, size_t structures) {
    if (men == 0) return (structures + 4095) / 4096;
    if (men == 1) return (structures + 63) / 64;
    return structures << (6 * (men - 2));
}

// The men of a material and the partitions of the board: all that a kernel knows of chess.
struct Domain {
    int men;
    Man man[MEN_AXES_MAX];
    int pairs;
    uint8_t king[2][PAIRS_MAX];  // by side
    Steps steps[2][PAIRS_MAX];   // by side
    int16_t slot[PAIRS_MAX];     // where a partition lies in the arrays, -1 where it is not held
    bool halved[PAIRS_MAX];      // the second canonical mask says which of its slots count, not the first
    bool fixed;                  // no step turns the board
    Structures structures;
    const xiangqi::Frame* frame =
        nullptr;  // of a block of Chinese chess: rows are then counted as structures of two men
    size_t frame_slots = 0;

    int outer() const { return men > 2 ? men - 2 : 0; }
    size_t rows() const { return rows_of(men, structures.count); }
    size_t rows_each() const { return size_t{1} << (6 * outer()); }  // of a structure, where two men or more move
    size_t units() const { return 8 * rows(); }
    // Of a partition as columns of values hold it: where structures share rows, to the end of the last row.
    size_t slots() const {
        if (frame) return frame_slots;
        return men < 2 && fixed ? 4096 * rows() : structures.count << (6 * men);
    }
};

struct Layer {
    uint64_t* words;
    uint8_t* occupied;
    uint32_t* live;  // occupied rows, per partition; of an open set no fewer
};

// Smaller sets: per captive axis, null where the man is not a captive here. `live`, if given, says which partitions
// of it hold anything.
struct Exits {
    const uint64_t* words[EXITS_MAX];
    const uint8_t* live[EXITS_MAX];

    bool any(int captive, int pair) const { return words[captive] && (!live[captive] || live[captive][pair]); }
};

// An arrow from one structure of pawns to another (carry.hpp), or from another one to it.
struct Arrow {
    uint32_t other;   // the structure at its other end
    uint32_t square;  // that the double step passes, or on which the captured man stands
};

// An arrow that is listed by its square.
struct ArrowOn {
    uint32_t from, to;  // structures
};

// The arrows of a family, by the structure at one of their ends.
struct Carry {
    enum Way : int { plain, passing, meeting, taking };
    Way way;
    int axis;               // of the man that meets or is taken
    const uint32_t* begin;  // by structure, and where the last one ends
    const Arrow* arrow;
    // The same arrows by their squares, with both ends. Null where no kernel reads arrows by squares.
    const uint32_t* begin_on = nullptr;
    const ArrowOn* on = nullptr;
};

// A set of another domain with the same kings, and the arrows that lead from it.
struct Inflow {
    const Domain* from;
    Layer layer;
    Carry carry;
};

struct Inflows {
    const Inflow* first;
    size_t count;
    const Inflow* begin() const { return first; }
    const Inflow* end() const { return first + count; }
};

struct Parts {
    const int16_t* pair;
    size_t count;
};

// Thread-local working sets of one partition, all zero between calls. They lie on the heap: of five men each is 128
// MiB.
struct Scratch {
    uint64_t* set;
    uint64_t* placed;
    uint64_t* other;
    uint8_t* set_touched;
    uint8_t* placed_touched;
    uint8_t* other_touched;
};

// The stream of one partition of a layer, and the value that it paints into the column of the side to move.
struct PaintedStream {
    const uint8_t* bytes;
    size_t size;
    int side;
    int value;
    size_t read;  // bytes that the kernel has read, 0 at first
};

// Columns of values of one type.
template <class T>
struct ColumnKernels {
    bool (*paint)(const Domain&, const uint8_t* in, size_t size, int value, T* column);
    void (*fill)(T* column, const uint64_t* counted, size_t words);
    bool (*paint_partition)(const Domain&, int pair, PaintedStream* streams, size_t count, const uint64_t* canonical,
                            T* const (&column)[2], uint64_t (&counted)[2], Scratch);
    void (*equal)(const T* column, int value, size_t words, uint64_t* out);
    void (*signs)(const T* column, size_t words, uint64_t* won, uint64_t* lost);
};

struct Kernels {
    const char* level;
    void (*prepare)(const Domain&, Parts, int mover, Exits escapes, Layer open, Scratch);
    void (*lose_at_once)(const Domain&, Parts, int winner, Exits won, Inflows holds, Layer forced, Layer open_w,
                         Layer open_l, Layer lost, const uint64_t* canonical, uint64_t* counts, Scratch);
    void (*win)(const Domain&, Parts, int winner, Exits lost_after, Inflows pushes, Layer winning, Layer lost,
                Layer open_w, Layer won, const uint64_t* canonical, uint64_t* counts, Scratch);
    void (*lose)(const Domain&, Parts, int winner, Layer won, Layer freed, Inflows pushes, Inflows holds, Layer open_w,
                 Layer open_l, Layer lost, const uint64_t* canonical, uint64_t* counts, Scratch);
    void (*collect)(const Domain&, Parts, int mover, Inflow, Layer out, Scratch);
    void (*collect_captures)(const Domain&, Parts, int mover, Exits, Layer out, Scratch);
    void (*legal)(const Domain&, int pair, int to_move, uint64_t* out, Scratch);
    size_t (*pack)(const Domain&, int pair, Layer, uint8_t* out);
    bool (*take_out)(const Domain&, int pair, const uint8_t* in, size_t size, Layer open);
    bool (*put_in)(const Domain&, int pair, const uint8_t* in, size_t size, Layer open);
    bool (*restore)(const Domain&, int pair, const uint8_t* in, size_t size, Layer, Layer less);
    void (*refresh)(const Domain&, int pair, Layer);
    ColumnKernels<int8_t> narrow;
    ColumnKernels<int16_t> wide;
};

}  // namespace kingpair
