// The findings of a verification: wrong values in the order of the proof, and how often each value occurs.

#pragma once

#include <tuple>

#include "keys.hpp"

namespace kingpair::verify {
namespace {

// Wins in n come before losses in n, as in the proof; draws last.
int64_t rank_of(int value) {
    if (value == 0) return INT64_MAX;
    return value > 0 ? 2 * int64_t{value} : 2 * (-int64_t{value} - 1) + 1;
}

template <class Value>
void enter(Findings& found, size_t row, Value value, Value expected) {
    ++found.wrong;
    const int64_t one = rank_of(value), other = rank_of(expected), rank = one < other ? one : other;
    const Wrong here{static_cast<int64_t>(row), rank, value, expected};
    if (found.first.row < 0 || std::tie(rank, here.row) < std::tie(found.first.rank, found.first.row))
        found.first = here;
}

// Counts how often each value occurs in some lanes.
template <class Key>
class Histogram {
  public:
    // Most lanes share a few values, which are counted together. The other lanes are counted one by one.
    void add(const Strip<Key>& values, const Strip<Key>& here) {
        Key lane[64];
        store<Key>(lane, values);
        uint64_t rest = packed(here);
        for (int i = 0; i < SHARED && rest; ++i) {
            const Key value = lane[lane_of<Key>(__builtin_ctzll(rest))];
            const uint64_t same = packed(equal<Key>(values, value));
            count_[value] += static_cast<uint32_t>(__builtin_popcountll(same & rest));
            rest &= ~same;
        }
        for (; rest; rest &= rest - 1) ++count_[lane[lane_of<Key>(__builtin_ctzll(rest))]];
    }
    void add_to(uint64_t* counts) const {
        for (size_t value = 0; value < SIZE; ++value) counts[value] += count_[value];
    }

  private:
    static constexpr int SHARED = 3;
    static constexpr size_t SIZE = size_t{1} << 8 * sizeof(Key);
    uint32_t count_[SIZE] = {};
};

}  // namespace
}  // namespace kingpair::verify
