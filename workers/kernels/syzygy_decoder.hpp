// Reads the coded values of a Syzygy sub-table.
//
// A value is a literal or part of a pair: a symbol stands for one value, or for the two symbols that it joins. Symbols
// have canonical codes, the longest first. Values are coded in blocks of equal size. A table of sizes says how many
// values, less one, each block has; a table of spans says where the value in the middle of each span is.
//
// The bytes may be hostile. The constructor and every read check what they use; a failed check is a DamagedCode.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace kingpair::syzygy {

struct DamagedCode : std::runtime_error {
    using std::runtime_error::runtime_error;
};

using Bytes = std::span<const uint8_t>;

constexpr uint16_t LITERAL = 0xfff;  // stands in the place of the second half

struct Symbol {
    uint16_t first, second;
};

class Decoder {
  public:
    // `offsets` has for each length of a code, the shortest first, the number of the first symbol that has it.
    Decoder(int shortest, const std::vector<uint16_t>& offsets, std::vector<Symbol> symbols);

    // Where the parts of a sub-table lie.
    struct Parts {
        Bytes spans, sizes, data;
        int block_log2, span_log2;

        size_t blocks() const { return data.size() >> block_log2; }
    };

    // The value at a place.
    uint16_t value(const Parts&, uint64_t place) const;

    // The values from a place on.
    void values(const Parts&, uint64_t place, std::span<uint16_t> out) const;

  private:
    class Bits;

    // A block, and how many of its values come before the one that is looked for.
    struct Found {
        size_t block;
        int64_t before;
    };

    Found find(const Parts&, uint64_t place) const;
    uint16_t next(Bits&) const;
    uint16_t descend(uint16_t symbol, int64_t before) const;
    void measure();

    int shortest_;
    std::vector<uint16_t> offsets_;
    std::vector<uint64_t> bases_;  // the least code of each length, at the top of a word
    std::vector<Symbol> symbols_;
    std::vector<uint32_t> lengths_;  // how many values a symbol stands for
};

}  // namespace kingpair::syzygy
