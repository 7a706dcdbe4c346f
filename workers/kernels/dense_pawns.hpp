// The dense codec for tables with pawns. Blocks, range coder and decisions are those of tables without (dense.hpp).
//
// A block is 4,096 rows. With two pieces or more it is a square of the last two, as without pawns. With one piece it
// is some king pairs, and without pieces king pairs of some structures: then the last two men are the weaker king and
// the piece, or the two kings. What was coded last for each pair of their squares is kept in a *grid*; four cells of it
// are the neighbours of a position. A block begins with an empty grid.
//
// Pawns make neighbours unlike: one can be taken, another runs. So each decision mixes chances of several contexts,
// those about results too:
//
//     results    the class; which neighbours have the same class; how far both kings are from the foremost pawn
//     moves      the spread of the neighbours and which have the same class; the reference; how each neighbour compares
//                with it; how far the foremost pawns have to go
//
// A model is learned in two rounds over the same blocks: first the chances are counted, then the weights are found
// while the chances move as they will in the codec. A chance that was seen rarely is left out: its x is 0, and the
// mixture goes by the others. All others are rounded, because small tables would else be smaller than their models.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dense_pawn_rows.hpp"

namespace kingpair::dense {

constexpr int PAWNS_VERSION = 2;
constexpr int PAWN_RATE = 2;  // a bit moves a chance by a quarter of the difference
constexpr int RESULTS_MIXED = 3, MOVES_MIXED = 4;
constexpr size_t AGREEMENTS = 16;        // which of four neighbours have the same class
constexpr size_t LOW_CLASSES = 8;        // the check, and both bits of the first man
constexpr size_t DISTANCES = 8 * 8 * 6;  // of both kings from the leader, and the leader's steps
constexpr size_t SHAPES = 8 * 15 * AGREEMENTS * 2;
constexpr size_t RELATIONS = 625 * 2;
constexpr size_t STAGES = 7 * 7;  // the steps of the foremost pawns of both sides
constexpr size_t STAGE_REFERENCES = 16;
constexpr int SEEN_LEAST = 8;
constexpr int WEIGHT_RATE = 14;

// The number of chances of results, of contexts of moves, and of weights.
Model empty_model(const PawnGeometry&);

class PawnTraining {
  public:
    explicit PawnTraining(const PawnGeometry&);
    // First `learn` with all blocks, then `weigh` with all blocks.
    void learn(const PawnGeometry&, size_t block, const int16_t* values);
    void weigh(const PawnGeometry&, size_t block, const int16_t* values);
    Model model(const PawnGeometry&) const;

  private:
    friend struct PawnCounter;
    friend struct PawnWeigher;
    Model chances_as_learned(const PawnGeometry&) const;

    std::vector<Training::Chance> chance_;
    std::vector<int32_t> weight_;
    std::unique_ptr<Chances> moving_;  // as the codec will have them
};

// As without pawns; `held` has a bit for each row of the block.
bool encode(const PawnGeometry&, Chances&, size_t block, const int16_t* values, uint64_t* held, std::string& out);
void decode(const PawnGeometry&, Chances&, size_t block, const uint8_t* bytes, size_t size, int16_t* values,
            uint64_t* held, size_t rows = BLOCK);

}  // namespace kingpair::dense
