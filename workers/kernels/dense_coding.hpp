// What both dense codecs share: the curve of chances, the range coder, and the decisions about a number of moves.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "dense.hpp"

namespace kingpair::dense {

// ---- probabilities ----

constexpr int X_MAX = 2047;

struct Curve {
    std::array<uint16_t, 4096> chance;    // of 4096, by x + 2048
    std::array<int16_t, 4096> stretched;  // x by chance

    Curve();
};

extern const Curve CURVE;

inline uint32_t chance_at(int x) { return CURVE.chance[static_cast<size_t>(std::clamp(x, -X_MAX, X_MAX) + 2048)]; }

// A chance and a weight as a model has them.
inline int8_t quantised(uint16_t chance) {
    return static_cast<int8_t>(std::clamp((CURVE.stretched[chance >> 4] + 8) >> 4, -127, 127));
}
inline int16_t quantised_weight(int32_t weight) { return static_cast<int16_t>(std::clamp(weight >> 4, -32768, 32767)); }

// Moves a chance of 65536 by what a bit was.
template <int BY>
void learn(uint16_t& chance, int bit) {
    chance = static_cast<uint16_t>(chance + (((bit ? 65535 : 0) - chance) >> BY));
}

// ---- the range coder ----

// A bit as it was written: the chance, shifted, and the bit.
using Written = uint16_t;

// Keeps the bits that it writes, so that they can be read back.
class Writer {
  public:
    Writer(std::string& out, std::vector<Written>& written) : out_(out), written_(written) { written_.clear(); }

    void put(int bit, uint32_t chance) {
        written_.push_back(static_cast<Written>(chance << 1 | static_cast<uint32_t>(bit)));
        const uint32_t middle = low_ + static_cast<uint32_t>(uint64_t{high_ - low_} * chance >> 12);
        if (bit) high_ = middle;
        else low_ = middle + 1;
        for (; !((low_ ^ high_) >> 24); low_ <<= 8, high_ = high_ << 8 | 255) out_ += static_cast<char>(high_ >> 24);
    }
    // The fewest bytes of a number in the range; bytes behind the last one count as zeros.
    void finish() {
        if (!low_) return;
        for (int bytes = 1; bytes <= 4; ++bytes) {
            const uint64_t below = bytes == 4 ? 0 : ~uint32_t{0} >> 8 * bytes;
            const uint64_t number = (uint64_t{low_} + below) & ~below;
            if (number > high_) continue;
            for (int i = 0; i < bytes; ++i) out_ += static_cast<char>(number >> (24 - 8 * i));
            return;
        }
    }

  private:
    std::string& out_;
    std::vector<Written>& written_;
    uint32_t low_ = 0, high_ = ~uint32_t{0};
};

class Reader {
  public:
    Reader(const uint8_t* bytes, size_t size) : at_(bytes), end_(bytes + size) {
        for (int i = 0; i < 4; ++i) number_ = number_ << 8 | next();
    }

    int get(uint32_t chance) {
        const uint32_t middle = low_ + static_cast<uint32_t>(uint64_t{high_ - low_} * chance >> 12);
        const int bit = number_ <= middle;
        if (bit) high_ = middle;
        else low_ = middle + 1;
        for (; !((low_ ^ high_) >> 24); low_ <<= 8, high_ = high_ << 8 | 255) number_ = number_ << 8 | next();
        return bit;
    }

  private:
    uint32_t next() { return at_ < end_ ? *at_++ : 0; }

    const uint8_t *at_, *end_;
    uint32_t low_ = 0, high_ = ~uint32_t{0}, number_ = 0;
};

// Writes the bit that it is given, or returns the one that it reads.
inline int code(Writer& writer, uint32_t chance, int bit) { return writer.put(bit, chance), bit; }
inline int code(Reader& reader, uint32_t chance, int) { return reader.get(chance); }

// Whether a code holds the bits that were written.
bool reads_back(const std::vector<Written>&, const std::string& out, size_t begin);

// ---- values ----

enum Result : int { DRAWN, WON, LOST };

inline int result_of(int value) { return (value > 0) + LOST * (value < 0); }
inline int moves_of(int value) { return value ^ value >> 31; }  // n, or -n - 1
inline int value_of(int result, int moves) { return result == WON ? moves : -moves - 1; }

// What the neighbours of a position say.
struct Neighbours {
    int value[4];

    size_t pattern() const {
        size_t found = 0;
        for (int v : value) found = 3 * found + static_cast<size_t>(result_of(v));
        return found;
    }
};

struct Reference {
    int moves, spread, shape;  // shape: how many neighbours have the result, and on which side of the reference

    // Without a branch for each neighbour, which no processor predicts.
    Reference(const Neighbours& near, int result) : moves(result == WON ? 1 : 0), spread(0), shape(0) {
        int n = 0, sum = 0, low = MOVES_MAX, high = 0;
        for (int v : near.value) {
            const int is = result_of(v) == result, seen = dense::moves_of(v) & -is;
            n += is;
            sum += seen;
            low = std::min(low, seen | (MOVES_MAX & (is - 1)));
            high = std::max(high, seen);
        }
        if (!n) return;
        const int middle = n >= 3 ? sum - low - high : sum;
        moves = n % 2 ? middle : (middle + 1) / 2;
        spread = std::min(high - low, 7);
        const int skew = 2 * (high - moves) - (high - low);
        shape = (skew > 0 ? 10 : skew < 0 ? 0 : 5) + n;
    }
};

// Nodes: does the number of moves differ, is it smaller, is the difference larger than 1, 2, ... (smaller, not
// smaller).
constexpr int DIFFERS = 0, SMALLER = 1, LARGER_BY = 2, NODES_EACH = 22;

// Codes a number of moves by `bit(node, wanted)`, which returns the bit that was coded.
template <class Bit>
int code_moves(Bit&& bit, int reference, int result, int moves) {
    if (!bit(DIFFERS, moves != reference)) return reference;
    const int room = reference - (result == WON ? 1 : 0);
    const bool smaller = room > 0 && bit(SMALLER, moves < reference);
    const int wanted = smaller ? reference - moves : moves - reference;
    const int most = smaller ? std::min(room, STEPS_MAX) : STEPS_MAX;
    const int first = LARGER_BY + (smaller ? 0 : NODES_EACH);
    int by = 1;
    while (by < most && bit(first + std::min(by, NODES_EACH) - 1, wanted > by)) ++by;
    return smaller ? reference - by : std::min(reference + by, MOVES_MAX);
}

}  // namespace kingpair::dense
