// The verifier's kernels: find the legal positions, compute the best key of their successors, compare it with their
// values.
//
//     value(x) = -max { key(y) : y a successor of x }      with the exceptions of verify.hpp
//
// Cost: for each strip a load and one or two operations for every move of the men but the last, some twenty for each
// direction of a last man who slides. Most time is spent waiting for the strips that the king enters: most of them have
// left the nearer caches since they were made.

#include "verify.hpp"

#include "arrange.hpp"
#include "assertions.hpp"
#include "captures.hpp"
#include "judging.hpp"

namespace kingpair::verify {
namespace {

inline void check_question(const Men& men, int pair, int side) {
    KINGPAIR_INVARIANT(men.count >= 1 && men.count <= MEN_MAX, "there are one to five men besides the kings");
    KINGPAIR_INVARIANT(pair >= 0 && pair < PAIRS, "a partition is one of the board");
    KINGPAIR_INVARIANT(side == 0 || side == 1, "a side is 0 or 1");
}

// ---- keys ----

// If the last two men are alike they can change places. So the lanes of a block of eight strips that belong to an
// earlier block are the transposed lanes of that block's strips.
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

// The lanes of a square's strip before that square, copied from earlier strips. The last two men are alike.
template <class Key>
Strip<Key> from_earlier(Key* plane, size_t square) {
    Key* here = plane + 64 * square;
    for (size_t s = square & ~size_t{7}; s < square; ++s) here[s] = plane[64 * s + square];
    return load<Key>(here) & lanes<Key>(bit(static_cast<int>(square)) - 1);
}

template <class Key, class Value>
void quiet(const Men& men, int pair, int to_move, const Value* values, const Standing& standing,
           const Key* const* taken, int deeper, Key* out) {
    check_question(men, pair, to_move);
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
        Strip<Key> keys = legal ? keys_of<Key>(load<Key>(from), deeper) & lanes<Key>(legal) : Strip<Key>{};
        if (known) keys = keys | from_earlier(plane, square);
        store<Key>(here, keys);
        if (taken) captures.enter(strip, placing, here);
    }
}

// ---- judging ----

// The values of the legal positions `here` of a strip that follow from their successors.
template <class Key>
Strip<Key> following(const Moves<Key>& moves, const Partition& partition, int mover, size_t strip,
                     const Placing& placing, const Strip<Key>& here) {
    const Strip<Key> best = moves.best(strip, placing);
    const Strip<Key> stuck = equal<Key>(best, 0) & here;
    if (!any(stuck)) return values_of(best);
    const uint64_t in_check = attacked(partition.board, partition.men, placing, partition.king[mover], 1 - mover);
    return values_of(best) | (stuck & lanes<Key>(in_check));  // mate is -1
}

template <class Key, class Value>
Findings check(const Men& men, int pair, int mover, const Value* values, const Standing& standing, const Key* quiet,
               const int16_t* place, uint64_t* counts) {
    check_question(men, pair, mover);
    KINGPAIR_INVARIANT(place[pair] >= 0, "the partition that is checked is held");
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
        const Strip<Key> expected = following(moves, partition, mover, strip, placing, here);
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

template <class Key, class Value>
void derive(const Men& men, int pair, int mover, const Standing& standing, const Key* quiet, const int16_t* place,
            Value* rows) {
    check_question(men, pair, mover);
    KINGPAIR_INVARIANT(place[pair] >= 0, "the partition that is derived is held");
    const Partition partition(men, pair);
    Moves<Key> moves(partition, pair, mover, quiet, place);
    size_t plane = SIZE_MAX;
    for (size_t strip = 0; strip < men.strips(); ++strip) {
        const Placing placing = partition.placing(strip);
        uint64_t legal = standing.own_lanes(strip) & partition.legal(placing, mover);
        if (!legal) continue;
        if (plane != strip / 64) moves.begin(plane = strip / 64);
        const Strip<Key> values = following(moves, partition, mover, strip, placing, lanes<Key>(legal));
        Value value[64];
        std::memcpy(value, &values, sizeof value);
        for (; legal; legal &= legal - 1) {
            const int s = __builtin_ctzll(legal);
            rows[men.row_of(64 * strip + static_cast<size_t>(s))] = value[s];
        }
    }
}

template <class Value>
int64_t find(const Men& men, int pair, int to_move, const Value* values, const Standing& standing, int value) {
    check_question(men, pair, to_move);
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
    {arrange<uint8_t, int8_t>, taken<uint8_t, int8_t>, quiet<uint8_t, int8_t>, check<uint8_t, int8_t>,
     derive<uint8_t, int8_t>, find<int8_t>},
    {arrange<uint16_t, int16_t>, taken<uint16_t, int16_t>, quiet<uint16_t, int16_t>, check<uint16_t, int16_t>,
     derive<uint16_t, int16_t>, find<int16_t>},
};

}  // namespace KINGPAIR_LEVEL

}  // namespace kingpair::verify
