// Finds single bytes of what a frame of zstd (RFC 8878) holds, without decoding the others.
//
// A probe needs a few values of a block of a table. The library that pyarrow has makes a context for each call, and
// decodes the whole block. Here only the sequences before the last byte that is wanted are read. A byte of a match is
// followed back to the literal that it is a copy of, and of the literals only those before it in its stream are read.
//
// Read is the first block of a frame, of up to 128 KiB of content, in frames without dictionary and checksum that say
// how large they are. Any bytes are allowed.
//
// Cost: of a table's block, on average half of some two thousand sequences, at ten nanoseconds each.

#pragma once

#include <cstdint>
#include <vector>

#include "zstd_bits.hpp"

namespace kingpair::zstd {

// Writes the bytes at some places. False if the frame is wrong, has another size than `size`, or is not read.
bool find_bytes(Bytes frame, size_t size, const std::vector<uint32_t>& places, uint8_t* found);

}  // namespace kingpair::zstd
