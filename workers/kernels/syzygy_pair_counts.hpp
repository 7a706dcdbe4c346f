// How often each two symbols stand together in a sequence.
//
// All pairs of 4,095 symbols have a place, and few of them occur: the places that are not 0 are listed, so that nothing
// walks through the others.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "syzygy_runs.hpp"

namespace kingpair::syzygy {

class PairCounts {
  public:
    explicit PairCounts(PairingRoom& room) : room_(room) {}
    ~PairCounts() {
        for (const uint32_t place : listed_) counts_[place] = 0;  // for the next one
    }
    PairCounts(const PairCounts&) = delete;
    PairCounts& operator=(const PairCounts&) = delete;

    // Makes room for the pairs of so many symbols. To be called once.
    void make_room(size_t symbols) {
        symbols_ = symbols;
        counts_ = room_.zeros(symbols * symbols);
    }

    // Counts are modulo a power of two, so that adding can take away.
    void add(size_t first, size_t second, uint32_t count) {
        uint32_t& at = counts_[first * symbols_ + second];
        if (!at) listed_.push_back(static_cast<uint32_t>(first * symbols_ + second));
        at = (at + count) | LISTED;
    }

    // The places of pairs that were counted since they were dropped. Adding may list another behind them.
    const std::vector<uint32_t>& places() const { return listed_; }
    size_t first(uint32_t place) const { return place / symbols_; }
    size_t second(uint32_t place) const { return place % symbols_; }
    uint32_t count(uint32_t place) const { return counts_[place] & ~LISTED; }

    // Forgets the places of pairs that are no more.
    void drop_uncounted() {
        size_t to = 0;
        for (const uint32_t place : listed_) {
            if (count(place)) listed_[to++] = place;
            else counts_[place] = 0;
        }
        listed_.resize(to);
    }

  private:
    static constexpr uint32_t LISTED = uint32_t{1} << 31;

    PairingRoom& room_;
    size_t symbols_ = 0;
    uint32_t* counts_ = nullptr;    // [first][second]
    std::vector<uint32_t> listed_;  // the places of `counts_` that are not 0
};

}  // namespace kingpair::syzygy
