#include "zstd.hpp"

#include <algorithm>

#include "zstd_numbers.hpp"
#include "zstd_tables.hpp"

namespace kingpair::zstd {

namespace {

constexpr uint32_t MAGIC = 0xFD2FB528;
constexpr uint32_t CONTENT_MAX = 1 << 17;  // of a block
constexpr size_t SEQUENCES_MAX = CONTENT_MAX / 3 + 1;

// Literals, then a match: bytes that are those some way back.
struct Sequence {
    uint32_t begin, match_begin, literal, offset;  // `literal` is the number of the first one
};

// One of two numbers, without a branch.
inline uint32_t either(bool is_first, uint32_t first, uint32_t second) {
    return second ^ ((first ^ second) & (0U - is_first));
}

// The last three offsets, which later ones may repeat. No branch depends on them, as none could be foreseen.
struct Offsets {
    uint32_t last = 1, second = 4, third = 8;

    // The offset that a number stands for, which is now the last one.
    uint32_t take(uint32_t number, bool has_literals) {
        const uint32_t which = number - has_literals;
        const uint32_t known = either(which == 1, second, either(which == 2, third, last - (which == 3)));
        const uint32_t found = either(number > 3, number - 3, known);
        third = either(which > 1, second, third);
        second = either(which > 0, last, second);
        return last = found;
    }
};

// The literals of a block: bytes, or a byte for all, or the code of one stream or of four.
struct Literals {
    enum class Form { plain, same, one_stream, four_streams };

    Form form;
    Bytes bytes;
    size_t count;
    Bytes streams[4];

    bool find(size_t number, const Prefixes& prefixes, uint8_t& found) const {
        if (number >= count) return false;
        const size_t apart = (count + 3) / 4;
        switch (form) {
            case Form::plain: found = bytes.at[number]; return true;
            case Form::same: found = *bytes.at; return true;
            case Form::one_stream: return prefixes.find(bytes, number, found);
            default: return prefixes.find(streams[number / apart], number % apart, found);
        }
    }
};

// Reads a block that is compressed, as far as to a place of its content.
class Block {
  public:
    explicit Block(Sequence* sequences) : sequences_(sequences) {}

    bool read(Bytes code, size_t last_place) { return read_literals(code) && read_sequences(code, last_place); }

    // The byte at a place up to the last one. A match leads back, in the end to a literal.
    bool find(size_t place, uint8_t& found) const {
        const Sequence *const first = sequences_, *end = first + count_;
        for (;;) {
            const auto is_later = [](size_t at, const Sequence& each) { return at < each.begin; };
            const Sequence& in = *(std::upper_bound(first, end, place, is_later) - 1);
            if (place < in.match_begin) return literals_.find(in.literal + (place - in.begin), prefixes_, found);
            if (in.offset == 0 || in.offset > in.match_begin) return false;
            place = in.match_begin - in.offset + (place - in.match_begin) % in.offset;
            end = &in + 1;
        }
    }

  private:
    // ---- literals ----

    bool read_literals(Bytes& code) {
        if (code.size == 0) return false;
        const int kind = *code.at & 3, form = *code.at >> 2 & 3;
        return kind < 2 ? read_plain_literals(code, kind == 1, form) : kind == 2 && read_coded_literals(code, form);
    }

    bool read_plain_literals(Bytes& code, bool is_same, int form) {
        Bytes head;
        const size_t bytes = form == 3 ? 3 : form == 1 ? 2 : 1;
        if (!code.take(bytes, head)) return false;
        literals_.form = is_same ? Literals::Form::same : Literals::Form::plain;
        literals_.count = number(head.at, bytes) >> (bytes == 1 ? 3 : 4);
        return code.take(is_same ? 1 : literals_.count, literals_.bytes);
    }

    bool read_coded_literals(Bytes& code, int form) {
        Bytes head, sizes, rest;
        const size_t bytes = form < 2 ? 3 : form == 2 ? 4 : 5;
        if (!code.take(bytes, head)) return false;
        const int width = form < 2 ? 10 : form == 2 ? 14 : 18;
        const uint64_t both = number(head.at, bytes) >> 4, mask = (uint64_t{1} << width) - 1;
        literals_.form = form == 0 ? Literals::Form::one_stream : Literals::Form::four_streams;
        literals_.count = both & mask;
        if (!code.take(both >> width & mask, rest) || !prefixes_.read(rest)) return false;
        literals_.bytes = rest;
        if (form == 0) return true;
        if (!rest.take(6, sizes)) return false;
        for (size_t i = 0; i < 3; ++i)
            if (!rest.take(number(sizes.at + 2 * i, 2), literals_.streams[i])) return false;
        literals_.streams[3] = rest;
        return true;
    }

    // ---- sequences ----

    bool read_sequences(Bytes code, size_t last_place) {
        Bytes head;
        if (!code.take(1, head)) return false;
        size_t count = *head.at;
        if (count >= 128) {
            const bool is_large = count == 255;
            if (!code.take(is_large ? 2 : 1, head)) return false;
            count = is_large ? number(head.at, 2) + 0x7F00 : ((count - 128) << 8) + *head.at;
        }
        if (count == 0) return end(0, 0, 0);
        if (count > SEQUENCES_MAX || !code.take(1, head) || *head.at & 3) return false;
        for (int kind = 0; kind < KINDS; ++kind)
            if (!read_steps(code, kind, *head.at >> (6 - 2 * kind) & 3)) return false;
        return read_numbers(BackwardBits(code), count, last_place);
    }

    bool read_steps(Bytes& code, int kind, int mode) {
        Bytes head;
        switch (mode) {
            case 0: using_[kind] = &format().usual[kind]; return true;
            case 1:
                if (!code.take(1, head) || *head.at >= CODES[kind]) return false;
                format().make_single(kind, *head.at, own_[kind]);
                break;
            case 2: {
                Counts counts;
                if (!counts.read(code, LOG_MAX[kind], CODES[kind])) return false;
                if (!format().make(kind, counts, own_[kind])) return false;
                break;
            }
            default: return false;  // the first block repeats none
        }
        using_[kind] = &own_[kind];
        return true;
    }

    // Reads the sequences up to that of the last place.
    bool read_numbers(BackwardBits bits, size_t count, size_t last_place) {
        const Step* first[KINDS];
        for (int kind = 0; kind < KINDS; ++kind) {
            if (bits.is_overrun()) return false;
            first[kind] = using_[kind]->step + bits.read(using_[kind]->log);
        }
        const Step *literals = first[LITERALS], *match = first[MATCHES], *offset = first[OFFSETS];
        const Step *const literal_steps = using_[LITERALS]->step, *const match_steps = using_[MATCHES]->step,
                          *const offset_steps = using_[OFFSETS]->step;
        Offsets last;
        uint32_t begin = 0, literal = 0;
        Sequence* next = sequences_;
        for (;;) {
            if (bits.is_overrun() || begin > CONTENT_MAX) return false;
            const uint64_t word = bits.word();
            const int more = offset->more + match->more + literals->more;
            const unsigned far = offset->value + BackwardBits::first_bits(word, offset->more);
            uint64_t lengths = word << offset->more, states = word << more;
            if (more + STATE_BITS > BackwardBits::HELD) [[unlikely]] {
                if (!bits.can_skip(more)) return false;
                lengths = bits.word_behind(offset->more);
                states = bits.word_behind(more);
            }
            const unsigned length = match->value + BackwardBits::first_bits(lengths, match->more);
            const unsigned before = literals->value + BackwardBits::first_bits(lengths << match->more, literals->more);
            *next++ = {begin, begin + before, literal, last.take(far, before > 0)};
            begin += before + length;
            literal += before;
            if (begin > last_place || --count == 0) {
                count_ = static_cast<size_t>(next - sequences_);
                return bits.can_skip(more) && (begin > last_place || end(count_, begin, literal));
            }
            const int to_match = literals->bits, to_offset = to_match + match->bits;
            bits.skip(more + to_offset + offset->bits);
            literals = literal_steps + literals->base + BackwardBits::first_bits(states, to_match);
            const int match_bits = match->bits;
            match = match_steps + match->base + BackwardBits::first_bits(states << to_match, match_bits);
            offset = offset_steps + offset->base + BackwardBits::first_bits(states << to_offset, offset->bits);
        }
    }

    // Behind the last sequence there are literals alone.
    bool end(size_t count, uint32_t begin, uint32_t literal) {
        sequences_[count] = {begin, CONTENT_MAX, literal, 0};
        count_ = count + 1;
        return true;
    }

    Sequence* sequences_;
    size_t count_ = 0;
    Literals literals_{};
    Prefixes prefixes_;
    Steps own_[KINDS];
    const Steps* using_[KINDS] = {};
};

// Reads the header of a frame; false if it is of a kind that is not read, or has another size.
bool read_header(Bytes& frame, size_t size) {
    Bytes head, content;
    if (!frame.take(5, head) || number(head.at, 4) != MAGIC) return false;
    const int flags = head.at[4];
    const bool is_single = flags >> 5 & 1;
    if (flags & 0b1111) return false;  // a bit that is reserved, a checksum, a dictionary
    if (!is_single && !frame.take(1, head)) return false;
    const size_t bytes = size_t{1} << (flags >> 6);
    if (bytes == 1 && !is_single) return false;  // it does not say how large it is
    return frame.take(bytes, content) && number(content.at, bytes) + (bytes == 2 ? 256 : 0) == size;
}

}  // namespace

bool find_bytes(Bytes frame, size_t size, const std::vector<uint32_t>& places, uint8_t* found) {
    Bytes head, code;
    if (!read_header(frame, size) || !frame.take(3, head)) return false;
    const auto header = static_cast<uint32_t>(number(head.at, 3));
    const size_t last = places.empty() ? 0 : *std::max_element(places.begin(), places.end());
    const int kind = header >> 1 & 3;
    if (kind == 3 || !frame.take(kind == 1 ? 1 : header >> 3, code)) return false;
    if (kind < 2) {
        if (last >= header >> 3) return false;
        for (uint32_t place : places) *found++ = code.at[kind == 1 ? 0 : place];
        return true;
    }
    static thread_local Sequence sequences[SEQUENCES_MAX + 1];
    Block block(sequences);
    if (!block.read(code, last)) return false;
    for (uint32_t place : places)
        if (!block.find(place, *found++)) return false;
    return true;
}

}  // namespace kingpair::zstd
