// The checksum at the end of a Syzygy file.
//
// Each 16 MiB of the file are hashed to 32 bytes, and these once more to 16 bytes. The hashes are CityHashCrc256 and
// CityHashCrc128 of CityHash 1.0.3, by Geoff Pike and Jyrki Alakuijala, Copyright (c) 2011 Google, Inc., published
// under the MIT licence. The steps and constants are theirs; the code was written anew.

#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace kingpair::syzygy {

std::array<uint8_t, 16> checksum_of(std::span<const uint8_t> file);

}  // namespace kingpair::syzygy
