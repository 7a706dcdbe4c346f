// Makes symbols of the values of a Syzygy sub-table.
//
// Frequent pairs of neighbouring symbols become symbols, round after round: each round takes the most frequent pairs
// that do not get in each other's way. The sequence is kept as runs of equal symbols, of which there are far fewer than
// values. Pairs are counted once; after that a round changes only the counts beside the runs that it changes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "syzygy_decoder.hpp"
#include "syzygy_pair_counts.hpp"
#include "syzygy_runs.hpp"

namespace kingpair::syzygy {

// A value that may be chosen is written as FREE + the greatest that it may be.
constexpr uint16_t FREE = 0x8000;
constexpr double SYMBOL_BITS = 24;  // a symbol's entry in the header

// A sequence of symbols, and what each symbol stands for.
class Pairing {
  public:
    Pairing(std::span<const uint16_t> values, int symbols, PairingRoom& room);

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
    void count_all();
    void match_free(uint32_t sign);
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

    static constexpr uint8_t BEGINS = 1, ENDS = 2;

    size_t most_;
    size_t literals_ = 0;      // real values; behind them come the free ones
    std::vector<int> limits_;  // of each kind of free value: the greatest that it may become
    std::vector<Symbol> symbols_;
    std::vector<uint32_t> lengths_;
    std::vector<uint64_t> frequency_;
    RunBuffer &sequence_, &replaced_;
    PairCounts pairs_;
    std::vector<uint32_t> row_;          // of each symbol: where its row begins, 0 if no chosen pair begins with it
    std::vector<uint16_t> replacement_;  // [row][second]: the symbol of the pair, or 0
    std::vector<uint8_t> role_;          // of each symbol: whether it begins or ends a chosen pair
};

}  // namespace kingpair::syzygy
