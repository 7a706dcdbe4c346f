// Whether every value of a finished table follows from the values one move on.
//
// The verifier shares no code with what makes tables: no sets of positions, no un-moves, and an index of its own, which
// is derived from the description in workers/table/format.py. A position is judged by playing its moves.
//
// The value of a successor is kept as a *key*, from the view of the side that moved there. The best of several moves
// has the largest key.
//
//     0              no such move: no position, or the mover's own king could be taken
//     1              a capture that loses
//     1 + n          the other side wins in n moves: the longer the better; 2 + n if distances count plies
//     DRAW           half of the range
//     -n             the other side loses in n - 1: read as unsigned, the shorter the better
//
// So the value of a position with best key k is -k, except for a draw, and for no move at all (mate or stalemate).
//
// The 64 squares of the last man are judged together. While the other men stay in place, a move of one of them is the
// same move for all 64 squares, except where the last man blocks it. These 64 slots are a *strip*.
//
// The last man is usually the last one in a table's rows too. If he is like the man before him, half of all lanes would
// hold no counted position; then a man who is like no other is put last, if there is one. So a *slot* has the squares
// in the verifier's order of men, a *row* in the order of the table.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kingpair::verify {

constexpr int MEN_MAX = 5;  // besides the kings
constexpr int PAIRS = 462;

enum class Kind : uint8_t { queen, rook, bishop, knight };

struct Man {
    Kind kind;
    uint8_t side;  // 0 stronger, 1 weaker
};

// The men in our order.
struct Men {
    int count;
    Man man[MEN_MAX];
    int behind = 0;  // how many men have their place behind the last one's in the rows

    int outer() const { return count - 1; }
    size_t strips() const { return size_t{1} << 6 * (count - 1); }
    size_t slots() const { return size_t{1} << 6 * count; }

    size_t row_of(size_t slot) const {
        const size_t others = slot >> 6, back = others & (stride() - 1);
        return (others - back) << 6 | (slot & 63) * stride() | back;
    }
    size_t slot_of(size_t row) const {
        const size_t back = row & (stride() - 1), front = row / stride() >> 6;
        return (front * stride() | back) << 6 | (row / stride() & 63);
    }
    size_t stride() const { return size_t{1} << 6 * behind; }  // of rows, from a square of the last man to the next
};

// ---- the board ----

struct Ray {
    uint8_t length;
    uint8_t square[7];  // nearest first
};

// The moves of men on an empty board, and the squares that must be empty for them.
struct Board {
    Ray ray[16][64];           // by direction: 0-3 straight, 4-7 diagonal, 8-15 leaps
    uint64_t reach[4][64];     // by kind: the squares a man attacks
    uint64_t between[64][64];  // strictly between two squares of a line
    uint64_t behind[64][64];   // [a][b]: beyond b, seen from a
    uint8_t turned[8][64];     // by symmetry
};

struct Directions {
    int first, last;
};

constexpr Directions DIRECTIONS[4] = {{0, 8}, {0, 4}, {4, 8}, {8, 16}};  // by kind

// Where a table keeps each pair of kings (stronger, weaker).
struct Kings {
    uint8_t square[2][PAIRS];
    bool diagonal[PAIRS];
    int16_t pair[64][64];      // -1: they touch
    uint8_t symmetry[64][64];  // shows the board as it is kept
};

const Board& board();
const Kings& kings();

// ---- the index ----

// The slot that stands for a position inside its partition, the men in the order of their table.
class Slots {
  public:
    explicit Slots(const Men&);
    uint32_t of(const uint8_t* squares, bool diagonal) const;
    bool like_men() const;
    bool last_is_like() const;

  private:
    uint32_t ascending(uint8_t* squares) const;
    int count_;
    bool like_[MEN_MAX];  // man i + 1 is like man i
};

// An earlier strip whose positions are those of a strip, lane for lane or with files for ranks; or the strip itself.
struct Twin {
    uint32_t strip;
    bool turned;
};

// For each slot of a partition the one whose row stands for its position, for each strip the lanes that stand for
// themselves, and its twin.  All are empty if every slot stands for itself.
struct Standing {
    std::vector<uint32_t> slot;
    std::vector<uint64_t> own;
    std::vector<Twin> twin;
    bool last_is_like = false;  // the last man is like the one before him: strip a, lane b is strip b, lane a

    uint64_t own_lanes(size_t strip) const { return own.empty() ? ~uint64_t{0} : own[strip]; }
    Twin twin_of(size_t strip) const { return twin.empty() ? Twin{static_cast<uint32_t>(strip), false} : twin[strip]; }
};

Standing standing_for(const Men&, bool diagonal);

// Sets of partitions that are closed under the moves of one side's king, while the other king stands still.
std::vector<std::vector<int>> walks(int side);

// A material without one man: in the frame of the larger material, and in the frame of its own table.
struct Smaller {
    Men ours;              // the other men, in our order
    Men theirs;            // in the order of their table
    int shift[MEN_MAX];    // which bits of their slots have the square of each of ours
    bool swapped;          // our stronger side is their weaker
    Standing standing[2];  // of theirs, by whether both kings are on the diagonal

    Smaller(const Men&, int captive);
};

// ---- results ----

// A legal position whose value does not follow from its successors.
struct Wrong {
    int64_t row;   // -1: none
    int64_t rank;  // the smaller of the two values' place in the order of the proof
    int value, expected;
};

struct Findings {
    uint64_t placed;  // distinct placements, with either side to move, in check or not
    uint64_t legal;
    uint64_t wrong;
    Wrong first;  // of lowest rank, then of lowest row
};

// The rows of a partition, in pieces of one size.
template <class Value>
struct Rows {
    const Value* const* piece;
    size_t size;

    const Value* at(size_t row) const { return piece[row / size] + row % size; }
};

// Key is uint8_t or uint16_t; Value the signed type of its size.
template <class Key, class Value>
struct Steps {
    // The values of one partition by slots, from its rows; strips whose slots all stand for none can be left out.
    void (*arrange)(const Men&, const Rows<Value>& rows, const Standing&, Value* out);
    // The keys of the positions after a capture, from the whole column of the smaller table.
    void (*taken)(const Smaller&, int pair, int to_move, bool carry_depth, const Value* column, Key* out);
    // The keys of one partition for `to_move`: of every slot that is a legal position, canonical or not. If the keys
    // after captures are given (`taken`), the slots where captor and captive meet hold the keys of these captures.
    // `deeper` is by how much a loss is longer than the longest win that it leads to.
    void (*quiet)(const Men&, int pair, int to_move, const Value* values, const Standing&, const Key* const* taken,
                  int deeper, Key* out);
    // Judges one partition. `quiet` holds the keys of partition p from place[p] on.
    Findings (*check)(const Men&, int pair, int mover, const Value* values, const Standing&, const Key* quiet,
                      const int16_t* place, uint64_t* counts);
    // Writes the values that follow for `mover` into the rows of one partition that hold a position.
    void (*derive)(const Men&, int pair, int mover, const Standing&, const Key* quiet, const int16_t* place,
                   Value* rows);
    // The first row with that value that is counted, or -1.
    int64_t (*find)(const Men&, int pair, int to_move, const Value* values, const Standing&, int value);
};

// The entry points that each instruction-set level fills in. The results do not depend on the level.
struct Kernels {
    const char* level;
    Steps<uint8_t, int8_t> narrow;
    Steps<uint16_t, int16_t> wide;
};

#if defined(__x86_64__)
namespace v2 { extern const Kernels KERNELS; }
namespace v3 { extern const Kernels KERNELS; }
namespace v4 { extern const Kernels KERNELS; }
#else
namespace generic { extern const Kernels KERNELS; }
#endif

}  // namespace kingpair::verify
