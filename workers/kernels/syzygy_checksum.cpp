// The checksum at the end of a Syzygy file; the header says whose hashes these are.

#include "syzygy_checksum.hpp"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

namespace kingpair::syzygy {

namespace {

using Bytes = std::span<const uint8_t>;

constexpr uint64_t K0 = 0xc3a5c85c97cb3127, K1 = 0xb492b66fbe98f273, K3 = 0xc949d7c7509e6557;
constexpr uint64_t MIX = 0x9ddfea08eb382d69;
constexpr size_t PART = size_t{1} << 24, STEP = 40, ROUND = 6 * STEP, SHORT = 900;

struct Two {
    uint64_t first, second;
};

uint64_t load(Bytes bytes, size_t at) {
    uint64_t value = 0;
    for (size_t i = 0; i < 8; ++i) value |= uint64_t{bytes[at + i]} << 8 * i;
    return value;
}

uint64_t rotated(uint64_t x, int by) { return std::rotr(x, by); }
uint64_t shifted(uint64_t x) { return x ^ x >> 47; }

uint64_t mixed(uint64_t low, uint64_t high) {
    const uint64_t a = shifted((low ^ high) * MIX);
    return shifted((high ^ a) * MIX) * MIX;
}

// CRC-32C of eight bytes, without the inversions at both ends.
class Crc {
  public:
    Crc() {
        for (uint32_t byte = 0; byte < 256; ++byte) {
            uint32_t rest = byte;
            for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ (rest & 1 ? 0x82f63b78 : 0);
            table_[0][byte] = rest;
        }
        for (size_t i = 1; i < 8; ++i)
            for (size_t byte = 0; byte < 256; ++byte)
                table_[i][byte] = table_[i - 1][byte] >> 8 ^ table_[0][table_[i - 1][byte] & 255];
    }

    uint64_t next(uint64_t crc, uint64_t word) const {
        word ^= crc & 0xffffffff;
        uint32_t out = 0;
        for (size_t i = 0; i < 8; ++i) out ^= table_[7 - i][word >> 8 * i & 255];
        return out;
    }

  private:
    uint32_t table_[8][256];
};

const Crc& crc() {
    static const Crc tables;
    return tables;
}

// ---- 32 bytes of a part of the file ----

struct State {
    uint64_t a, b, c, d, e, t;
    uint64_t f, g = 0, h = 0, i = 0, j = 0;

    void step(Bytes bytes, size_t at, uint64_t factor, int z) {
        const uint64_t old = a;
        a = rotated(b, 41 ^ z) * factor + load(bytes, at);
        b = rotated(c, 27 ^ z) * factor + load(bytes, at + 8);
        c = rotated(d, 41 ^ z) * factor + load(bytes, at + 16);
        d = rotated(e, 33 ^ z) * factor + load(bytes, at + 24);
        e = rotated(t, 25 ^ z) * factor + load(bytes, at + 32);
        t = old;
        f = crc().next(f, a);
        g = crc().next(g, b);
        h = crc().next(h, c);
        i = crc().next(i, d);
        j = crc().next(j, e);
    }
};

std::array<uint64_t, 4> hash_long(Bytes bytes, uint64_t seed) {
    const size_t size = bytes.size();
    State s{};
    s.a = load(bytes, 56) + K0;
    s.b = load(bytes, 96) + K0;
    const uint64_t first = s.c = mixed(s.b, size);
    const uint64_t second = s.d = load(bytes, 120) * K0 + size;
    s.e = load(bytes, 184) + seed;
    s.f = seed;
    s.t = s.c + s.d;
    size_t at = 0;
    for (size_t rounds = size / ROUND; rounds > 0; --rounds)
        for (int k = 0; k < 6; ++k, at += STEP) s.step(bytes, at, k % 2 ? K0 : 1, k % 2 ? 0 : 1);
    for (; size - at >= STEP; at += STEP) s.step(bytes, at, K0, 0);
    if (at < size) s.step(bytes, size - STEP, K0, 0);
    s.j += s.i << 32;
    s.a = mixed(s.a, s.j);
    s.h += s.g << 32;
    s.b += s.h;
    s.c = mixed(s.c, s.f) + s.i;
    s.d = mixed(s.d, s.e + first);
    s.j += s.e;
    s.i += mixed(s.h, s.t);
    s.e = mixed(s.a, s.d) + s.j;
    s.f = mixed(s.b, s.c) + s.a;
    s.g = mixed(s.j, s.i) + s.c;
    std::array<uint64_t, 4> out{};
    out[0] = s.e + s.f + s.g + s.h;
    uint64_t a = shifted((s.a + s.g) * K0) * K0 + s.b;
    out[1] = second + a + out[0];
    a = shifted(a * K0) * K0 + s.c;
    out[2] = a + out[1];
    a = shifted((a + s.e) * K0) * K0;
    out[3] = a + out[2];
    return out;
}

std::array<uint64_t, 4> hash_of(Bytes bytes) {
    if (bytes.size() >= ROUND) return hash_long(bytes, 0);
    std::array<uint8_t, ROUND> padded{};
    std::copy(bytes.begin(), bytes.end(), padded.begin());
    return hash_long(padded, static_cast<uint32_t>(~bytes.size()));
}

// ---- 16 bytes of the hashes of all parts ----

Two weak(Bytes bytes, size_t at, uint64_t a, uint64_t b) {
    a += load(bytes, at);
    b = rotated(b + a + load(bytes, at + 24), 21);
    const uint64_t c = a;
    a += load(bytes, at + 8) + load(bytes, at + 16);
    b += rotated(a, 44);
    return {a + load(bytes, at + 24), b + c};
}

// Of 16 bytes, or of more that are not a multiple of 128.
Two murmur(Bytes bytes, Two seed) {
    uint64_t a = seed.first, b = seed.second, c, d;
    const size_t size = bytes.size();
    if (size <= 16) {
        a = shifted(a * K1) * K1;
        const uint64_t low = load(bytes, 0), high = load(bytes, size - 8);
        c = b * K1 + (mixed(low, rotated(high + size, static_cast<int>(size))) ^ high);
        d = shifted(a + low);
    } else {
        c = mixed(load(bytes, size - 8) + K1, a);
        d = mixed(b + size, c + load(bytes, size - 16));
        a += d;
        for (size_t at = 0; at + 16 < size; at += 16) {
            a = (a ^ shifted(load(bytes, at) * K1) * K1) * K1;
            b ^= a;
            c = (c ^ shifted(load(bytes, at + 8) * K1) * K1) * K1;
            d ^= c;
        }
    }
    a = mixed(a, c);
    b = mixed(d, b);
    return {a ^ b, mixed(b, a)};
}

Two hash_with_seed(Bytes bytes, Two seed) {
    size_t left = bytes.size(), at = 0;
    if (left < 128) return murmur(bytes, seed);
    uint64_t x = seed.first, y = seed.second, z = left * K1;
    Two v{}, w{};
    v.first = rotated(y ^ K1, 49) * K1 + load(bytes, 0);
    v.second = rotated(v.first, 42) * K1 + load(bytes, 8);
    w.first = rotated(y + z, 35) * K1 + x;
    w.second = rotated(x + load(bytes, 88), 53) * K1;
    for (; left >= 128; left -= 128)
        for (int half = 0; half < 2; ++half, at += 64) {
            x = rotated(x + y + v.first + load(bytes, at + 8), 37) * K1;
            y = rotated(y + v.second + load(bytes, at + 48), 42) * K1;
            x ^= w.second;
            y += v.first + load(bytes, at + 40);
            z = rotated(z + w.first, 33) * K1;
            v = weak(bytes, at, v.second * K1, x + w.first);
            w = weak(bytes, at + 32, z + w.second, y + load(bytes, at + 16));
            std::swap(z, x);
        }
    x += rotated(v.first + z, 49) * K0;
    z += rotated(w.first, 37) * K0;
    for (size_t done = 0; done < left;) {
        done += 32;
        const size_t tail = at + left - done;
        y = rotated(x + y, 42) * K0 + v.second;
        w.first += load(bytes, tail + 16);
        x = x * K0 + w.first;
        z += w.second + load(bytes, tail);
        w.second += v.first;
        v = weak(bytes, tail, v.first + z, v.second);
    }
    x = mixed(x, v.first);
    y = mixed(y + z, w.first);
    return {mixed(x + v.second, w.second) + y, mixed(x + w.second, y + v.second)};
}

Two hash_again(Bytes bytes) {
    if (bytes.size() > SHORT) {
        const auto hash = hash_of(bytes);
        return {hash[2], hash[3]};
    }
    return hash_with_seed(bytes.subspan(16), {load(bytes, 0) ^ K3, load(bytes, 8)});
}

void store(uint64_t value, uint8_t* out) {
    for (int i = 0; i < 8; ++i) out[i] = static_cast<uint8_t>(value >> 8 * i);
}

}  // namespace

std::array<uint8_t, 16> checksum_of(Bytes file) {
    std::vector<uint8_t> hashes;
    for (size_t at = 0; at < file.size(); at += PART)
        for (const uint64_t word : hash_of(file.subspan(at, std::min(PART, file.size() - at)))) {
            hashes.resize(hashes.size() + 8);
            store(word, hashes.data() + hashes.size() - 8);
        }
    const Two hash = hash_again(hashes);
    std::array<uint8_t, 16> out{};
    store(hash.first, out.data());
    store(hash.second, out.data() + 8);
    return out;
}

}  // namespace kingpair::syzygy
