// Whether every value of a finished table with pawns follows from the values one move on.
//
// Values, keys and strips are those of verify.hpp. A position has a king pair, a structure (a placing of all pawns) and
// a square for each piece. The kings and the pieces stand on *axes*: the stronger king, the weaker king, then the
// pieces in the order of the table. The last axis is the lane of a strip; without pieces that is the weaker king. A
// *plan* lists the moves of one structure for one side to move. The kernels follow it for all positions of the
// structure:
//
//     quiet        kings and pieces go to another strip or lane of the same structure
//     captures     by kings and pieces: where captor and captive meet, the strip holds the key after the capture
//     pushes       the same slot of another structure. A push may end the phase or continue it
//     conversions  captures by pawns, and promotions: positions of smaller tables
//     en passant   a double step beside an enemy pawn leads to a position with a right to capture, without a row. Its
//                  value is the better of these captures and of the row's value. The row's value counts only if the
//                  side to move has any other move, which a plan of its own says
//
// A metric has a rule for each of three kinds: quiet moves, pushes and conversions.
//
// While one side moves, the king of the other one stands still. So a structure is judged in *groups* of the pairs in
// which that king stands on the same square, and only the keys of a group are in memory: 256 KiB of them with two
// pieces, 16 MiB with three. The pairs in which it stands on one of up to eight squares that are images of each other
// are a *walk*, and all moves stay within it: where columns are large, a walk of them is enough to judge a walk of a
// structure.

#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "verify.hpp"

namespace kingpair::verify {

constexpr int AXES_MAX = 2 + MEN_MAX;
constexpr int PROMOTIONS = 4;
constexpr int FIXED_PAIRS = 3612;
constexpr int NO_AXIS = -1, NO_LANE = -2;
constexpr int WALKS = 10, EVERY_WALK = -1;
constexpr int WHOLE = -1;      // in place of a part of a column
constexpr int PARTED_MEN = 3;  // tables with so many pieces have columns in parts

// The squares of the pawns of each side, as bits.
struct Pawns {
    uint64_t of[2] = {0, 0};

    bool operator==(const Pawns&) const = default;
    uint64_t all() const { return of[0] | of[1]; }
};

// The squares that the pawns of a side attack.
uint64_t attacked_by_pawns(const Pawns&, int side);

// Where tables with pawns keep each pair of kings; -1: they touch.
struct FixedKings {
    uint8_t square[2][FIXED_PAIRS];
    int16_t pair[64][64];
    std::array<int16_t, FIXED_PAIRS> ascending;
    std::array<int16_t, FIXED_PAIRS> by_image;  // those that turn into each other side by side
};

const FixedKings& fixed_kings();

// Pairs of kings by the walk that they belong to while the king of one side stands.
struct Walks {
    std::array<std::vector<int16_t>, WALKS> pairs;  // ascending
    std::vector<int16_t> place;                     // of a pair in its walk
};

// The walks of the pairs of tables with pawns, or of those without.
const Walks& walks_of(bool has_pawns, int standing);
int walk_of_square(int standing);

// Pairs of kings that are judged together: the king of one side stands on one of some squares, or on any.
struct Group {
    std::vector<int16_t> pairs;
    bool is_whole;
    int8_t place[64];  // of a square among those that the king stands on
    size_t squares;
};

// ---- tables ----

// The material of a table, its index, and its place in the list of tables.
class IndexedTable {
  public:
    // `squares` lists the pawns of each structure, the stronger side's first.
    IndexedTable(int number, const std::vector<Man>& pieces, int stronger, int weaker, const uint8_t* squares,
                 size_t structures);

    int find(const Pawns&) const;  // the structure, or -1
    bool has_pawns() const { return pawns[0] + pawns[1] > 0; }
    size_t slots() const { return men.slots(); }

    int number;
    Men men;
    int pawns[2];
    std::vector<Pawns> structures;
    Slots index;

  private:
    struct Hash {
        size_t operator()(const Pawns& p) const {
            return (p.of[0] * 0x9E3779B97F4A7C15 ^ p.of[1]) * 0xC2B2AE3D27D4EB4F >> 16;
        }
    };
    std::unordered_map<Pawns, int, Hash> number_of_;
};

// The values of one structure with one side to move, or of a table without pawns: all, or those of a walk. A part has
// the number of its walk and says whose king stands: 2 * walk + side.
struct ColumnName {
    int table, side, structure, part;
};

// Returns the values of a column.
using FindColumn = std::function<const void*(const ColumnName&)>;

// ---- plans ----

// Men on the board of the verified table, the kings first. A man stands where an axis says; a man who was a pawn stands
// on `promoted`.
struct Setup {
    int count = 0;
    Man man[AXES_MAX + 1] = {};  // the kind of a king does not count
    int axis[AXES_MAX + 1] = {};
    uint8_t promoted = 0;
    Pawns pawns;
    uint64_t attacked[2] = {0, 0};  // by the pawns of each side

    int man_on(int wanted) const {
        for (int i = 0; i < count; ++i)
            if (axis[i] == wanted) return i;
        return NO_LANE;
    }
};

// Where a table keeps the positions of a setup with one side to move. Without a table all of them are draws.
struct Location {
    const IndexedTable* table = nullptr;
    bool swapped = false;   // our stronger side is the table's weaker
    int man[MEN_MAX] = {};  // of the setup, for each piece of the table
    // For the table's stronger king on files a to d, and on e to h: whether the board is mirrored, and the values.
    bool mirrored[2] = {false, false};
    const void* values[2] = {nullptr, nullptr};
    const int16_t* place = nullptr;  // of a pair among those of the part; none if the column is whole
};

// Captures by a king or a piece: of a piece, or of the pawn on a square.
struct Capture {
    int captive;  // an axis, or NO_AXIS
    int square;
    Setup after;
    Location into;
};

// Captures and promotions of a pawn. The setups of all promotions are alike but for the piece.
struct Conversion {
    int captive;  // the axis of the piece taken, or NO_AXIS
    int square;   // entered
    Setup after;
    int count;
    Location into[PROMOTIONS];
};

struct Plan;

struct Push {
    Setup after;
    Location into;
    uint64_t passed;                     // by a double step
    std::vector<Conversion> en_passant;  // the captures that answer it
    std::shared_ptr<Plan> answer;        // all other answers, if there are such captures
};

// The moves of one structure for one side to move, of all of its positions or of those of a walk.
struct Plan {
    int mover, structure, walk;
    Setup here;
    Location entered;  // with the other side to move
    std::vector<Capture> captures;
    std::vector<Push> pushes;
    std::vector<Conversion> conversions;
};

// Makes plans for a table, the first one of a list; the others are those that it rests on.
class Planner {
  public:
    explicit Planner(std::vector<IndexedTable>);

    const IndexedTable& table() const { return tables_[0]; }
    size_t size() const { return tables_.size(); }
    const IndexedTable& table(size_t i) const { return tables_[i]; }
    Setup setup(int structure) const;
    // Where the positions of a plan, or those that its moves lead to, are kept.
    Location locate(const Plan&, const Setup&, int to_move, const FindColumn&) const;
    // Without `en_passant`, double steps give no right to capture.
    Plan plan(int structure, int mover, int walk, const FindColumn&, bool en_passant = true) const;

  private:
    bool holds(const IndexedTable&, bool swapped, const Setup&, int* man) const;
    void plan_captures(Plan&, const FindColumn&) const;
    void plan_pawn(Plan&, int from, const FindColumn&, bool en_passant) const;
    void plan_pushes(Plan&, int from, const FindColumn&, bool en_passant) const;
    void plan_captures_by_pawn(Plan&, int from, int to, const FindColumn&) const;
    void plan_conversion(Plan&, int captive, int to, const Setup&, const FindColumn&) const;
    void plan_en_passant(const Plan&, Push&, int passed, int entered, const FindColumn&) const;

    std::vector<IndexedTable> tables_;
};

// ---- kernels ----

// What a move into a value counts, for the side that moved there.
enum class Rule : uint8_t {
    result,   // the phase ends: wins and loses at once
    moves,    // the phase continues, distances count moves
    plies,    // the phase continues, distances count plies
    zeroing,  // the phase ends: 1 ply, or one more than the limit of the 50-move rule if the value is beyond it
};

// The rules of a metric.
struct Rules {
    Rule quiet, push, conversion;
};

// A structure that is judged: its moves, and the values that its table states.
struct Judged {
    Plan plan;
    Location stated;
};

// Value is int8_t or int16_t.
template <class Value>
struct StructureSteps {
    // Judges some structures: adds to `counts` how often each value occurs.
    Findings (*check)(const IndexedTable&, const std::vector<Judged>&, const Rules&, uint64_t* counts);
    // Writes the values that follow into the rows of a structure. Rows without a position repeat the row before them,
    // or are 0 first.
    void (*derive)(const IndexedTable&, const Judged&, const Rules&, Value* rows);
    // The first row of a structure with that value that is counted, or -1.
    int64_t (*find)(const IndexedTable&, const Judged&, int value);
};

struct StructureKernels {
    const char* level;
    StructureSteps<int8_t> narrow;
    StructureSteps<int16_t> wide;
};

#if defined(__x86_64__)
namespace v2 { extern const StructureKernels STRUCTURE_KERNELS; }
namespace v3 { extern const StructureKernels STRUCTURE_KERNELS; }
namespace v4 { extern const StructureKernels STRUCTURE_KERNELS; }
#else
namespace generic { extern const StructureKernels STRUCTURE_KERNELS; }
#endif

}  // namespace kingpair::verify
