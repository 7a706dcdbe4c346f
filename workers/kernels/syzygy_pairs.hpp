// Codes the values of a Syzygy sub-table.
//
// Pairs of symbols become symbols (syzygy_pairing.hpp). Then symbols get canonical Huffman codes and are put into
// blocks of equal size.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "syzygy_decoder.hpp"
#include "syzygy_pairing.hpp"

namespace kingpair::syzygy {

struct CodedTable {
    int shortest = 0;
    std::vector<uint16_t> offsets;  // the first symbol of each length of a code
    std::vector<Symbol> symbols;    // in the order of their codes
    int block_log2 = 0;
    std::vector<uint16_t> sizes;  // values of each block, less one
    std::vector<uint8_t> data;
};

struct CodingLimits {
    int symbols;                // at most so many
    int least_log2, most_log2;  // bytes of a block
};

// Codes values, of which at least two that are not free differ. Calls `pause` now and then; it may throw.
CodedTable code_values(std::span<const uint16_t> values, const CodingLimits&, PairingRoom&,
                       const std::function<void()>& pause);

// How many bytes the coded values would have, estimated from the entropy of the symbols.
uint64_t estimate_bytes(std::span<const uint16_t> values, int symbols);

// Chooses free values between two equal ones, if they may be that. With `all` it chooses the others, too: a stretch
// becomes the more frequent one of the values at its ends. Else pairs choose them. Returns whether values that are not
// free differ.
bool choose_free(std::span<uint16_t> values, bool all);

// How often each value occurs.
std::vector<uint64_t> count_values(std::span<const uint16_t> values);

}  // namespace kingpair::syzygy
