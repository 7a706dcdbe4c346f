// The tables by which zstd's two codes are read: states (FSE) and prefixes of bits (Huffman).
//
// RFC 8878 defines both. A table that is read is complete: any bits lead to one of its entries.

#pragma once

#include "zstd_bits.hpp"

namespace kingpair::zstd {

// How often symbols occur; -1 is less than once.
struct Counts {
    static constexpr int SYMBOLS_MAX = 256;

    int16_t of[SYMBOLS_MAX];
    int symbols;
    int log;  // of their sum

    // Reads counts whose sum is at most 2 to the power of log_max, of so many symbols at most, and takes their bytes.
    bool read(Bytes& code, int log_max, int symbols_max);
};

// A state stands for a symbol; the next state is `base` plus the value of the next `bits`.
struct State {
    uint16_t base;
    uint8_t bits;
    uint8_t symbol;
};

// Writes 2 to the power of counts.log states; false if the counts do not fill them.
bool spread(const Counts& counts, State* states);

// The prefix code of literals: an entry for each value of the next `log` bits.
struct Prefixes {
    static constexpr int LOG_MAX = 11;

    struct Entry {
        uint8_t symbol, bits;
    };

    Entry entry[1 << LOG_MAX];
    int log = 0;  // 0: there is no code yet

    // Reads the description of a code, and takes its bytes.
    bool read(Bytes& code);

    // Finds a symbol of a stream, counted from 0; false if the stream has fewer.
    bool find(Bytes stream, size_t number, uint8_t& symbol) const;

  private:
    bool build(uint8_t* weights, int symbols);
};

}  // namespace kingpair::zstd
