// The numbers of a sequence of zstd: how many literals, how far back a match lies, and how long it is.
//
// The codes, and the counts that are usual, are those of RFC 8878.

#pragma once

#include "zstd_tables.hpp"

namespace kingpair::zstd {
namespace {

constexpr int LITERALS = 0, OFFSETS = 1, MATCHES = 2, KINDS = 3;

// A number of a sequence is the value of a code plus that of the next bits.
struct Code {
    uint32_t value;
    uint8_t bits;
};

// What a state stands for: a number, and the next state.
struct Step {
    uint32_t value;
    uint16_t base;
    uint8_t bits, more;  // of the state, of the number
};

constexpr int LOG_MAX[KINDS] = {9, 8, 9}, STATE_BITS = 9 + 8 + 9;
constexpr int CODES[KINDS] = {36, 32, 53};
constexpr int STEPS_MAX = 1 << 9;

struct Steps {
    Step step[STEPS_MAX];
    int log;
};

constexpr uint8_t LITERAL_BITS[] = {1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
constexpr uint8_t MATCH_BITS[] = {1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

// The first codes are numbers themselves; each other one begins where the one before it ends.
template <size_t N>
void number_codes(Code* codes, uint32_t first, int plain, const uint8_t (&bits)[N]) {
    for (int i = 0; i < plain; ++i) codes[i] = {first++, 0};
    for (size_t i = 0; i < N; ++i) {
        codes[static_cast<size_t>(plain) + i] = {first, bits[i]};
        first += 1U << bits[i];
    }
}

// What is the same for all frames.
struct Format {
    Code code[KINDS][64];
    Steps usual[KINDS];

    Format() {
        number_codes(code[LITERALS], 0, 16, LITERAL_BITS);
        number_codes(code[MATCHES], 3, 32, MATCH_BITS);
        for (uint8_t i = 0; i < CODES[OFFSETS]; ++i) code[OFFSETS][i] = {1U << i, i};
        const Counts counts[KINDS] = {
            {{4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1,  1,  2,  2,
              2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1},
             36,
             6},
            {{1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1}, 29, 5},
            {{1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1,  1, 1,
              1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1},
             53,
             6},
        };
        for (int kind = 0; kind < KINDS; ++kind) make(kind, counts[kind], usual[kind]);
    }

    // The steps of a kind of number by the counts of its codes.
    bool make(int kind, const Counts& counts, Steps& steps) const {
        State states[STEPS_MAX];
        if (!spread(counts, states)) return false;
        steps.log = counts.log;
        for (int i = 0; i < 1 << counts.log; ++i) {
            const Code is = code[kind][states[i].symbol];
            steps.step[i] = {is.value, states[i].base, states[i].bits, is.bits};
        }
        return true;
    }

    // The step of a code that is the only one.
    void make_single(int kind, uint8_t symbol, Steps& steps) const {
        steps.log = 0;
        steps.step[0] = {code[kind][symbol].value, 0, 0, code[kind][symbol].bits};
    }
};

const Format& format() {
    static const Format made;
    return made;
}

}  // namespace
}  // namespace kingpair::zstd
