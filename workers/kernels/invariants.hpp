// The invariants of a partition's sets (kernels.hpp), as the kernels find them when they begin.
//
// Cost: none without assertions. With them the marks of a partition are read, and one row of the scratch space.

#pragma once

#include "assertions.hpp"
#include "legality.hpp"

namespace kingpair::KINGPAIR_LEVEL {
namespace {

inline bool is_aligned(const uint64_t* words) { return reinterpret_cast<uintptr_t>(words) % 64 == 0; }

inline size_t occupied_rows(const Part& p, Layer layer) {
    size_t rows = 0;
    for (size_t row = 0; row < p.rows; ++row) rows += p.occupied(layer)[row] != 0;
    return rows;
}

// Of a frontier, whose rows are counted exactly: where it is not live its marks mean nothing.
inline void check_frontier(const Part& p, Layer layer) {
    KINGPAIR_INVARIANT(is_aligned(layer.words), "a layer's words are aligned");
    KINGPAIR_INVARIANT(!layer.live[p.at] || layer.live[p.at] == occupied_rows(p, layer),
                       "a layer has as many occupied rows as it says");
}

// Of a layer that a step writes: where it is not live no row of it is occupied.
inline void check_written(const Part& p, Layer layer) {
    check_frontier(p, layer);
    KINGPAIR_INVARIANT(layer.live[p.at] || !occupied_rows(p, layer), "a layer that is not live has no occupied row");
}

// Of an open set, which may say that it has more rows than it still has.
inline void check_open(const Part& p, Layer open) {
    KINGPAIR_INVARIANT(is_aligned(open.words), "an open set's words are aligned");
    KINGPAIR_INVARIANT(open.live[p.at] >= occupied_rows(p, open), "an open set has no more occupied rows than it says");
}

// The partitions that a king's moves read are held.
inline void check_neighbours(const Part& p, int side) {
    if constexpr (!ASSERTED) return;
    const Steps& steps = p.d.steps[side][p.pair];
    for (int i = 0; i < steps.count; ++i) place_in(p.d, steps.step[i].pair);
}

// Scratch space is zero between calls. Of its words one row is looked at, another for each partition.
inline void check_scratch(const Part& p, Scratch s) {
    if constexpr (!ASSERTED) return;
    const size_t row = static_cast<size_t>(p.pair) % p.rows;
    for (const uint64_t* words : List<const uint64_t*, 3>{s.set, s.placed, s.other}) {
        KINGPAIR_INVARIANT(is_aligned(words), "scratch space is aligned");
        Unit sum{};
        for (int r = 0; r < 8; ++r) sum |= unit_at(words + row * 64 + 8 * r);
        KINGPAIR_INVARIANT(!any(sum), "scratch space is empty between calls");
    }
    unsigned touched = 0;
    for (size_t r = 0; r < p.rows; ++r) touched |= s.set_touched[r] | s.placed_touched[r] | s.other_touched[r];
    KINGPAIR_INVARIANT(!touched, "scratch space is unmarked between calls");
}

}  // namespace
}  // namespace kingpair::KINGPAIR_LEVEL
