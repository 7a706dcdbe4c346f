// Reading bits of zstd's code: forwards from the lowest bit, or backwards from the last bit that is set.
//
// Both readers allow any bytes, and `is_overrun` tells that more was read than the code has.

#pragma once

#include <cstdint>
#include <cstring>

namespace kingpair::zstd {

struct Bytes {
    const uint8_t* at;
    size_t size;

    // Takes some bytes from the front; false if there are fewer.
    bool take(size_t count, Bytes& taken) {
        if (count > size) return false;
        taken = {at, count};
        at += count;
        size -= count;
        return true;
    }
};

// A number of up to eight bytes, the lowest first.
inline uint64_t number(const uint8_t* at, size_t bytes) {
    uint64_t found = 0;
    std::memcpy(&found, at, bytes);
    return found;
}

class ForwardBits {
  public:
    explicit ForwardBits(Bytes code) : code_(code) {}

    // Up to 25 bits.
    uint32_t look(int count) const {
        const size_t byte = bit_ / 8;
        if (byte >= code_.size) return 0;
        const size_t held = code_.size - byte;
        const uint64_t word = number(code_.at + byte, held < 4 ? held : 4);
        return static_cast<uint32_t>(word >> bit_ % 8) & ((1U << count) - 1);
    }
    void skip(int count) { bit_ += static_cast<size_t>(count); }
    uint32_t read(int count) {
        const uint32_t found = look(count);
        skip(count);
        return found;
    }

    bool is_overrun() const { return bit_ > 8 * code_.size; }
    size_t bytes_read() const { return (bit_ + 7) / 8; }

  private:
    Bytes code_;
    size_t bit_ = 0;
};

// Eight bytes before the code can be read, as is so everywhere in a frame.
class BackwardBits {
  public:
    static constexpr int HELD = 57;  // bits of a word, at least

    BackwardBits() = default;

    // The code ends with the highest bit that is set in its last byte, which a code must have.
    explicit BackwardBits(Bytes code) : code_(code.at) {
        if (code.size && code.at[code.size - 1])
            left_ = static_cast<int64_t>(8 * code.size) - __builtin_clz(code.at[code.size - 1]) + 23;
    }

    // The next bits, from the highest one on. Nothing may be overrun.
    uint64_t word() const { return word_behind(0); }
    // The same behind some bits that can be skipped.
    uint64_t word_behind(int count) const {
        uint64_t word;
        std::memcpy(&word, code_ + ((left_ - count + 7) >> 3) - 8, 8);
        return word << ((count - left_) & 7);
    }
    bool can_skip(int count) const { return left_ >= count; }
    void skip(int count) { left_ -= count; }
    unsigned read(int count) {
        const unsigned found = first_bits(word(), count);
        skip(count);
        return found;
    }

    bool is_overrun() const { return left_ < 0; }

    // The first bits of a word.
    static unsigned first_bits(uint64_t word, int count) { return static_cast<unsigned>(word >> 1 >> (63 - count)); }

  private:
    const uint8_t* code_ = nullptr;
    int64_t left_ = -1;
};

}  // namespace kingpair::zstd
