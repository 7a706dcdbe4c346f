// The verifier's kernels: which positions are legal, what their successors are worth, and whether that is what their
// values say.
//
// Cost: for each strip a load and a few operations for every move of the men but the last, some forty for each
// direction of the last man, and the table read about as often as the first man has moves.

#include "verify.hpp"

#include "forward.hpp"

namespace kingpair::verify {
namespace {

// The lanes that stand for themselves.
uint64_t own(const Standing& standing, size_t strip) {
    return standing.own.empty() ? ~uint64_t{0} : standing.own[strip];
}

Twin twin_of(const Standing& standing, size_t strip) {
    return standing.twin.empty() ? Twin{static_cast<uint32_t>(strip), false} : standing.twin[strip];
}

// ---- keys ------------------------------------------------------------------------------------------------------------

template <class Key>
Strip<Key> keys_of(const Strip<Key>& values) {
    return each([](auto v) {
        const auto value = reinterpret_cast<SignedRegister<Key>>(v);
        const auto won = reinterpret_cast<Register<Key>>(value > 0), drawn = reinterpret_cast<Register<Key>>(value == 0);
        return (v - won) | (drawn & DRAW<Key>);
    }, values);
}

// A capture that ends the phase: all that matters is who wins.
template <class Key>
Key key_of_capture(bool carry_depth, int value) {
    if (value == 0) return DRAW<Key>;
    if (carry_depth) return static_cast<Key>(value < 0 ? value : value + 1);
    return static_cast<Key>(value < 0 ? -1 : 1);
}

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
void quiet(const Men& men, int pair, int to_move, const Value* values, const Standing& standing, Key* out) {
    const Partition partition(men, pair);
    Value gathered[64];
    for (size_t strip = 0; strip < men.strips(); ++strip) {
        Key* const here = out + 64 * strip;
        const size_t square = strip & 63;
        Key* const plane = here - 64 * square;
        if (standing.last_is_like && square % 8 == 0) fill_from_earlier(plane, square / 8);
        if (const Twin twin = twin_of(standing, strip); twin.strip != strip) {
            const Key* from = out + 64 * size_t{twin.strip};
            store<Key>(here, twin.turned ? turned(TRANSPOSED, from) : load<Key>(from));
            continue;
        }
        const uint64_t known = standing.last_is_like ? bit(static_cast<int>(square)) - 1 : 0;
        const uint64_t legal = partition.legal(partition.placing(strip), to_move) & ~known;
        const Value* from = values + 64 * strip;
        if (uint64_t others = legal & ~own(standing, strip)) {
            std::memcpy(gathered, from, sizeof gathered);
            for (; others; others &= others - 1) {
                const int s = __builtin_ctzll(others);
                gathered[s] = values[standing.slot[64 * strip + static_cast<size_t>(s)]];
            }
            from = gathered;
        }
        Strip<Key> keys = legal ? keys_of<Key>(load<Key>(from)) & lanes<Key>(legal) : Strip<Key>{};
        if (known) keys = keys | from_earlier(plane, square);
        store<Key>(here, keys);
    }
}

template <class Key, class Value>
void taken(const Smaller& smaller, int pair, int to_move, bool carry_depth, const Value* column, Key* out) {
    const Partition partition(smaller.ours, pair);
    const Kings& kings = verify::kings();
    const int first = partition.king[smaller.swapped], second = partition.king[!smaller.swapped];
    const int place = kings.pair[first][second];
    const uint8_t* turn = partition.board.turned[kings.symmetry[first][second]];
    const Slots slots(smaller.theirs);
    const int count = smaller.ours.count, last = count - 1;
    const bool diagonal = kings.diagonal[place], alone = !diagonal && !slots.like_men();
    int there[MEN_MAX] = {};  // which of their men is ours
    for (int i = 0; i < count; ++i) there[smaller.from[i]] = i;
    const int place_of_last = 6 * (count - 1 - there[last]);
    const Value* values = column + static_cast<size_t>(place) * smaller.theirs.slots();
    for (size_t strip = 0; strip < smaller.ours.strips(); ++strip) {
        const Placing placing = partition.placing(strip);
        const uint64_t legal = partition.legal(placing, to_move);
        uint8_t squares[MEN_MAX] = {};
        size_t base = 0;  // their slot but for the last of ours
        for (int i = 0; i < last; ++i) {
            squares[there[i]] = turn[placing.square[i]];
            base |= static_cast<size_t>(squares[there[i]]) << 6 * (count - 1 - there[i]);
        }
        Key keys[64] = {};
        for (uint64_t rest = legal; rest; rest &= rest - 1) {
            const int s = __builtin_ctzll(rest);
            squares[there[last]] = turn[s];
            const size_t slot = alone ? base | static_cast<size_t>(turn[s]) << place_of_last : slots.of(squares, diagonal);
            keys[s] = key_of_capture<Key>(carry_depth, values[slot]);
        }
        std::memcpy(out + 64 * strip, keys, sizeof keys);
    }
}

// ---- judging ---------------------------------------------------------------------------------------------------------

// Wins in n come before losses in n, as in the proof; draws last.
int64_t rank_of(int value) {
    if (value == 0) return INT64_MAX;
    return value > 0 ? 2 * int64_t{value} : 2 * (-int64_t{value} - 1) + 1;
}

template <class Value>
void enter(Findings& found, size_t slot, Value value, Value expected) {
    ++found.wrong;
    const int64_t one = rank_of(value), other = rank_of(expected), rank = one < other ? one : other;
    if (found.first.slot < 0 || rank < found.first.rank)
        found.first = {static_cast<int64_t>(slot), rank, value, expected};
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
               const int16_t* place, const Key* const* taken, uint64_t* counts) {
    const Partition partition(men, pair);
    const Moves<Key> moves(partition, pair, mover, quiet, place, taken);
    static thread_local Histogram<Key> histogram;
    histogram = {};
    Findings found{0, 0, 0, {-1, 0, 0, 0}};
    for (size_t strip = 0; strip < men.strips(); ++strip) {
        const Placing placing = partition.placing(strip);
        if (!placing.apart) continue;
        const uint64_t placed = ~placing.occupied & own(standing, strip);
        if (!placed) continue;
        const uint64_t legal = placed & partition.legal(placing, mover);
        found.placed += static_cast<uint64_t>(__builtin_popcountll(placed));
        found.legal += static_cast<uint64_t>(__builtin_popcountll(legal));
        if (!legal) continue;
        const Strip<Key> here = lanes<Key>(legal), stated = load<Key>(values + 64 * strip);
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
                enter(found, 64 * strip + s, values[64 * strip + s], should_be[s]);
    }
    histogram.add_to(counts);
    return found;
}

template <class Value>
int64_t find(const Men& men, int pair, int to_move, const Value* values, const Standing& standing, int value) {
    const Partition partition(men, pair);
    for (size_t strip = 0; strip < men.strips(); ++strip) {
        uint64_t rest = partition.legal(partition.placing(strip), to_move) & own(standing, strip);
        for (; rest; rest &= rest - 1) {
            const size_t slot = 64 * strip + static_cast<size_t>(__builtin_ctzll(rest));
            if (values[slot] == value) return static_cast<int64_t>(slot);
        }
    }
    return -1;
}

}  // namespace

#define KINGPAIR_QUOTE_(x) #x
#define KINGPAIR_QUOTE(x) KINGPAIR_QUOTE_(x)

namespace KINGPAIR_LEVEL {

const Kernels KERNELS{
    KINGPAIR_QUOTE(KINGPAIR_LEVEL),
    {quiet<uint8_t, int8_t>, taken<uint8_t, int8_t>, check<uint8_t, int8_t>, find<int8_t>},
    {quiet<uint16_t, int16_t>, taken<uint16_t, int16_t>, check<uint16_t, int16_t>, find<int16_t>},
};

}  // namespace KINGPAIR_LEVEL

}  // namespace kingpair::verify
