// Reads the coded values of a Syzygy sub-table; the header explains them.

#include "syzygy_decoder.hpp"

#include <algorithm>
#include <utility>

namespace kingpair::syzygy {

namespace {

constexpr int CODE_MAX = 32;
constexpr uint32_t LENGTH_MAX = 1 << 16;

void require(bool sound, const char* what) {
    if (!sound) throw DamagedCode(what);
}

uint32_t read16(Bytes bytes, size_t at) {
    require(at + 2 <= bytes.size(), "a table of spans or sizes is too short");
    return bytes[at] | uint32_t{bytes[at + 1]} << 8;
}

uint32_t read32(Bytes bytes, size_t at) { return read16(bytes, at) | read16(bytes, at + 2) << 16; }

int64_t values_in(Bytes sizes, size_t block) { return int64_t{read16(sizes, 2 * block)} + 1; }

}  // namespace

// The bits of a block, from the top bit of its first byte on; behind its end they are 0.
class Decoder::Bits {
  public:
    explicit Bits(Bytes block) : block_(block) { fill(); }

    uint64_t ahead() const { return ahead_; }

    void skip(int count) {
        used_ += static_cast<size_t>(count);
        require(used_ <= 8 * block_.size(), "a block ends within a code");
        ahead_ <<= count;
        left_ -= count;
        if (left_ < CODE_MAX) fill();
    }

  private:
    void fill() {
        while (left_ <= 56) {
            if (at_ < block_.size()) ahead_ |= uint64_t{block_[at_++]} << (56 - left_);
            left_ += 8;
        }
    }

    Bytes block_;
    size_t at_ = 0, used_ = 0;
    uint64_t ahead_ = 0;
    int left_ = 0;
};

Decoder::Decoder(int shortest, const std::vector<uint16_t>& offsets, std::vector<Symbol> symbols)
    : shortest_(shortest), offsets_(offsets), bases_(offsets.size()), symbols_(std::move(symbols)) {
    const int lengths = static_cast<int>(offsets.size());
    require(lengths > 0 && shortest >= 1 && shortest + lengths - 1 <= CODE_MAX, "lengths of codes are impossible");
    require(!symbols_.empty() && symbols_.size() <= LITERAL + size_t{1}, "the number of symbols is impossible");
    uint64_t base = 0;
    for (int i = lengths - 1; i >= 0; --i) {
        if (i < lengths - 1) {
            const uint64_t more = base + offsets[i];
            require(more >= offsets[i + 1], "codes are not canonical");
            base = (more - offsets[i + 1]) / 2;
        }
        require(base >> (shortest + i) == 0, "codes are not canonical");
        bases_[i] = base << (64 - shortest - i);
    }
    measure();
}

// Counts the values of each symbol. A symbol that contains itself is refused.
void Decoder::measure() {
    lengths_.assign(symbols_.size(), 0);
    std::vector<uint8_t> open(symbols_.size(), 0);
    std::vector<uint16_t> waiting;
    for (size_t each = 0; each < symbols_.size(); ++each) {
        waiting.push_back(static_cast<uint16_t>(each));
        while (!waiting.empty()) {
            const uint16_t s = waiting.back();
            const auto [first, second] = symbols_[s];
            if (second == LITERAL) lengths_[s] = 1;
            if (lengths_[s]) {
                waiting.pop_back();
                continue;
            }
            require(first < symbols_.size() && second < symbols_.size(), "a pair of unknown symbols");
            if (lengths_[first] && lengths_[second]) {
                lengths_[s] = lengths_[first] + lengths_[second];
                require(lengths_[s] <= LENGTH_MAX, "a symbol is too long");
                continue;
            }
            require(!open[s], "a symbol contains itself");
            open[s] = 1;
            if (!lengths_[second]) waiting.push_back(second);
            if (!lengths_[first] && first != second) waiting.push_back(first);
        }
    }
}

Decoder::Found Decoder::find(const Parts& parts, uint64_t place) const {
    const size_t span = place >> parts.span_log2;
    const int64_t inside = static_cast<int64_t>(place & ((uint64_t{1} << parts.span_log2) - 1));
    size_t block = read32(parts.spans, 6 * span);
    int64_t before = inside - (int64_t{1} << parts.span_log2) / 2 + read16(parts.spans, 6 * span + 4);
    while (before < 0) {
        require(block > 0, "a span begins before the first block");
        before += values_in(parts.sizes, --block);
    }
    for (int64_t here; before >= (here = values_in(parts.sizes, block)); ++block) before -= here;
    require(block < parts.blocks(), "a span ends behind the last block");
    return {block, before};
}

uint16_t Decoder::next(Bits& bits) const {
    const uint64_t ahead = bits.ahead();
    size_t i = 0;
    while (ahead < bases_[i]) ++i;  // the longest codes begin at 0
    const int length = shortest_ + static_cast<int>(i);
    const uint64_t symbol = offsets_[i] + ((ahead - bases_[i]) >> (64 - length));
    require(symbol < symbols_.size(), "a code of no symbol");
    bits.skip(length);
    return static_cast<uint16_t>(symbol);
}

uint16_t Decoder::descend(uint16_t symbol, int64_t before) const {
    while (symbols_[symbol].second != LITERAL) {
        const auto [first, second] = symbols_[symbol];
        const int64_t length = lengths_[first];
        if (before < length) {
            symbol = first;
        } else {
            before -= length;
            symbol = second;
        }
    }
    return symbols_[symbol].first;
}

uint16_t Decoder::value(const Parts& parts, uint64_t place) const {
    auto [block, before] = find(parts, place);
    Bits bits(parts.data.subspan(block << parts.block_log2, size_t{1} << parts.block_log2));
    uint16_t symbol = next(bits);
    while (before >= lengths_[symbol]) {
        before -= lengths_[symbol];
        symbol = next(bits);
    }
    return descend(symbol, before);
}

void Decoder::values(const Parts& parts, uint64_t place, std::span<uint16_t> out) const {
    if (out.empty()) return;
    auto [block, before] = find(parts, place);
    std::vector<uint16_t> waiting;
    for (size_t done = 0; done < out.size(); ++block, before = 0) {
        require(block < parts.blocks(), "values end before the last one");
        Bits bits(parts.data.subspan(block << parts.block_log2, size_t{1} << parts.block_log2));
        int64_t left = values_in(parts.sizes, block);
        while (left > 0 && done < out.size()) {
            waiting.push_back(next(bits));
            while (!waiting.empty()) {
                const uint16_t symbol = waiting.back();
                waiting.pop_back();
                if (before >= lengths_[symbol]) {
                    before -= lengths_[symbol];
                    left -= lengths_[symbol];
                } else if (symbols_[symbol].second == LITERAL) {
                    if (left-- > 0 && done < out.size()) out[done++] = symbols_[symbol].first;
                } else {
                    waiting.push_back(symbols_[symbol].second);
                    waiting.push_back(symbols_[symbol].first);
                }
            }
        }
    }
}

}  // namespace kingpair::syzygy
