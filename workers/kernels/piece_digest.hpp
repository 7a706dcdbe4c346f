// The digest of a piece of a table's file: XXH3 with 64 bits, without a seed.
//
// The method is that of the XXH3 specification for inputs of more than 240 bytes, which each record batch has.
//
// Cost: sixteen multiplications for each 128 bytes.

#pragma once

#include <cstdint>

#include "zstd_bits.hpp"

namespace kingpair {

constexpr size_t DIGEST_LEAST = 241;  // bytes of a piece

// The digest of a piece of at least so many bytes.
uint64_t piece_digest(zstd::Bytes piece);

}  // namespace kingpair
