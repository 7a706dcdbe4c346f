// The verifier's kernels: which positions are legal, what their successors are worth, and whether that is what their
// values say.
//
// Cost: for each strip a load and one or two operations for every move of the men but the last, some twenty for each
// direction of a slider that is last. What is waited for are the strips that the king enters, most of which have left
// the nearer caches since they were made.

#include "verify.hpp"

#include <tuple>

#include "arrange.hpp"
#include "captures.hpp"

namespace kingpair::verify {
namespace {

// ---- keys ------------------------------------------------------------------------------------------------------------

// Of two like men in the last places either may be the last. So what a block of eight strips has in lanes of earlier
// blocks stands in these blocks' strips, transposed.
template <class Key>
void fill_from_earlier(Key* plane, size_t block) {
    for (size_t earlier = 0; earlier < block; ++earlier) {
        Key square[64];
        for (size_t i = 0; i < 8; ++i)
            std::memcpy(square + 8 * i, plane + 64 * (8 * earlier + i) + 8 * block, 8 * sizeof(Key));
        store<Key>(square, turned(TRANSPOSED, square));
        for (size_t i = 0; i < 8; ++i)
            std::memcpy(plane + 64 * (8 * block + i) + 8 * earlier, square + 8 * i, 8 * sizeof(Key));
    }
}

// What the strip of a square has in lanes before that square, if the last man is like the one before him.
template <class Key>
Strip<Key> from_earlier(Key* plane, size_t square) {
    Key* here = plane + 64 * square;
    for (size_t s = square & ~size_t{7}; s < square; ++s) here[s] = plane[64 * s + square];
    return load<Key>(here) & lanes<Key>(bit(static_cast<int>(square)) - 1);
}

template <class Key, class Value>
void quiet(const Men& men, int pair, int to_move, const Value* values, const Standing& standing,
           const Key* const* taken, Key* out) {
    const Partition partition(men, pair);
    const Captures<Key> captures(partition, pair, 1 - to_move, taken);
    Value gathered[64];
    for (size_t strip = 0; strip < men.strips(); ++strip) {
        Key* const here = out + 64 * strip;
        const size_t square = strip & 63;
        Key* const plane = here - 64 * square;
        if (standing.last_is_like && square % 8 == 0) fill_from_earlier(plane, square / 8);
        if (const Twin twin = standing.twin_of(strip); twin.strip != strip) {
            const Key* from = out + 64 * size_t{twin.strip};
            store<Key>(here, twin.turned ? turned(TRANSPOSED, from) : load<Key>(from));
            continue;
        }
        const uint64_t known = standing.last_is_like ? bit(static_cast<int>(square)) - 1 : 0;
        const Placing placing = partition.placing(strip);
        const uint64_t legal = partition.legal(placing, to_move) & ~known;
        const Value* from = values + 64 * strip;
        if (uint64_t others = legal & ~standing.own_lanes(strip)) {
            std::memcpy(gathered, from, sizeof gathered);
            for (; others; others &= others - 1) {
                const int s = __builtin_ctzll(others);
                gathered[s] = values[standing.slot[64 * strip + static_cast<size_t>(s)]];
            }
            from = gathered;
        }
        Strip<Key> keys = legal ? keys_of<Key>(load<Key>(from), true) & lanes<Key>(legal) : Strip<Key>{};
        if (known) keys = keys | from_earlier(plane, square);
        store<Key>(here, keys);
        if (taken) captures.enter(strip, placing, here);
    }
}

// ---- judging ---------------------------------------------------------------------------------------------------------

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
    if (found.first.row < 0 || std::tie(rank, here.row) < std::tie(found.first.rank, found.first.row)) found.first = here;
}

// How often each value stands in some lanes.
template <class Key>
class Histogram {
  public:
    // Most lanes share a few values: these are counted together, what is left one by one.
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

// Right but for mates.
template <class Key>
Strip<Key> values_of(const Strip<Key>& best) {
    return each([](auto key) {
        const auto drawn = reinterpret_cast<Register<Key>>(key == DRAW<Key>);
        return -key & ~drawn;
    }, best);
}

template <class Key, class Value>
Findings check(const Men& men, int pair, int mover, const Value* values, const Standing& standing, const Key* quiet,
               const int16_t* place, uint64_t* counts) {
    const Partition partition(men, pair);
    Moves<Key> moves(partition, pair, mover, quiet, place);
    static thread_local Histogram<Key> histogram;
    histogram = {};
    Findings found{0, 0, 0, {-1, 0, 0, 0}};
    size_t plane = SIZE_MAX;
    for (size_t strip = 0; strip < men.strips(); ++strip) {
        const uint64_t own = standing.own_lanes(strip);
        if (!own) continue;
        const Placing placing = partition.placing(strip);
        if (!placing.apart) continue;
        const uint64_t placed = ~placing.occupied & own;
        const uint64_t legal = placed & partition.legal(placing, mover);
        found.placed += static_cast<uint64_t>(__builtin_popcountll(placed));
        found.legal += static_cast<uint64_t>(__builtin_popcountll(legal));
        if (!legal) continue;
        const Strip<Key> here = lanes<Key>(legal), stated = load<Key>(values + 64 * strip);
        if (plane != strip / 64) moves.begin(plane = strip / 64);
        const Strip<Key> best = moves.best(strip, placing);
        Strip<Key> expected = values_of(best);
        if (const Strip<Key> stuck = equal<Key>(best, 0) & here; any(stuck)) {
            const uint64_t in_check = attacked(partition.board, men, placing, partition.king[mover], 1 - mover);
            expected = expected | (stuck & lanes<Key>(in_check));  // mate is -1
        }
        histogram.add(stated, here);
        if (!any((stated ^ expected) & here)) continue;
        Value should_be[64];
        std::memcpy(should_be, &expected, sizeof should_be);
        for (size_t s = 0; s < 64; ++s)
            if (legal >> s & 1 && values[64 * strip + s] != should_be[s])
                enter(found, men.row_of(64 * strip + s), values[64 * strip + s], should_be[s]);
    }
    histogram.add_to(counts);
    return found;
}

template <class Value>
int64_t find(const Men& men, int pair, int to_move, const Value* values, const Standing& standing, int value) {
    const Partition partition(men, pair);
    int64_t first = -1;
    for (size_t strip = 0; strip < men.strips(); ++strip) {
        uint64_t rest = partition.legal(partition.placing(strip), to_move) & standing.own_lanes(strip);
        for (; rest; rest &= rest - 1) {
            const size_t slot = 64 * strip + static_cast<size_t>(__builtin_ctzll(rest));
            const auto row = static_cast<int64_t>(men.row_of(slot));
            if (values[slot] == value && (first < 0 || row < first)) first = row;
        }
    }
    return first;
}

}  // namespace

#define KINGPAIR_QUOTE_(x) #x
#define KINGPAIR_QUOTE(x) KINGPAIR_QUOTE_(x)

namespace KINGPAIR_LEVEL {

const Kernels KERNELS{
    KINGPAIR_QUOTE(KINGPAIR_LEVEL),
    {arrange<uint8_t, int8_t>, taken<uint8_t, int8_t>, quiet<uint8_t, int8_t>, check<uint8_t, int8_t>, find<int8_t>},
    {arrange<uint16_t, int16_t>, taken<uint16_t, int16_t>, quiet<uint16_t, int16_t>, check<uint16_t, int16_t>,
     find<int16_t>},
};

}  // namespace KINGPAIR_LEVEL

}  // namespace kingpair::verify
