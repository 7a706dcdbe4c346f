// The dense codec with pawns: one routine reads, writes, counts and weighs a block, with a coder that does one of them.

#include "dense_pawns.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "dense_coding.hpp"

namespace kingpair::dense {
namespace {

constexpr size_t PATTERNS_MIXED = PATTERNS * 2;  // sets of weights of results
constexpr size_t RESULT_WEIGHTS = PATTERNS_MIXED * RESULTS_MIXED;

size_t result_contexts(const PawnGeometry& g) {
    return (g.classes() + AGREEMENTS * LOW_CLASSES + DISTANCES) * PATTERNS;
}
constexpr size_t MOVE_CONTEXTS = SHAPES + REFERENCES + RELATIONS + STAGES * STAGE_REFERENCES * 2;

// ---- what decides on the contexts ----

struct ResultContexts {
    size_t pattern, number[RESULTS_MIXED];
};
struct MoveContexts {
    size_t number[MOVES_MIXED];
};

// What is known of a position before its value.
struct Seen {
    size_t position_class, agreement, distances, stage;
    Neighbours near;

    ResultContexts of_result(size_t classes) const {
        const size_t pattern = near.pattern();
        const size_t agreeing = classes + agreement * LOW_CLASSES + position_class % LOW_CLASSES;
        const size_t apart = classes + AGREEMENTS * LOW_CLASSES + distances;
        return {pattern,
                {position_class * PATTERNS + pattern, agreeing * PATTERNS + pattern, apart * PATTERNS + pattern}};
    }
    MoveContexts of_moves(const Reference& reference, int result) const {
        const size_t lost = result == LOST;
        const auto number = static_cast<size_t>(reference.moves);
        const auto shape = static_cast<size_t>(reference.spread * 15 + reference.shape) * AGREEMENTS + agreement;
        const size_t references = (std::min<size_t>(number, 31) * 2 + lost) * 8 + position_class % LOW_CLASSES;
        const size_t staged = stage * STAGE_REFERENCES + std::min<size_t>(number, STAGE_REFERENCES - 1);
        return {{shape * 2 + lost, SHAPES + references, SHAPES + REFERENCES + relation(reference, result) * 2 + lost,
                 SHAPES + REFERENCES + RELATIONS + staged * 2 + lost}};
    }

  private:
    // How each neighbour compares with the reference, in base 5: smaller, equal, larger by 1, by more, another result.
    size_t relation(const Reference& reference, int result) const {
        size_t found = 0;
        for (int value : near.value) {
            const int larger = std::clamp(moves_of(value) - reference.moves, -1, 2) + 1;
            found = 5 * found + static_cast<size_t>(result_of(value) == result ? larger : 4);
        }
        return found;
    }
};

int distance(int a, int b) { return std::max(std::abs((a & 7) - (b & 7)), std::abs((a >> 3) - (b >> 3))); }

// ---- the coders ----

// Codes bits with chances that are mixed and that move.
template <class Stream, int COUNT>
struct Mixture {
    uint16_t* chance[COUNT];
    const int16_t* weight;
    Stream& stream;

    int operator()(int node, int wanted) {
        const int16_t* const of_node = weight + node * COUNT;
        int sum = 0;
        for (int i = 0; i < COUNT; ++i) sum += of_node[i] * CURVE.stretched[chance[i][node] >> 4];
        const int bit = code(stream, chance_at(sum >> 12), wanted);
        for (uint16_t* each : chance) learn<PAWN_RATE>(each[node], bit);
        return bit;
    }
};

template <class Stream>
struct PawnCoder {
    Chances& chances;
    Stream stream;

    auto results(const ResultContexts& c) {
        Mixture<Stream, RESULTS_MIXED> found{{}, chances.weights() + c.pattern * 2 * RESULTS_MIXED, stream};
        for (int i = 0; i < RESULTS_MIXED; ++i) found.chance[i] = chances.of_result(2 * c.number[i]);
        return found;
    }
    auto moves(const MoveContexts& c) {
        Mixture<Stream, MOVES_MIXED> found{{}, chances.weights() + RESULT_WEIGHTS, stream};
        for (int i = 0; i < MOVES_MIXED; ++i) found.chance[i] = chances.of_moves(c.number[i]);
        return found;
    }
};

}  // namespace

// Counts how often bits are 1.
struct PawnCounter {
    template <int COUNT>
    struct Counted {
        Training::Chance* chance[COUNT];

        int operator()(int node, int bit) {
            for (Training::Chance* each : chance) each[node].learn(bit);
            return bit;
        }
    };

    PawnTraining& training;
    size_t first;  // of the chances about moves

    auto results(const ResultContexts& c) {
        Counted<RESULTS_MIXED> found{};
        for (int i = 0; i < RESULTS_MIXED; ++i) found.chance[i] = training.chance_.data() + 2 * c.number[i];
        return found;
    }
    auto moves(const MoveContexts& c) {
        Counted<MOVES_MIXED> found{};
        for (int i = 0; i < MOVES_MIXED; ++i) found.chance[i] = training.chance_.data() + first + c.number[i] * NODES;
        return found;
    }
};

// Moves weights towards what would have been right.
struct PawnWeigher {
    template <int COUNT>
    struct Weighed {
        uint16_t* chance[COUNT];
        int32_t* weight;

        int operator()(int node, int bit) {
            int32_t* const of_node = weight + node * COUNT;
            int x[COUNT];
            int64_t sum = 0;
            for (int i = 0; i < COUNT; ++i) {
                x[i] = CURVE.stretched[chance[i][node] >> 4];
                sum += int64_t{of_node[i]} * x[i];
            }
            const int error = (bit << 12) - static_cast<int>(chance_at(static_cast<int>(sum >> 16)));
            for (int i = 0; i < COUNT; ++i) {
                const int by = (x[i] * error + (1 << (WEIGHT_RATE - 1))) >> WEIGHT_RATE;
                of_node[i] = std::clamp(of_node[i] + by, -(1 << 18), 1 << 18);
                learn<PAWN_RATE>(chance[i][node], bit);
            }
            return bit;
        }
    };

    PawnTraining& training;

    auto results(const ResultContexts& c) {
        Weighed<RESULTS_MIXED> found{{}, training.weight_.data() + c.pattern * 2 * RESULTS_MIXED};
        for (int i = 0; i < RESULTS_MIXED; ++i) found.chance[i] = training.moving_->of_result(2 * c.number[i]);
        return found;
    }
    auto moves(const MoveContexts& c) {
        Weighed<MOVES_MIXED> found{{}, training.weight_.data() + RESULT_WEIGHTS};
        for (int i = 0; i < MOVES_MIXED; ++i) found.chance[i] = training.moving_->of_moves(c.number[i]);
        return found;
    }
};

namespace {

// ---- a block ----

template <class Coder>
class PawnBlock {
  public:
    PawnBlock(const PawnGeometry& g, size_t block, Coder& coder)
        : geometry_(g),
          strips_(g, block),
          coder_(coder),
          lanes_(earlier(g.is_bishop(g.last()))),
          rows_(earlier(g.is_bishop(g.last() - 1))) {
        std::fill_n(class_, BLOCK, NO_CLASS);
    }

    // Codes the values of the strips that begin before a row, and sets them to what a reader will get.
    void code(int16_t* values, uint64_t* held, size_t rows) {
        std::fill_n(held, BLOCK / 64, 0);
        Strip strip;
        while (strips_.next(strip) && strip.first < rows) this->strip(strip, values + strip.first, held);
    }

  private:
    static constexpr uint16_t NO_CLASS = 65535;

    void strip(const Strip& strip, int16_t* values, uint64_t* held) {
        const int square = strip.square[geometry_.last() - 1];
        uint16_t classes[64];
        if (strip.row.held) strip.row.classes(classes);
        size_t at = 64 * static_cast<size_t>(square);
        size_t place = strip.first;
        for (uint64_t rest = strip.lanes; rest; rest &= rest - 1, ++place, ++values) {
            const int lane = __builtin_ctzll(rest);
            const size_t cell = at + static_cast<size_t>(lane);
            const bool is_held = strip.row.held >> lane & 1;
            if (is_held) {
                held[place / 64] |= uint64_t{1} << place % 64;
                before_ = *values = position(seen(strip, square, lane, classes[lane]), *values);
            }
            value_[cell] = before_;
            class_[cell] = is_held ? classes[lane] : NO_CLASS;
        }
    }

    // A neighbour that does not exist has the value of the first one that does. A square has two earlier ones or none.
    Seen seen(const Strip& strip, int square, int lane, uint16_t position_class) const {
        const std::array<int, 2> left = lanes_[static_cast<size_t>(lane)], above = rows_[static_cast<size_t>(square)];
        Seen found{position_class, 0, distances(strip, lane), stage(strip), {}};
        const auto look = [&](int i, int cell) {
            found.near.value[i] = value_[cell];
            found.agreement |= static_cast<size_t>(class_[cell] == position_class) << i;
        };
        for (int i : {0, 1})
            if (left[0] >= 0) look(i, 64 * square + left[static_cast<size_t>(i)]);
        for (int i : {0, 1})
            if (above[0] >= 0) look(2 + i, 64 * above[static_cast<size_t>(i)] + lane);
        int* const value = found.near.value;
        if (left[0] < 0) value[0] = value[1] = value[2];
        if (above[0] < 0) value[2] = value[3] = value[0];
        return found;
    }

    size_t distances(const Strip& strip, int lane) const {
        const Placing& p = *strip.placing;
        const int weaker = geometry_.pieces.count ? strip.square[1] : lane;
        const int both = distance(strip.square[0], p.leader) * 8 + distance(weaker, p.leader);
        return static_cast<size_t>(both * NO_STEPS + p.steps_of_leader);
    }
    static size_t stage(const Strip& strip) {
        return static_cast<size_t>(strip.placing->steps[0] * 7 + strip.placing->steps[1]);
    }

    int16_t position(const Seen& seen, int16_t value) {
        auto bit = coder_.results(seen.of_result(geometry_.classes()));
        if (!bit(0, result_of(value) != DRAWN)) return 0;
        const int result = bit(1, result_of(value) == LOST) ? LOST : WON;
        const Reference reference(seen.near, result);
        auto moved = coder_.moves(seen.of_moves(reference, result));
        return static_cast<int16_t>(value_of(result, code_moves(moved, reference.moves, result, moves_of(value))));
    }

    const PawnGeometry& geometry_;
    Strips strips_;
    Coder& coder_;
    const Earlier &lanes_, &rows_;
    int16_t before_ = 0;
    int16_t value_[BLOCK] = {};
    uint16_t class_[BLOCK];
};

// Has a coder see all values of a block, which does not change them.
template <class Coder>
void show(const PawnGeometry& g, size_t block, const int16_t* values, Coder& coder) {
    int16_t copy[BLOCK];
    uint64_t held[BLOCK / 64];
    std::memcpy(copy, values, g.rows_of(block) * sizeof *values);
    PawnBlock<Coder>(g, block, coder).code(copy, held, BLOCK);
}

}  // namespace

// ---- the model ----

Model empty_model(const PawnGeometry& g) {
    return {2 * result_contexts(g), MOVE_CONTEXTS, RESULT_WEIGHTS + NODES * MOVES_MIXED};
}

PawnTraining::PawnTraining(const PawnGeometry& g)
    : chance_(2 * result_contexts(g) + MOVE_CONTEXTS * NODES), weight_(RESULT_WEIGHTS + NODES * MOVES_MIXED) {
    std::fill_n(weight_.begin(), RESULT_WEIGHTS, 24000);
    std::fill(weight_.begin() + RESULT_WEIGHTS, weight_.end(), 18000);
}

void PawnTraining::learn(const PawnGeometry& g, size_t block, const int16_t* values) {
    PawnCounter counter{*this, 2 * result_contexts(g)};
    show(g, block, values, counter);
}

void PawnTraining::weigh(const PawnGeometry& g, size_t block, const int16_t* values) {
    if (!moving_) moving_ = std::make_unique<Chances>(chances_as_learned(g));
    PawnWeigher weigher{*this};
    show(g, block, values, weigher);
    moving_->forget();
}

namespace {

// A sixteenth of the steps that a model has, which compresses better and costs nothing.
int8_t roughly_quantised(const Training::Chance& c) {
    if (c.seen < SEEN_LEAST) return 0;
    const int x = CURVE.stretched[c.p >> 4], half = x < 0 ? -128 : 128;
    return static_cast<int8_t>(std::clamp((x + half) / 256 * 16, -127, 127));
}

}  // namespace

Model PawnTraining::chances_as_learned(const PawnGeometry& g) const {
    Model model = empty_model(g);
    std::transform(chance_.begin(), chance_.end(), model.chance.begin(), roughly_quantised);
    return model;
}

Model PawnTraining::model(const PawnGeometry& g) const {
    Model model = chances_as_learned(g);
    std::transform(weight_.begin(), weight_.end(), model.weight.begin(), quantised_weight);
    return model;
}

// ---- reading and writing ----

bool encode(const PawnGeometry& g, Chances& chances, size_t block, const int16_t* values, uint64_t* held,
            std::string& out) {
    static thread_local std::vector<Written> written;
    int16_t copy[BLOCK];
    const size_t begin = out.size(), bytes = g.rows_of(block) * sizeof *values;
    std::memcpy(copy, values, bytes);
    PawnCoder<Writer> encoder{chances, Writer(out, written)};
    PawnBlock<PawnCoder<Writer>>(g, block, encoder).code(copy, held, BLOCK);
    encoder.stream.finish();
    chances.forget();
    return reads_back(written, out, begin) && !std::memcmp(copy, values, bytes);
}

void decode(const PawnGeometry& g, Chances& chances, size_t block, const uint8_t* bytes, size_t size, int16_t* values,
            uint64_t* held, size_t rows) {
    PawnCoder<Reader> decoder{chances, Reader(bytes, size)};
    PawnBlock<PawnCoder<Reader>>(g, block, decoder).code(values, held, rows);
    chances.forget();
}

}  // namespace kingpair::dense
