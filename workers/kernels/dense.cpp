// The dense codec: one routine reads, writes and learns a block, with a coder that does one of the three.

#include "dense.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "dense_coding.hpp"
#include "dense_rows.hpp"

namespace kingpair::dense {

// ---- probabilities ----

// exp(-i / 256) by repeated multiplication, which every machine rounds alike.
Curve::Curve() : chance{}, stretched{} {
    double power = 1;
    for (int i = 0; i <= 2048; ++i, power *= 0.99610136947011749) {
        const int high = std::clamp(static_cast<int>(std::lround(4096 / (1 + power))), 1, 4095);
        if (i < 2048) chance[static_cast<size_t>(2048 + i)] = static_cast<uint16_t>(high);
        chance[static_cast<size_t>(2048 - i)] = static_cast<uint16_t>(i ? 4096 - high : high);
    }
    for (int p = 0, x = -X_MAX; p < 4096; ++p) {
        while (x < X_MAX && chance[static_cast<size_t>(x + 2048)] < p) ++x;
        stretched[static_cast<size_t>(p)] = static_cast<int16_t>(x);
    }
}

const Curve CURVE;

bool reads_back(const std::vector<Written>& written, const std::string& out, size_t begin) {
    Reader reader(reinterpret_cast<const uint8_t*>(out.data()) + begin, out.size() - begin);
    bool same = true;
    for (const Written each : written) same &= reader.get(each >> 1) == (each & 1);
    return same;
}

namespace {

// ---- contexts ----

struct Contexts {
    size_t number[MIXED];
};

Contexts contexts_of(const Reference& near, size_t classes, size_t position_class, int result) {
    const size_t lost = result == LOST;
    const auto spread_of = static_cast<size_t>((near.spread * 15 + near.shape) * 4 + std::min(near.moves / 8, 3));
    const size_t reference = (static_cast<size_t>(std::min(near.moves, 31)) * 2 + lost) * 8 + (position_class & 7);
    return {{position_class, classes + spread_of * 2 + lost, classes + SPREADS + reference}};
}

// ---- the three coders ----

template <class Stream>
struct Coder {
    struct Results {
        uint16_t* chance;
        Stream& stream;

        int operator()(int which, int wanted) {
            const int bit = code(stream, std::clamp<uint32_t>(chance[which] >> 4, 1, 4095), wanted);
            learn<RATE>(chance[which], bit);
            return bit;
        }
    };
    struct Moves {
        uint16_t* chance[MIXED];
        const Chances& chances;
        Stream& stream;

        int operator()(int node, int wanted) {
            const int16_t* const weight = chances.weights() + node * MIXED;
            int sum = 0;
            for (int i = 0; i < MIXED; ++i) sum += weight[i] * CURVE.stretched[chance[i][node] >> 4];
            const int bit = code(stream, chance_at(sum >> 12), wanted);
            for (uint16_t* each : chance) learn<RATE>(each[node], bit);
            return bit;
        }
    };

    Chances& chances;
    Stream stream;

    Results results(size_t at) { return {chances.of_result(at), stream}; }
    Moves moves(const Contexts& c) {
        return {{chances.of_moves(c.number[0]), chances.of_moves(c.number[1]), chances.of_moves(c.number[2])},
                chances,
                stream};
    }
};

}  // namespace

struct Learner {
    struct Results {
        Training::Chance* chance;

        int operator()(int which, int bit) { return chance[which].learn(bit), bit; }
    };
    struct Moves {
        Training::Chance* chance[MIXED];
        Training& training;

        int operator()(int node, int bit) {
            int x[MIXED];
            int64_t sum = 0;
            auto& weight = training.weight_[node];
            for (int i = 0; i < MIXED; ++i) {
                x[i] = CURVE.stretched[chance[i][node].p >> 4];
                sum += int64_t{weight[i]} * x[i];
            }
            const int error = (bit << 12) - static_cast<int>(chance_at(static_cast<int>(sum >> 16)));
            for (int i = 0; i < MIXED; ++i) {
                weight[i] = std::clamp(weight[i] + ((x[i] * error + (1 << 9)) >> 10), -(1 << 18), 1 << 18);
                chance[i][node].learn(bit);
            }
            return bit;
        }
    };

    Training& training;
    size_t first;  // of the chances about moves

    Results results(size_t at) { return {training.chance_.data() + at}; }
    Moves moves(const Contexts& c) {
        Training::Chance* const begin = training.chance_.data() + first;
        return {{begin + c.number[0] * NODES, begin + c.number[1] * NODES, begin + c.number[2] * NODES}, training};
    }
};

namespace {

// ---- a block ----

template <class Coder>
class Block {
  public:
    Block(const Geometry& g, size_t block, Coder& coder)
        : men_(g.men), classes_(g.classes()), rows_(g, block), coder_(coder) {}

    // Codes the values of the first rows, and sets them to what a reader will get.
    void code(int16_t* values, uint64_t* held, int squares = 64) {
        const auto of = [&](int man) -> const Earlier& { return earlier(men_.man[man].kind == verify::Kind::bishop); };
        const Earlier &lanes = of(men_.outer()), &rows = of(men_.outer() - 1);
        int16_t before = 0;
        for (int square = 0; square < squares; ++square) {
            const Row row = rows_.row(square);
            held[square] = row.held;
            int16_t* const known = known_ + 64 * square;
            const std::array<int, 2> above = rows[static_cast<size_t>(square)];
            uint16_t classes[64];
            if (row.held) row.classes(classes);
            for (int lane = 0; lane < 64; ++lane) {
                int16_t& value = values[64 * square + lane];
                if (row.held >> lane & 1)
                    before = value = position(classes[lane], neighbours(known, lanes, above, lane), value);
                known[lane] = before;
            }
        }
    }

  private:
    // A neighbour that does not exist has the value of the first one that does. A square has two earlier ones or none.
    Neighbours neighbours(const int16_t* known, const Earlier& lanes, std::array<int, 2> above, int lane) const {
        const std::array<int, 2> left = lanes[static_cast<size_t>(lane)];
        const bool has_left = left[0] >= 0, has_above = above[0] >= 0;
        Neighbours found{};
        if (has_left) found.value[0] = known[left[0]], found.value[1] = known[left[1]];
        if (has_above) found.value[2] = known_[64 * above[0] + lane], found.value[3] = known_[64 * above[1] + lane];
        if (!has_left) found.value[0] = found.value[1] = found.value[2];
        if (!has_above) found.value[2] = found.value[3] = found.value[0];
        return found;
    }

    int16_t position(size_t position_class, const Neighbours& near, int16_t value) {
        const size_t at = 2 * (position_class * PATTERNS + near.pattern());
        int result = result_of(value);
        auto bit = coder_.results(at);
        if (!bit(0, result != DRAWN)) return 0;
        result = bit(1, result == LOST) ? LOST : WON;
        const int moves = this->moves(position_class, near, result, dense::moves_of(value));
        return static_cast<int16_t>(value_of(result, moves));
    }

    int moves(size_t position_class, const Neighbours& near, int result, int moves) {
        const Reference reference(near, result);
        auto bit = coder_.moves(contexts_of(reference, classes_, position_class, result));
        return code_moves(bit, reference.moves, result, moves);
    }

    const verify::Men& men_;
    size_t classes_;
    Rows rows_;
    Coder& coder_;
    int16_t known_[BLOCK];
};

size_t results_of(const Geometry& g) { return g.classes() * PATTERNS * 2; }
size_t contexts_of(const Geometry& g) { return g.classes() + SPREADS + REFERENCES; }

}  // namespace

// ---- the model ----

Model::Model(const Geometry& g) : Model(results_of(g), contexts_of(g), NODES * MIXED) {}

std::string Model::bytes() const {
    std::string out(chance.begin(), chance.end());
    for (int16_t w : weight) out.append({static_cast<char>(w & 255), static_cast<char>(w >> 8)});
    return out;
}

bool Model::read(const uint8_t* bytes, size_t size) {
    if (size != this->size()) return false;
    std::memcpy(chance.data(), bytes, chance.size());
    const uint8_t* at = bytes + chance.size();
    for (int16_t& w : weight) {
        w = static_cast<int16_t>(at[0] | at[1] << 8);
        at += 2;
    }
    return true;
}

Training::Training(const Geometry& g) : chance_(results_of(g) + contexts_of(g) * NODES) {
    for (auto& node : weight_)
        for (int32_t& w : node) w = 30000;
}

void Training::Chance::learn(int bit) {
    const int wanted = bit ? 65535 : 0;
    p = static_cast<uint16_t>(p + (wanted - p) * 2 / (2 * seen + 3));
    if (seen < 1000) ++seen;
}

void Training::learn(const Geometry& g, size_t block, const int16_t* values) {
    int16_t copy[BLOCK];
    uint64_t held[64];
    std::memcpy(copy, values, sizeof copy);
    Learner learner{*this, results_of(g)};
    Block<Learner>(g, block, learner).code(copy, held);
}

Model Training::model(const Geometry& g) const {
    Model model(g);
    std::transform(chance_.begin(), chance_.end(), model.chance.begin(),
                   [](const Chance& c) { return quantised(c.p); });
    for (int node = 0; node < NODES; ++node)
        for (int i = 0; i < MIXED; ++i)
            model.weight[static_cast<size_t>(node * MIXED + i)] = quantised_weight(weight_[node][i]);
    return model;
}

Chances::Chances(const Model& model) : model_(model) {
    const size_t contexts = (model_.chance.size() - model_.results) / NODES;
    moves_ = (model_.results + LINE - 1) / LINE * LINE;
    first_.resize(moves_ + contexts * LINE);
    const auto chance = [&](size_t i) { return static_cast<uint16_t>(chance_at(16 * model_.chance[i]) << 4); };
    for (size_t i = 0; i < model_.results; ++i) first_[i] = chance(i);
    for (size_t c = 0; c < contexts; ++c)
        for (size_t node = 0; node < NODES; ++node)
            first_[moves_ + c * LINE + node] = chance(model_.results + c * NODES + node);
    chance_ = first_;
    is_changed_.resize(chance_.size() / LINE);
}

void Chances::forget() {
    for (const size_t line : changed_) {
        std::memcpy(chance_.data() + line * LINE, first_.data() + line * LINE, LINE * sizeof(uint16_t));
        is_changed_[line] = 0;
    }
    changed_.clear();
}

// ---- reading and writing ----

bool encode(const Geometry& g, Chances& chances, size_t block, const int16_t* values, uint64_t* held,
            std::string& out) {
    static thread_local std::vector<Written> written;
    int16_t copy[BLOCK];
    const size_t begin = out.size();
    std::memcpy(copy, values, sizeof copy);
    Coder<Writer> encoder{chances, Writer(out, written)};
    Block<Coder<Writer>>(g, block, encoder).code(copy, held);
    encoder.stream.finish();
    chances.forget();
    return reads_back(written, out, begin) && !std::memcmp(copy, values, sizeof copy);
}

void decode(const Geometry& g, Chances& chances, size_t block, const uint8_t* bytes, size_t size, int16_t* values,
            uint64_t* held, size_t rows) {
    Coder<Reader> decoder{chances, Reader(bytes, size)};
    Block<Coder<Reader>>(g, block, decoder).code(values, held, static_cast<int>(rows / 64));
    chances.forget();
}

}  // namespace kingpair::dense
