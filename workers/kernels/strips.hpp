// The vocabulary of the verifier's kernels: a strip of 64 keys, one for each square of the last man, and how it is
// masked, shifted over the board and turned.

#pragma once

#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

#include <cstring>
#include <type_traits>
#include <utility>

#include "verify.hpp"

namespace kingpair::verify {
namespace {

// A strip of bytes in one register, where the level has registers of 64 bytes. Other levels use four registers, not
// two: turning, packing and sliding are slower on halves than on quarters.
#if defined(__AVX512BW__)
constexpr size_t REGISTER = 64;
#else
constexpr size_t REGISTER = 16;
#endif

template <class Key>
using Register = std::conditional_t<sizeof(Key) == 1, uint8_t __attribute__((vector_size(REGISTER))),
                                    uint16_t __attribute__((vector_size(REGISTER)))>;
template <class Key>
using SignedRegister = std::conditional_t<sizeof(Key) == 1, int8_t __attribute__((vector_size(REGISTER))),
                                          int16_t __attribute__((vector_size(REGISTER)))>;
using WordRegister = uint64_t __attribute__((vector_size(REGISTER)));

template <class Key>
struct Strip {
    static constexpr size_t PARTS = 64 * sizeof(Key) / REGISTER;
    Register<Key> part[PARTS];
};

// Applies an operation to each register of strips.
template <class Key, class Function, class... More>
inline Strip<Key> each(Function f, const Strip<Key>& first, const More&... more) {
    Strip<Key> out;
    for (size_t i = 0; i < Strip<Key>::PARTS; ++i) out.part[i] = f(first.part[i], more.part[i]...);
    return out;
}

template <class Key>
inline Strip<Key> operator&(const Strip<Key>& a, const Strip<Key>& b) {
    return each([](auto x, auto y) { return x & y; }, a, b);
}

template <class Key>
inline Strip<Key> operator|(const Strip<Key>& a, const Strip<Key>& b) {
    return each([](auto x, auto y) { return x | y; }, a, b);
}

template <class Key>
inline Strip<Key> operator^(const Strip<Key>& a, const Strip<Key>& b) {
    return each([](auto x, auto y) { return x ^ y; }, a, b);
}

template <class Key>
inline Strip<Key> operator~(const Strip<Key>& a) {
    return each([](auto x) { return ~x; }, a);
}

template <class Key>
inline Strip<Key> larger(const Strip<Key>& a, const Strip<Key>& b) {
    return each([](auto x, auto y) { return x > y ? x : y; }, a, b);
}

// A mask: all bits of each lane whose key is not 0.
template <class Key>
inline Strip<Key> equal(const Strip<Key>& strip, Key key) {
    return each([key](auto x) { return reinterpret_cast<Register<Key>>(x == key); }, strip);
}

template <class Key>
inline Strip<Key> all(Key key) {
    Strip<Key> out;
    for (auto& part : out.part) part = Register<Key>{} + key;
    return out;
}

template <class Key, class From>
inline Strip<Key> load(const From* from) {
    static_assert(sizeof(From) == sizeof(Key));
    Strip<Key> strip;
    std::memcpy(&strip, from, sizeof strip);
    return strip;
}

template <class Key>
inline void store(Key* to, const Strip<Key>& strip) {
    std::memcpy(to, &strip, sizeof strip);
}

template <class Key>
inline bool any(const Strip<Key>& strip) {
#if defined(__AVX512BW__)
    if constexpr (sizeof(Key) == 1) {
        const auto part = reinterpret_cast<__m512i>(strip.part[0]);
        return _mm512_test_epi64_mask(part, part) != 0;
    }
#endif
    Register<Key> some = strip.part[0];
    for (size_t i = 1; i < Strip<Key>::PARTS; ++i) some |= strip.part[i];
    const auto words = reinterpret_cast<WordRegister>(some);
    uint64_t word = 0;
    for (size_t i = 0; i < REGISTER / 8; ++i) word |= words[i];
    return word != 0;
}

// ---- bits to lanes ----

struct Tables {
    uint64_t bytes[256];
    uint64_t shorts[256][2];
    alignas(128) uint8_t one8[64][64];  // all bits of one lane
    alignas(128) uint16_t one16[64][64];
};

constexpr Tables TABLES = [] {
    Tables t{};
    for (int byte = 0; byte < 256; ++byte)
        for (int i = 0; i < 8; ++i)
            if (byte >> i & 1) {
                t.bytes[byte] |= uint64_t{0xFF} << 8 * i;
                t.shorts[byte][i / 4] |= uint64_t{0xFFFF} << 16 * (i % 4);
            }
    for (int s = 0; s < 64; ++s) {
        t.one8[s][s] = 0xFF;
        t.one16[s][s] = 0xFFFF;
    }
    return t;
}();

template <class Key>
inline Strip<Key> only(int square) {
    if constexpr (sizeof(Key) == 1) return load<Key>(TABLES.one8[square]);
    else return load<Key>(TABLES.one16[square]);
}

// A mask: all bits of each lane whose bit in a word is set.
template <class Key>
inline Strip<Key> lanes(uint64_t bits) {
#if defined(__AVX512BW__)
    if constexpr (sizeof(Key) == 1) return {{reinterpret_cast<Register<Key>>(_mm512_movm_epi8(bits))}};
#endif
    uint64_t words[8 * sizeof(Key)];
    for (int rank = 0; rank < 8; ++rank) {
        const uint64_t byte = bits >> 8 * rank & 0xFF;
        if constexpr (sizeof(Key) == 1) words[rank] = TABLES.bytes[byte];
        else std::memcpy(words + 2 * rank, TABLES.shorts[byte], 16);
    }
    return load<Key>(reinterpret_cast<const Key*>(words));
}

// The lanes of a mask as bits.
template <class Key>
inline uint64_t bits_of(const Strip<Key>& set) {
#if defined(__AVX512BW__)
    if constexpr (sizeof(Key) == 1) return _mm512_movepi8_mask(reinterpret_cast<__m512i>(set.part[0]));
#endif
    constexpr int size = 8 / sizeof(Key);
    constexpr uint64_t each = sizeof(Key) == 1 ? 0x8040201008040201 : 0x0008000400020001;
    constexpr uint64_t sum = sizeof(Key) == 1 ? 0x0101010101010101 : 0x0001000100010001;
    uint64_t words[64 / size], found = 0;
    std::memcpy(words, &set, sizeof words);
    for (int i = 0; i < 64 / size; ++i) found |= ((words[i] & each) * sum >> (64 - 8 * sizeof(Key))) << size * i;
    return found;
}

// Sixteen bytes, as every level has them.
using Bytes = uint8_t __attribute__((vector_size(16)));
using Shorts = uint16_t __attribute__((vector_size(16)));
using Words = uint64_t __attribute__((vector_size(16)));

// Lanes that are all ones or all zeros as bits, in the order that takes least: that of the lanes where a strip is one
// register, else a file's eight ranks side by side.
inline uint64_t packed(const Strip<uint8_t>& set) {
    if constexpr (Strip<uint8_t>::PARTS == 1) return bits_of(set);
    Bytes part[4], bits{};
    std::memcpy(part, &set, sizeof set);
    for (int i = 0; i < 4; ++i) {
        const uint8_t a = static_cast<uint8_t>(1 << 2 * i), b = static_cast<uint8_t>(2 << 2 * i);
        bits |= part[i] & Bytes{a, a, a, a, a, a, a, a, b, b, b, b, b, b, b, b};
    }
    const auto words = reinterpret_cast<Words>(bits);
    return words[0] | words[1];
}

inline uint64_t packed(const Strip<uint16_t>& set) {
    Shorts part[8], bits{};
    std::memcpy(part, &set, sizeof set);
    for (int i = 0; i < 8; ++i) {
        const uint16_t one = static_cast<uint16_t>(1 << i);
        bits |= part[i] & one;
    }
    const auto words = reinterpret_cast<Words>(bits);
    return words[0] | words[1] << 8;
}

template <class Key>
inline int lane_of(int bit) {
    if constexpr (Strip<Key>::PARTS == 1) return bit;
    const int rank = bit & 7, file = bit >> 3;
    return 8 * rank + (sizeof(Key) == 1 ? file : file / 2 + 4 * (file & 1));
}

// ---- moving over the board ----

// out(file, rank) = in(file + DF, rank), 0 where that is off the board.
template <int DF>
inline Strip<uint8_t> along(const Strip<uint8_t>& strip) {
    return each(
        [](auto part) {
            auto words = reinterpret_cast<WordRegister>(part);
            if constexpr (DF > 0) words >>= 8 * DF;
            if constexpr (DF < 0) words <<= -8 * DF;
            return reinterpret_cast<Register<uint8_t>>(words);
        },
        strip);
}

// The lane DF files from one, or the one that is none.
template <int DF>
constexpr int beside(int lane, int none) {
    return lane % 8 + DF >= 0 && lane % 8 + DF < 8 ? lane + DF : none;
}

template <int DF, int... Lane>
inline Strip<uint16_t> along(const Strip<uint16_t>& strip, std::integer_sequence<int, Lane...>) {
    return each(
        [](auto part) {
            return __builtin_shufflevector(part, Register<uint16_t>{}, beside<DF>(Lane, sizeof...(Lane))...);
        },
        strip);
}

template <int DF>
inline Strip<uint16_t> along(const Strip<uint16_t>& strip) {
    return along<DF>(strip, std::make_integer_sequence<int, REGISTER / sizeof(uint16_t)>());
}

// out(file, rank) = in(file, rank + DR), 0 where that is off the board.
template <int DR, class Key>
inline Strip<Key> across(const Strip<Key>& strip) {
    constexpr int size = REGISTER / 8, words = DR * static_cast<int>(sizeof(Key));
    constexpr int skipped = (words + 16 * size) / size - 16, rest = words - skipped * size;
    const auto part = [&](int i) {
        const bool on_board = i >= 0 && i < static_cast<int>(Strip<Key>::PARTS);
        return on_board ? reinterpret_cast<WordRegister>(strip.part[i]) : WordRegister{};
    };
    Strip<Key> out;
    for (int i = 0; i < static_cast<int>(Strip<Key>::PARTS); ++i) {
        const WordRegister a = part(i + skipped), b = part(i + skipped + 1);
        WordRegister c;
        if constexpr (size == 2) c = __builtin_shufflevector(a, b, rest, rest + 1);
        else
            c = __builtin_shufflevector(a, b, rest, rest + 1, rest + 2, rest + 3, rest + 4, rest + 5, rest + 6,
                                        rest + 7);
        out.part[i] = reinterpret_cast<Register<Key>>(c);
    }
    return out;
}

// The best key that a slider reaches in a direction, from the keys of the squares and from the squares that he can
// pass. Each step doubles the distance: one square, two, four, eight.
template <int DF, int DR, class Key>
inline Strip<Key> slid(const Strip<Key>& at, const Strip<Key>& open) {
    Strip<Key> best = along<DF>(across<DR>(at)), passing = along<DF>(across<DR>(open));
    best = larger(best, passing & along<DF>(across<DR>(best)));
    passing = passing & along<DF>(across<DR>(passing));
    best = larger(best, passing & along<2 * DF>(across<2 * DR>(best)));
    passing = passing & along<2 * DF>(across<2 * DR>(passing));
    return larger(best, passing & along<4 * DF>(across<4 * DR>(best)));
}

template <class Key>
inline Strip<Key> by_slider(Kind kind, const Strip<Key>& at, const Strip<Key>& open) {
    Strip<Key> best{};
    if (kind != Kind::bishop) {
        best = larger(slid<1, 0>(at, open), slid<-1, 0>(at, open));
        best = larger(best, larger(slid<0, 1>(at, open), slid<0, -1>(at, open)));
    }
    if (kind != Kind::rook) {
        best = larger(best, larger(slid<1, 1>(at, open), slid<-1, 1>(at, open)));
        best = larger(best, larger(slid<1, -1>(at, open), slid<-1, -1>(at, open)));
    }
    return best;
}

template <class Key>
inline Strip<Key> by_knight(const Strip<Key>& at) {
    const Strip<Key> twos = larger(across<2>(at), across<-2>(at)), ones = larger(across<1>(at), across<-1>(at));
    return larger(larger(along<1>(twos), along<-1>(twos)), larger(along<2>(ones), along<-2>(ones)));
}

// ---- turning the board ----

constexpr int TRANSPOSED = 4;

// Two ranks each.
struct Ranks {
    Bytes part[4];
};

// The first halves of two registers in turn, two bytes of each at a time, and the second halves.
inline void interleave_twos(Bytes& a, Bytes& b) {
    const Bytes x = a, y = b;
    a = __builtin_shufflevector(x, y, 0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23);
    b = __builtin_shufflevector(x, y, 8, 9, 24, 25, 10, 11, 26, 27, 12, 13, 28, 29, 14, 15, 30, 31);
}

inline void interleave_fours(Bytes& a, Bytes& b) {
    const Bytes x = a, y = b;
    a = __builtin_shufflevector(x, y, 0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
    b = __builtin_shufflevector(x, y, 8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);
}

// Files and ranks change places.
inline void transpose(Ranks& ranks) {
    Bytes* part = ranks.part;
    for (Bytes& p : ranks.part) p = __builtin_shufflevector(p, p, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
    interleave_twos(part[0], part[1]);
    interleave_twos(part[2], part[3]);
    interleave_fours(part[0], part[2]);
    interleave_fours(part[1], part[3]);
    std::swap(part[1], part[2]);
}

inline void mirror_files(Ranks& ranks) {
    for (Bytes& p : ranks.part) p = __builtin_shufflevector(p, p, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8);
}

inline void mirror_ranks(Ranks& ranks) {
    std::swap(ranks.part[0], ranks.part[3]);
    std::swap(ranks.part[1], ranks.part[2]);
    for (Bytes& p : ranks.part) p = __builtin_shufflevector(p, p, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
}

// Files and ranks change places in a register that holds the whole board. Pieces would have to go through memory.
using Whole = uint8_t __attribute__((vector_size(64)));
using WholePairs = uint16_t __attribute__((vector_size(64)));
using WholeRanks = uint64_t __attribute__((vector_size(64)));

#define KINGPAIR_PAIRED(at)                                                                                          \
    at, at + 8, at + 1, at + 9, at + 2, at + 10, at + 3, at + 11, at + 4, at + 12, at + 5, at + 13, at + 6, at + 14, \
        at + 7, at + 15
#define KINGPAIR_MIRRORED(at) at + 7, at + 6, at + 5, at + 4, at + 3, at + 2, at + 1, at

inline void transpose(Whole& board) {
    board = __builtin_shufflevector(board, board, KINGPAIR_PAIRED(0), KINGPAIR_PAIRED(16), KINGPAIR_PAIRED(32),
                                    KINGPAIR_PAIRED(48));
    const auto p = reinterpret_cast<WholePairs>(board);
    board =
        reinterpret_cast<Whole>(__builtin_shufflevector(p, p, 0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18, 26, 3, 11, 19, 27,
                                                        4, 12, 20, 28, 5, 13, 21, 29, 6, 14, 22, 30, 7, 15, 23, 31));
}

inline void mirror_files(Whole& board) {
    board = __builtin_shufflevector(board, board, KINGPAIR_MIRRORED(0), KINGPAIR_MIRRORED(8), KINGPAIR_MIRRORED(16),
                                    KINGPAIR_MIRRORED(24), KINGPAIR_MIRRORED(32), KINGPAIR_MIRRORED(40),
                                    KINGPAIR_MIRRORED(48), KINGPAIR_MIRRORED(56));
}

inline void mirror_ranks(Whole& board) {
    const auto ranks = reinterpret_cast<WholeRanks>(board);
    board = reinterpret_cast<Whole>(__builtin_shufflevector(ranks, ranks, 7, 6, 5, 4, 3, 2, 1, 0));
}

// In eight rows of eight words, words that are STEP apart on either side of the diagonal change places.
template <int STEP>
inline void exchange(WholeRanks* rows) {
    constexpr auto first = [](int i) { return i & STEP ? 8 + (i ^ STEP) : i; };
    constexpr auto second = [](int i) { return i & STEP ? 8 + i : i | STEP; };
    for (int i = 0; i < 8; ++i) {
        if (i & STEP) continue;
        const WholeRanks a = rows[i], b = rows[i | STEP];
        rows[i] = __builtin_shufflevector(a, b, first(0), first(1), first(2), first(3), first(4), first(5), first(6),
                                          first(7));
        rows[i | STEP] = __builtin_shufflevector(a, b, second(0), second(1), second(2), second(3), second(4), second(5),
                                                 second(6), second(7));
    }
}

inline void transpose(WholeRanks* rows) {
    exchange<1>(rows);
    exchange<2>(rows);
    exchange<4>(rows);
}

// out(s) = in(the square on which the symmetry shows s).
inline Strip<uint8_t> turned(int symmetry, const uint8_t* from) {
    std::conditional_t<REGISTER == sizeof(Whole), Whole, Ranks> board;
    std::memcpy(&board, from, sizeof board);
    if (symmetry & TRANSPOSED) transpose(board);
    if (symmetry & 2) mirror_ranks(board);
    if (symmetry & 1) mirror_files(board);
    Strip<uint8_t> strip;
    std::memcpy(&strip, &board, sizeof strip);
    return strip;
}

inline Strip<uint16_t> turned(int symmetry, const uint16_t* from) {
    const uint8_t* turn = board().turned[symmetry];
    uint16_t out[64];
    for (int s = 0; s < 64; ++s) out[s] = from[turn[s]];
    return load<uint16_t>(out);
}

}  // namespace
}  // namespace kingpair::verify
