// A codec for one column of a table without pawns, in blocks of 64 x 64 positions that decode alone.
//
// In a block the kings and all men but the last two stand still. A row has one square of the man before the last, a
// lane one square of the last man. Only lanes that hold a position are coded, in the order of the rows of the table.
//
// What is known of a position before its value is the *class*: whether the mover is in check, and of each man whether
// the other side can take it and whether its own side guards it. And the values of four *neighbours*: earlier positions
// of the same block, with the last man on two other squares and with the man before the last on two others.
//
// A value is coded as binary decisions: is it a draw, is it a loss; then whether the number of moves differs from the
// reference, which the neighbours give; the direction; and whether the difference is larger than 1, 2, ... The
// probability of a decision is fixed by its context and the model, which is made for each table and stored in it.
// deploy/docs/format.md describes all of this so that another program can read it. All arithmetic is on integers.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "verify.hpp"

namespace kingpair::dense {

constexpr int VERSION = 1;
constexpr size_t BLOCK = 4096;   // positions
constexpr int NODES = 48;        // decisions about the number of moves
constexpr int SPREADS = 960;     // contexts of what the neighbours say
constexpr int REFERENCES = 512;  // contexts of the reference
constexpr int RATE = 4;          // a bit moves a chance by 1/16 of the difference
constexpr int STEPS_MAX = 1023;  // the largest difference from the reference
constexpr int MOVES_MAX = 30000;
constexpr int PATTERNS = 81;  // results of four neighbours
constexpr int MIXED = 3;      // contexts that are mixed

// Where a column's blocks stand on the board.
struct Geometry {
    verify::Men men;
    int to_move;

    size_t classes() const { return size_t{1} << (2 * men.count + 1); }
    size_t blocks_of_pair() const { return men.slots() / BLOCK; }
    size_t blocks() const { return verify::PAIRS * blocks_of_pair(); }
    size_t rows_of(size_t) const { return BLOCK; }
    size_t rows_filled() const { return men.slots(); }
};

// The probabilities of decisions in the form x, for 1 / (1 + exp(-x / 256)), divided by 16; and the weights of mixing.
struct Model {
    size_t results;  // the number of chances of results
    // Those of results, then [context][node] for the number of moves. Without pawns [class][pattern][decision], then
    // the contexts are [class], [spread], [reference].
    std::vector<int8_t> chance;
    std::vector<int16_t> weight;  // [node][context]

    explicit Model(const Geometry&);
    Model(size_t results_, size_t contexts, size_t weights)
        : results(results_), chance(results + contexts * NODES), weight(weights) {}
    size_t size() const { return chance.size() + weight.size() * sizeof(int16_t); }
    std::string bytes() const;
    bool read(const uint8_t* bytes, size_t size);
};

// Learns a model from some blocks.
class Training {
  public:
    explicit Training(const Geometry&);
    void learn(const Geometry&, size_t block, const int16_t* values);
    Model model(const Geometry&) const;

    struct Chance {
        uint16_t p = 1 << 15;
        uint16_t seen = 0;
        void learn(int bit);
    };

  private:
    friend struct Learner;
    std::vector<Chance> chance_;
    int32_t weight_[NODES][MIXED];
};

// The chances that a bit is 1, in 65536. They begin as the model says, and each bit moves those it was coded with by
// a part of the difference; each block begins anew. They lie in lines, and a context of moves has a line of its own.
class Chances {
  public:
    static constexpr size_t LINE = 64;

    explicit Chances(const Model&);

    // The chances of both decisions about a result, or of those about the number of moves. They will be changed.
    uint16_t* of_result(size_t at) { return changing(at); }
    uint16_t* of_moves(size_t context) { return changing(moves_ + context * LINE); }
    const int16_t* weights() const { return model_.weight.data(); }
    void forget();

  private:
    uint16_t* changing(size_t at) {
        const size_t line = at / LINE;
        if (!is_changed_[line]) {
            is_changed_[line] = 1;
            changed_.push_back(static_cast<uint32_t>(line));
        }
        return chance_.data() + at;
    }

    Model model_;
    size_t moves_;  // where the contexts of moves begin
    std::vector<uint16_t> chance_, first_;
    std::vector<uint32_t> is_changed_;
    std::vector<uint32_t> changed_;
};

// Appends a block to `out`, and reads its bits back; false if a value is not among those that can be coded. `held` gets
// the lanes of each row that hold a position.
bool encode(const Geometry&, Chances&, size_t block, const int16_t* values, uint64_t* held, std::string& out);

// Reads the first rows of a block from bytes, of which any are allowed. The values of lanes that hold no position are
// left as they are.
void decode(const Geometry&, Chances&, size_t block, const uint8_t* bytes, size_t size, int16_t* values, uint64_t* held,
            size_t rows = BLOCK);

}  // namespace kingpair::dense
