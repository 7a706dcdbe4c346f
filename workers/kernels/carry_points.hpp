// Sets of bits carried for many partitions at once.
//
// Without men a partition has one bit for each structure, so an arrow would carry a single bit. Turned over, a
// structure has a bit for each of 64 partitions, and an arrow carries a word.
//
// Cost: for 64 partitions, to turn a word of each of them over, once before and once after; and an operation for each
// arrow whose structure holds anything.

#pragma once

#include <algorithm>

#include "carry.hpp"

namespace kingpair::KINGPAIR_LEVEL {
namespace {

constexpr size_t PARTS_TOGETHER = 64;
constexpr size_t POINT_ROWS = 4;  // of 4,096 structures each

// Bit i of word j and bit j of word i change places.
inline void turn_over(uint64_t (&words)[64]) {
    uint64_t mask = 0xFFFFFFFF;
    for (size_t step = 32; step; step >>= 1, mask ^= mask << step)
        for (size_t first = 0; first < 64; first += 2 * step)
            for (size_t i = first; i < first + step; ++i) {
                const uint64_t exchanged = (words[i] >> step ^ words[i + step]) & mask;
                words[i + step] ^= exchanged;
                words[i] ^= exchanged << step;
            }
}

// What others bring into partitions, which are asked for one after the other.
class CarriedIn {
  public:
    CarriedIn(const Domain& d, Parts parts, Inflows inflows) : d_(d), parts_(parts), inflows_(inflows) {
        are_points_ = d.men == 0 && d.rows() <= POINT_ROWS;
        for (const Inflow& inflow : inflows) are_points_ &= inflow.from->rows() <= POINT_ROWS;
    }

    // Gathers what flows into the i-th partition. Returns whether anything can.
    bool gather(const Part& p, size_t i, const uint8_t* want, Gather op) {
        return are_points_ ? gather_points(i, want, op) : gather_each(p, want, op);
    }

  private:
    bool gather_each(const Part& p, const uint8_t* want, Gather op) const {
        bool found = false;
        for (const Inflow& inflow : inflows_) {
            if (!is_live(inflow, p.pair)) continue;
            found = true;
            carry_into(p.d, *inflow.from, p.kings, source_of(inflow, p.pair), inflow.carry, want, op);
        }
        return found;
    }

    bool gather_points(size_t i, const uint8_t* want, Gather op) {
        const size_t at = i % PARTS_TOGETHER;
        if (at == 0) carry_points(i);
        if (!(live_ >> at & 1)) return false;
        for (size_t row = 0; row < d_.rows(); ++row)
            for (unsigned m = want[row]; m; m &= m - 1)
                if (const Unit v = unit(carried_[at], row, lowest(m)); any(v)) op(row, lowest(m), v);
        return true;
    }

    // Carries into the partitions from the i-th on.
    void carry_points(size_t i) {
        first_ = parts_.pair + i;
        count_ = std::min(parts_.count - i, PARTS_TOGETHER);
        live_ = 0;
        uint64_t into[POINT_ROWS * 4096];
        std::fill_n(into, 64 * words(d_), 0);
        for (const Inflow& inflow : inflows_) carry_from(inflow, into);
        for (size_t w = 0; w < 64 * d_.rows() && live_; ++w) {
            uint64_t block[64] = {};
            if (w < words(d_)) std::copy_n(into + 64 * w, 64, block);
            turn_over(block);
            for (size_t part = 0; part < count_; ++part) carried_[part][w] = block[part];
        }
    }

    void carry_from(const Inflow& inflow, uint64_t* into) {
        const uint64_t live = live_parts(inflow);
        if (!live) return;
        live_ |= live;
        uint64_t barred[64] = {};  // by square: the partitions in which a king stands there
        for (size_t part = 0; part < count_; ++part)
            for (const auto& king : d_.king) barred[king[first_[part]]] |= bit(static_cast<int>(part));
        const Carry& carry = inflow.carry;
        for (size_t w = 0; w < words(*inflow.from); ++w) {
            uint64_t held[64] = {};
            for (uint64_t rest = live; rest; rest &= rest - 1) {
                const auto part = static_cast<size_t>(__builtin_ctzll(rest));
                const Source in = source_of(inflow, first_[part]);
                if (is_occupied(in, w)) held[part] = in.words[w];
            }
            turn_over(held);
            const size_t last = std::min<size_t>(64, inflow.from->structures.count - 64 * w);
            for (size_t s = 0; s < last; ++s) {
                if (!held[s]) continue;
                for (const Arrow& arrow : arrows_of(carry, 64 * w + s))
                    into[arrow.other] |= carry.way == Carry::passing ? held[s] & ~barred[arrow.square] : held[s];
            }
        }
    }

    uint64_t live_parts(const Inflow& inflow) const {
        uint64_t live = 0;
        for (size_t part = 0; part < count_; ++part) live |= uint64_t{is_live(inflow, first_[part])} << part;
        return live;
    }

    static size_t words(const Domain& d) { return (d.structures.count + 63) / 64; }

    const Domain& d_;
    const Parts parts_;
    const Inflows inflows_;
    bool are_points_;
    const int16_t* first_ = nullptr;  // of the partitions at hand
    size_t count_ = 0;
    uint64_t live_ = 0;  // those into which anything can flow
    alignas(64) uint64_t carried_[PARTS_TOGETHER][POINT_ROWS * 64];
};

}  // namespace
}  // namespace kingpair::KINGPAIR_LEVEL
