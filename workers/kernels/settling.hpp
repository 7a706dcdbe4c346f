// Settles the sets that the steps of an analysis gather. Both games do this alike.
//
// Cost: one pass over the rows that were touched.

#pragma once

#include "invariants.hpp"

namespace kingpair::KINGPAIR_LEVEL {
namespace {

// found = scratch & open; open -= found; the scratch set is left empty. Counts positions, one of each orbit.
inline uint64_t settle(const Part& p, Scratch s, Layer open, Layer found, const uint64_t* canonical) {
    uint64_t* open_words = p.words(open);
    uint64_t* found_words = p.words(found);
    uint8_t* found_occupied = p.occupied(found);
    const uint64_t* counted = canonical ? p.canonical(canonical) : nullptr;
    uint64_t count = 0;
    uint32_t live = 0;
    for (size_t row = 0; row < p.rows; ++row) {
        const unsigned touched = s.set_touched[row];
        found_occupied[row] = 0;
        if (!touched) continue;
        s.set_touched[row] = 0;
        unsigned occupied = 0, left = 0;
        Unit v[8];
        for (int r = 0; r < 8; ++r) {
            Unit still = unit(open_words, row, r);
            v[r] = unit(s.set, row, r) & still;
            unit(s.set, row, r) = Unit{};
            occupied |= unsigned{any(v[r])} << r;
            left |= unsigned{any(still & ~v[r])} << r;
        }
        if (!occupied) continue;
        ++live;
        found_occupied[row] = static_cast<uint8_t>(occupied);
        p.occupied(open)[row] = static_cast<uint8_t>(left);
        for (int r = 0; r < 8; ++r) unit(found_words, row, r) = v[r];
        for (unsigned m = occupied; m; m &= m - 1) {
            int r = lowest(m);
            unit(open_words, row, r) &= ~v[r];
            count += popcount(counted ? v[r] & unit_at(counted + row * 64 + 8 * r) : v[r]);
        }
    }
    found.live[p.at] = live;
    return count;
}

inline void settle_nothing(const Part& p, Layer found) {
    if (!found.live[p.at]) return;
    for (size_t row = 0; row < p.rows; ++row) p.occupied(found)[row] = 0;
    found.live[p.at] = 0;
}

// scratch &= keep, and only non-empty units stay marked. Returns whether any position is left.
template <class Keep>
inline bool narrow(const Part& p, Scratch s, Keep keep) {
    bool left = false;
    for (size_t row = 0; row < p.rows; ++row) {
        unsigned touched = s.set_touched[row], still = 0;
        for (; touched; touched &= touched - 1) {
            int r = lowest(touched);
            Unit v = unit(s.set, row, r) & keep(row, r);
            unit(s.set, row, r) = v;
            still |= unsigned{any(v)} << r;
        }
        s.set_touched[row] = static_cast<uint8_t>(still);
        left |= still != 0;
    }
    return left;
}

inline bool narrow(const Part& p, Scratch s) {
    return narrow(p, s, [](size_t, int) { return broadcast(~uint64_t{0}); });
}

// set |= layer
inline bool gather_layer(const Part& p, Layer layer, Gather gather) {
    if (!layer.words || !layer.live[p.at]) return false;
    for (size_t row = 0; row < p.rows; ++row)
        for (unsigned m = p.occupied(layer)[row]; m; m &= m - 1) {
            const int r = lowest(m);
            gather(row, r, unit(p.words(layer), row, r));
        }
    return true;
}

// Adds freed positions, whose last escape is gone, to the open set. They may be lost in the same pass.
inline bool release(const Part& p, Layer freed, Layer open_l, Gather gather) {
    if (!freed.words || !freed.live[p.at]) return false;
    for (size_t row = 0; row < p.rows; ++row) {
        const unsigned units = p.occupied(freed)[row];
        for (unsigned m = units; m; m &= m - 1) {
            const int r = lowest(m);
            const Unit v = unit(p.words(freed), row, r);
            unit(p.words(open_l), row, r) |= v;
            gather(row, r, v);
        }
        uint8_t& open_units = p.occupied(open_l)[row];
        open_l.live[p.at] += units && !open_units;
        open_units = static_cast<uint8_t>(open_units | units);
    }
    return true;
}

// out |= scratch, which is left empty. `out` is valid in all its rows.
inline void add_to(const Part& p, Scratch s, Layer out) {
    for (size_t row = 0; row < p.rows; ++row) {
        const unsigned touched = s.set_touched[row];
        if (!touched) continue;
        for (unsigned m = touched; m; m &= m - 1) {
            const int r = lowest(m);
            unit(p.words(out), row, r) |= unit(s.set, row, r);
            unit(s.set, row, r) = Unit{};
        }
        uint8_t& occupied = p.occupied(out)[row];
        out.live[p.at] += !occupied;
        occupied = static_cast<uint8_t>(occupied | touched);
        s.set_touched[row] = 0;
    }
}

}  // namespace
}  // namespace kingpair::KINGPAIR_LEVEL
