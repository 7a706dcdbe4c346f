// Makes symbols of the values of a Syzygy sub-table.
//
// Frequent pairs of neighbouring symbols become symbols, round after round: each round takes the most frequent pairs
// that do not get in each other's way. The sequence is kept as runs of equal symbols, of which there are far fewer than
// values. Pairs are counted once; after that a round changes only the counts beside the runs that it changes.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "syzygy_decoder.hpp"

namespace kingpair::syzygy {

// A value that may be chosen is written as FREE + the greatest that it may be.
constexpr uint16_t FREE = 0x8000;
constexpr double SYMBOL_BITS = 24;  // a symbol's entry in the header

// The end of the run of equal values that begins at `i`.
inline size_t end_of_run(std::span<const uint16_t> values, size_t i) {
    const uint16_t value = values[i];
    const uint64_t four = value * uint64_t{0x0001000100010001};
    for (uint64_t next; i + 4 <= values.size(); i += 4) {
        std::memcpy(&next, &values[i], sizeof next);
        if (next != four) break;
    }
    while (i < values.size() && values[i] == value) ++i;
    return i;
}

// So many equal symbols.
struct Run {
    uint16_t symbol;
    uint32_t count;
};

struct Freed {
    void operator()(void* memory) const { std::free(memory); }
};

// Zeros that take memory only where they are touched: a small sub-table uses few of the 67 MB of all pairs.
using Zeros = std::unique_ptr<uint32_t[], Freed>;

// Room for runs, and one more. It is not cleared, so memory that is never written is never taken.
class RunBuffer {
  public:
    const Run* begin() const { return runs_.get(); }
    const Run* end() const { return runs_.get() + size_; }
    size_t size() const { return size_; }
    const Run& operator[](size_t i) const { return runs_[i]; }
    Run& back() { return runs_[size_ - 1]; }

    void clear(size_t room);
    void push(Run run) { runs_[size_++] = run; }
    void push(const Run* begin, const Run* end) {
        size_ = static_cast<size_t>(std::copy(begin, end, &runs_[size_]) - runs_.get());
    }
    void put(size_t i, Run run) { runs_[i] = run; }

  private:
    std::unique_ptr<Run[], Freed> runs_;
    size_t size_ = 0, room_ = 0;
};

// Memory that one sequence after the other is paired in: the system clears it once.
struct PairingRoom {
    RunBuffer sequence, replaced;
    Zeros pairs;
    size_t pairs_size = 0;
};

// A sequence of symbols, and what each symbol stands for.
class Pairing {
  public:
    Pairing(std::span<const uint16_t> values, int symbols, PairingRoom& room);
    ~Pairing();
    Pairing(const Pairing&) = delete;
    Pairing& operator=(const Pairing&) = delete;

    // Calls `pause` before each round; it may throw.
    void run(const std::function<void()>& pause);

    const RunBuffer& sequence() const { return sequence_; }
    const std::vector<Symbol>& symbols() const { return symbols_; }
    const std::vector<uint32_t>& lengths() const { return lengths_; }
    const std::vector<uint64_t>& frequencies() const { return frequency_; }

  private:
    struct Pair {
        uint16_t first, second;
        uint32_t count;
    };

    void read_runs(std::span<const uint16_t> values);
    void number_symbols();
    void find_room();
    void count_all();
    void match_free(uint32_t sign);
    void drop_uncounted();
    std::vector<Pair> worth_a_symbol() const;
    std::vector<Pair> choose(const std::vector<Pair>& sorted) const;
    void replace(const std::vector<Pair>& chosen);
    size_t copy_unchanged(size_t from, size_t runs);
    void claim(const Pair&, uint16_t symbol);
    uint32_t replace_run(Run, uint32_t twin, uint32_t pair, bool& is_new);
    void add_replaced(Run, bool is_last_new, bool is_new);
    void count_run(Run, uint32_t sign);
    void settle_free();

    bool is_free(size_t symbol) const { return symbol >= literals_ && symbol < literals_ + limits_.size(); }
    size_t columns() const { return most_ + 1; }  // a symbol, or the end
    uint32_t counted(uint32_t at) const { return pairs_[at] & ~LISTED; }
    void add(size_t first, size_t second, uint32_t count) {
        uint32_t& at = pairs_[first * most_ + second];
        if (!at) listed_.push_back(static_cast<uint32_t>(first * most_ + second));
        at = (at + count) | LISTED;
    }

    static constexpr uint32_t LISTED = uint32_t{1} << 31;
    static constexpr uint8_t BEGINS = 1, ENDS = 2;

    size_t most_;
    size_t literals_ = 0;      // real values; behind them come the free ones
    std::vector<int> limits_;  // of each kind of free value: the greatest that it may become
    std::vector<Symbol> symbols_;
    std::vector<uint32_t> lengths_;
    std::vector<uint64_t> frequency_;
    PairingRoom& room_;
    RunBuffer &sequence_, &replaced_;
    uint32_t* pairs_ = nullptr;          // [first][second]: how often they stand together
    std::vector<uint32_t> listed_;       // the places of `pairs_` that are not 0
    std::vector<uint32_t> row_;          // of each symbol: where its row begins, 0 if no chosen pair begins with it
    std::vector<uint16_t> replacement_;  // [row][second]: the symbol of the pair, or 0
    std::vector<uint8_t> role_;          // of each symbol: whether it begins or ends a chosen pair
};

}  // namespace kingpair::syzygy
