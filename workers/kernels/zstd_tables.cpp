// Cost: a few cycles for each entry of a table.

#include "zstd_tables.hpp"

#include <algorithm>

namespace kingpair::zstd {

namespace {

constexpr int LOG_MIN = 5, WEIGHTS_LOG_MAX = 6;

// The weights of symbols, which two states in turn tell. Returns how many, 0 if the code is wrong.
int coded_weights(Bytes code, uint8_t (&weights)[Counts::SYMBOLS_MAX]) {
    Counts counts;
    State states[1 << WEIGHTS_LOG_MAX];
    if (!counts.read(code, WEIGHTS_LOG_MAX, Prefixes::LOG_MAX + 1) || !spread(counts, states)) return 0;
    BackwardBits bits(code);
    State state[2];
    for (State& each : state) {
        if (bits.is_overrun()) return 0;
        each = states[bits.read(counts.log)];
    }
    if (bits.is_overrun()) return 0;
    int found = 0;
    for (int turn = 0; found + 2 < Counts::SYMBOLS_MAX; turn ^= 1) {
        weights[found++] = state[turn].symbol;
        state[turn] = states[state[turn].base + bits.read(state[turn].bits)];
        if (!bits.is_overrun()) continue;
        weights[found++] = state[turn ^ 1].symbol;
        return found;
    }
    return 0;
}

}  // namespace

bool Counts::read(Bytes& code, int log_max, int symbols_max) {
    ForwardBits bits(code);
    log = LOG_MIN + static_cast<int>(bits.read(4));
    if (log > log_max) return false;
    int left = (1 << log) + 1, limit = 1 << log, width = log + 1;
    for (symbols = 0; left > 1;) {
        if (symbols == symbols_max) return false;
        // The smaller values have a bit less.
        const int longer = 2 * limit - 1 - left;
        auto value = static_cast<int>(bits.look(width - 1));
        if (value < longer) {
            bits.skip(width - 1);
        } else {
            value = static_cast<int>(bits.read(width));
            if (value >= limit) value -= longer;
        }
        of[symbols++] = static_cast<int16_t>(value - 1);
        left -= value == 0 ? 1 : value - 1;
        if (value == 1) {
            for (uint32_t zeros = 3; zeros == 3;) {
                zeros = bits.read(2);
                if (bits.is_overrun() || symbols + static_cast<int>(zeros) > symbols_max) return false;
                for (uint32_t i = 0; i < zeros; ++i) of[symbols++] = 0;
            }
        }
        for (; left < limit; limit >>= 1) --width;
    }
    Bytes taken;
    return left == 1 && !bits.is_overrun() && code.take(bits.bytes_read(), taken);
}

bool spread(const Counts& counts, State* states) {
    const int size = 1 << counts.log, step = size / 2 + size / 8 + 3;
    uint16_t next[Counts::SYMBOLS_MAX];
    int last = size - 1, at = 0;
    for (int s = 0; s < counts.symbols; ++s) {
        next[s] = static_cast<uint16_t>(counts.of[s] < 0 ? 1 : counts.of[s]);
        if (counts.of[s] < 0) states[last--].symbol = static_cast<uint8_t>(s);
    }
    for (int s = 0; s < counts.symbols; ++s)
        for (int i = 0; i < counts.of[s]; ++i) {
            states[at].symbol = static_cast<uint8_t>(s);
            do at = (at + step) & (size - 1);
            while (at > last);
        }
    if (at != 0) return false;
    for (int i = 0; i < size; ++i) {
        const int x = next[states[i].symbol]++;
        states[i].bits = static_cast<uint8_t>(counts.log - 31 + __builtin_clz(static_cast<unsigned>(x)));
        states[i].base = static_cast<uint16_t>((x << states[i].bits) - size);
    }
    return true;
}

bool Prefixes::read(Bytes& code) {
    Bytes head, described;
    if (!code.take(1, head)) return false;
    uint8_t weights[Counts::SYMBOLS_MAX];
    int count = head.at[0] - 127;
    if (count > 0) {
        if (!code.take(static_cast<size_t>(count + 1) / 2, described)) return false;
        for (int i = 0; i < count; ++i) weights[i] = described.at[i / 2] >> (i % 2 ? 0 : 4) & 15;
    } else {
        if (!code.take(head.at[0], described)) return false;
        count = coded_weights(described, weights);
    }
    return count > 0 && build(weights, count);
}

// The weight of the last symbol is what the others leave.
bool Prefixes::build(uint8_t* weights, int symbols) {
    uint32_t sum = 0;
    for (int i = 0; i < symbols; ++i) {
        if (weights[i] > LOG_MAX) return false;
        sum += weights[i] ? 1U << (weights[i] - 1) : 0;
    }
    if (sum == 0) return false;
    log = 32 - __builtin_clz(sum);
    const uint32_t left = (1U << log) - sum;
    if (log > LOG_MAX || (left & (left - 1))) {
        log = 0;
        return false;
    }
    weights[symbols] = static_cast<uint8_t>(__builtin_ctz(left) + 1);
    uint32_t first[LOG_MAX + 2] = {};  // the first entry of each weight
    for (int i = 0; i <= symbols; ++i)
        if (weights[i]) first[weights[i] + 1] += 1U << (weights[i] - 1);
    for (int w = 2; w <= LOG_MAX + 1; ++w) first[w] += first[w - 1];
    for (int i = 0; i <= symbols; ++i) {
        if (!weights[i]) continue;
        const Entry is{static_cast<uint8_t>(i), static_cast<uint8_t>(log + 1 - weights[i])};
        for (uint32_t end = first[weights[i]] + (1U << (weights[i] - 1)); first[weights[i]] < end;)
            entry[first[weights[i]]++] = is;
    }
    return true;
}

bool Prefixes::find(Bytes stream, size_t number, uint8_t& symbol) const {
    constexpr size_t TOGETHER = BackwardBits::HELD / LOG_MAX;  // symbols in a word
    BackwardBits bits(stream);
    for (;; number -= TOGETHER) {
        if (bits.is_overrun()) return false;
        uint64_t word = bits.word();
        int read = 0;
        for (size_t i = 0; i < std::min(number, TOGETHER); ++i) {
            const int width = entry[word >> (64 - log)].bits;
            word <<= width;
            read += width;
        }
        bits.skip(read);
        if (number >= TOGETHER) continue;
        const Entry is = entry[word >> (64 - log)];
        symbol = is.symbol;
        bits.skip(is.bits);
        return !bits.is_overrun();
    }
}

}  // namespace kingpair::zstd
