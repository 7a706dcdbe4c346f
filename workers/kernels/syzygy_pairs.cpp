// Codes the values of a Syzygy sub-table; the header explains how.

#include "syzygy_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <utility>

#include "syzygy_pairing.hpp"

namespace kingpair::syzygy {

namespace {

constexpr int CODE_MAX = 32;
constexpr int64_t VALUES_A_BLOCK = 65536;

// The lengths of Huffman codes, none longer than CODE_MAX.
std::vector<int> code_lengths(std::vector<uint64_t> weights) {
    const size_t n = weights.size();
    for (;;) {
        using Node = std::pair<uint64_t, size_t>;
        std::priority_queue<Node, std::vector<Node>, std::greater<Node>> heap;
        for (size_t i = 0; i < n; ++i) heap.push({weights[i], i});
        std::vector<size_t> parent(2 * n - 1);
        for (size_t next = n; next < 2 * n - 1; ++next) {
            const auto [a, left] = heap.top();
            heap.pop();
            const auto [b, right] = heap.top();
            heap.pop();
            parent[left] = parent[right] = next;
            heap.push({a + b, next});
        }
        std::vector<int> depth(2 * n - 1, 0);
        for (size_t i = 2 * n - 2; i-- > 0;) depth[i] = depth[parent[i]] + 1;
        depth.resize(n);
        if (*std::max_element(depth.begin(), depth.end()) <= CODE_MAX) return depth;
        for (auto& weight : weights) weight = weight / 2 + 1;  // flatter weights, shorter codes
    }
}

// The codes of symbols, the longest first.
struct Codes {
    std::vector<int> lengths;
    std::vector<uint16_t> place;  // of each symbol, in the order of codes
    std::vector<uint32_t> code;
    int shortest, longest;
    std::vector<uint16_t> offsets;

    explicit Codes(const std::vector<uint64_t>& frequency) : lengths(code_lengths(frequency)) {
        const size_t n = lengths.size();
        std::vector<uint16_t> order(n);
        std::iota(order.begin(), order.end(), uint16_t{0});
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return lengths[a] > lengths[b]; });
        shortest = lengths[order.back()], longest = lengths[order.front()];
        place.resize(n);
        code.resize(n);
        offsets.assign(static_cast<size_t>(longest - shortest + 1), 0);
        uint32_t next = 0;
        int length = longest;
        for (size_t i = 0; i < n; ++i) {
            const uint16_t s = order[i];
            for (; length > lengths[s]; --length) {
                next /= 2;
                offsets[static_cast<size_t>(length - 1 - shortest)] = static_cast<uint16_t>(i);
            }
            place[s] = static_cast<uint16_t>(i);
            code[s] = next++;
        }
    }
};

// Puts codes into blocks of one size.
class Blocks {
  public:
    Blocks(const Pairing& pairing, const Codes& codes, int log2) : log2_(log2) {
        const int64_t room = int64_t{8} << log2;
        int64_t bits = 0, values = 0;
        for (const auto& [s, times] : pairing.sequence()) {
            const int64_t more = codes.lengths[s], count = pairing.lengths()[s];
            for (uint32_t i = 0; i < times; ++i) {
                if (bits + more > room || values + count > VALUES_A_BLOCK) {
                    sizes_.push_back(static_cast<uint16_t>(values - 1));
                    bits = values = 0;
                }
                bits += more;
                values += count;
            }
        }
        sizes_.push_back(static_cast<uint16_t>(values - 1));
    }

    size_t bytes() const { return sizes_.size() * (2 + (size_t{1} << log2_)); }
    std::vector<uint16_t>& sizes() { return sizes_; }

    std::vector<uint8_t> data(const Pairing& pairing, const Codes& codes) const {
        std::vector<uint8_t> out(sizes_.size() << log2_, 0);
        size_t block = 0, bit = 0;
        int64_t left = sizes_[0] + 1;
        for (const auto& [s, times] : pairing.sequence())
            for (uint32_t i = 0; i < times; ++i) {
                if (left == 0) {
                    ++block;
                    bit = 0;
                    left = sizes_[block] + 1;
                }
                put(out.data() + (block << log2_), bit, codes.code[s], codes.lengths[s]);
                left -= pairing.lengths()[s];
            }
        return out;
    }

  private:
    // Writes a code, its top bit first.
    static void put(uint8_t* at, size_t& bit, uint32_t code, int length) {
        for (int i = length - 1; i >= 0; --i, ++bit)
            at[bit / 8] |= static_cast<uint8_t>((code >> i & 1) << (7 - bit % 8));
    }

    int log2_;
    std::vector<uint16_t> sizes_;
};

std::vector<Symbol> in_order_of_codes(const Pairing& pairing, const Codes& codes) {
    std::vector<Symbol> out(pairing.symbols().size());
    for (size_t s = 0; s < out.size(); ++s) {
        const auto [first, second] = pairing.symbols()[s];
        const bool literal = second == LITERAL;
        out[codes.place[s]] = literal ? Symbol{first, LITERAL} : Symbol{codes.place[first], codes.place[second]};
    }
    return out;
}

// Extends the values at both ends of a stretch of free values as far as they may go; the rest becomes `most` or less.
void extend_ends(std::span<uint16_t> free, int before, int after, int most) {
    size_t begin = 0, end = free.size();
    for (; begin < end && before <= free[begin] - FREE; ++begin) free[begin] = static_cast<uint16_t>(before);
    for (; begin < end && after <= free[end - 1] - FREE; --end) free[end - 1] = static_cast<uint16_t>(after);
    for (; begin < end; ++begin) free[begin] = static_cast<uint16_t>(std::min(most, free[begin] - FREE));
}

}  // namespace

CodedTable code_values(std::span<const uint16_t> values, const CodingLimits& limits, PairingRoom& room,
                       const std::function<void()>& pause) {
    Pairing pairing(values, limits.symbols, room);
    pairing.run(pause);
    const Codes codes(pairing.frequencies());
    int log2 = limits.most_log2;
    Blocks best(pairing, codes, log2);
    while (log2 > limits.least_log2) {
        pause();
        Blocks smaller(pairing, codes, log2 - 1);
        if (smaller.bytes() >= best.bytes()) break;
        best = std::move(smaller);
        --log2;
    }
    auto data = best.data(pairing, codes);
    return {codes.shortest, codes.offsets,           in_order_of_codes(pairing, codes),
            log2,           std::move(best.sizes()), std::move(data)};
}

uint64_t estimate_bytes(std::span<const uint16_t> values, int symbols) {
    PairingRoom room;
    Pairing pairing(values, symbols, room);
    pairing.run([] {});
    const auto& frequency = pairing.frequencies();
    const double total = static_cast<double>(std::accumulate(frequency.begin(), frequency.end(), uint64_t{0}));
    double bits = SYMBOL_BITS * static_cast<double>(pairing.symbols().size());
    for (const uint64_t n : frequency)
        if (n) bits += static_cast<double>(n) * std::max(1.0, std::log2(total / static_cast<double>(n)));
    return static_cast<uint64_t>(bits / 8);
}

std::vector<uint64_t> count_values(std::span<const uint16_t> values) {
    std::vector<uint64_t> found(size_t{1} << 16, 0);
    for (size_t i = 0; i < values.size();) {
        const size_t begin = i;
        i = end_of_run(values, begin);
        found[values[begin]] += i - begin;
    }
    while (!found.empty() && !found.back()) found.pop_back();
    return found;
}

bool choose_free(std::span<uint16_t> values, bool all) {
    auto frequency = all ? count_values(values) : std::vector<uint64_t>{};
    if (frequency.size() > FREE) frequency.resize(FREE);
    const auto most = std::max_element(frequency.begin(), frequency.end()) - frequency.begin();
    for (size_t end = 0; end < values.size(); ++end) {
        if (values[end] < FREE) {
            end = end_of_run(values, end) - 1;
            continue;
        }
        const size_t begin = end;
        int least = FREE;  // what all of the stretch may be
        for (; end < values.size() && values[end] >= FREE; ++end) least = std::min(least, values[end] - FREE);
        const auto stretch = values.subspan(begin, end - begin);
        const int before = begin ? values[begin - 1] : FREE, after = end < values.size() ? values[end] : FREE;
        const bool is_before = before <= least, is_after = after <= least;
        const bool takes_before = all && is_before && (!is_after || frequency[before] >= frequency[after]);
        if (before == after && is_before) std::fill(stretch.begin(), stretch.end(), before);
        else if (all && (is_before || is_after))
            std::fill(stretch.begin(), stretch.end(), takes_before ? before : after);
        else if (all) extend_ends(stretch, before, after, static_cast<int>(most));
    }
    const auto is_fixed = [](uint16_t value) { return value < FREE; };
    const auto fixed = std::find_if(values.begin(), values.end(), is_fixed);
    return std::any_of(fixed, values.end(), [&](uint16_t value) { return value < FREE && value != *fixed; });
}

}  // namespace kingpair::syzygy
