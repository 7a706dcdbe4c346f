#include "slots.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace kingpair {

int turned(int symmetry, int square) {
    int f = square & 7, r = square >> 3;
    if (symmetry & 1) f = 7 - f;
    if (symmetry & 2) r = 7 - r;
    return symmetry & 4 ? 8 * f + r : 8 * r + f;
}

LikeMen like_men(const Domain& d) {
    LikeMen men{d.men, {}};
    for (int i = 0; i + 1 < d.men; ++i)
        men.like[i] = d.man[i].kind == d.man[i + 1].kind && d.man[i].side == d.man[i + 1].side;
    return men;
}

namespace {

constexpr int MIRROR = 4;
using Squares = std::array<uint8_t, MEN_AXES_MAX>;

size_t slot_in_order(const LikeMen& men, Squares s) {
    for (int pass = 1; pass < men.men; ++pass)
        for (int i = 0; i + pass < men.men; ++i) {
            if (!men.like[i]) continue;
            const auto [low, high] = std::minmax(s[i], s[i + 1]);
            const uint8_t first = low, second = high;
            s[i] = first;
            s[i + 1] = second;
        }
    size_t slot = 0;
    for (int i = 0; i < men.men; ++i) slot = slot << 6 | s[i];
    return slot;
}

Squares squares_of(int men, size_t slot) {
    Squares s{};
    for (int i = men; i-- > 0; slot >>= 6) s[i] = static_cast<uint8_t>(slot & 63);
    return s;
}

size_t canonical(const LikeMen& men, bool diagonal, Squares s) {
    size_t slot = slot_in_order(men, s);
    if (!diagonal) return slot;
    for (int i = 0; i < men.men; ++i) s[i] = static_cast<uint8_t>(turned(MIRROR, s[i]));
    return std::min(slot, slot_in_order(men, s));
}

}  // namespace

size_t canonical_slot(const LikeMen& men, bool diagonal, const uint8_t* squares) {
    Squares s{};
    std::copy_n(squares, men.men, s.begin());
    return canonical(men, diagonal, s);
}

void canonical_mask(const LikeMen& men, bool diagonal, size_t words, uint64_t* out) {
    const size_t slots = size_t{1} << (6 * men.men);
    std::fill_n(out, words, 0);
    for (size_t slot = 0; slot < slots; ++slot)
        if (canonical(men, diagonal, squares_of(men.men, slot)) == slot) out[slot / 64] |= uint64_t{1} << slot % 64;
}

namespace {

// Calls visit(slot, its canonical slot) for the slots of `wanted`.
template <class Visit>
void each_wanted(const LikeMen& men, bool diagonal, const uint64_t* wanted, Visit visit) {
    const size_t slots = size_t{1} << (6 * men.men);
    for (size_t w = 0; w < (slots + 63) / 64; ++w)
        for (uint64_t m = wanted[w]; m; m &= m - 1) {
            const size_t slot = 64 * w + static_cast<size_t>(std::countr_zero(m));
            visit(slot, canonical(men, diagonal, squares_of(men.men, slot)));
        }
}

// Where the slots of one frame lie in another: the sum of a part for each man's square.
struct Frame {
    int men;
    std::array<std::array<size_t, 64>, MEN_AXES_MAX> part{};

    Frame(int men_, int symmetry, const uint8_t* axis) : men(men_) {
        for (int i = 0; i < men; ++i)
            for (int s = 0; s < 64; ++s)
                part[i][s] = static_cast<size_t>(turned(symmetry, s)) << (6 * (men - 1 - axis[i]));
    }

    // Of all men but the last, whose squares are the bits of word `word`.
    size_t base(size_t word) const {
        size_t sum = 0;
        for (int i = 0; i + 1 < men; ++i) sum |= part[i][word >> (6 * (men - 2 - i)) & 63];
        return sum;
    }
    size_t last(int square) const { return part[men - 1][square]; }
    size_t words() const { return size_t{1} << (6 * (men - 1)); }
};

}  // namespace

void spread(const LikeMen& men, bool diagonal, const uint64_t* wanted, uint64_t* set) {
    each_wanted(men, diagonal, wanted, [&](size_t slot, size_t from) {
        if (set[from / 64] >> from % 64 & 1) set[slot / 64] |= uint64_t{1} << slot % 64;
    });
}

template <class T>
void spread_values(const LikeMen& men, bool diagonal, const uint64_t* wanted, T* column) {
    each_wanted(men, diagonal, wanted, [&](size_t slot, size_t from) { column[slot] = column[from]; });
}

void reframe(int men, int symmetry, const uint8_t* axis, const uint64_t* in, uint64_t* out) {
    if (men == 0) {
        out[0] = in[0];
        return;
    }
    const Frame frame(men, symmetry, axis);
    for (size_t w = 0; w < frame.words(); ++w) {
        const size_t base = frame.base(w);
        uint64_t word = 0;
        for (int s = 0; s < 64; ++s) {
            const size_t from = base | frame.last(s);
            word |= (in[from / 64] >> from % 64 & 1) << s;
        }
        out[w] = word;
    }
}

template <class T>
void reframe_values(int men, int symmetry, const uint8_t* axis, const T* in, T* out) {
    if (men == 0) return;
    const Frame frame(men, symmetry, axis);
    for (size_t w = 0; w < frame.words(); ++w) {
        const size_t base = frame.base(w);
        for (int s = 0; s < 64; ++s) out[64 * w + static_cast<size_t>(s)] = in[base | frame.last(s)];
    }
}

template void spread_values(const LikeMen&, bool, const uint64_t*, int8_t*);
template void spread_values(const LikeMen&, bool, const uint64_t*, int16_t*);
template void reframe_values(int, int, const uint8_t*, const int8_t*, int8_t*);
template void reframe_values(int, int, const uint8_t*, const int16_t*, int16_t*);

// ---- reading a FEN ------------------------------------------------------------------------------------------------------

namespace {

constexpr std::string_view LETTERS = "QRBN";
constexpr int KING_LETTER = 4;

struct Board {
    int king[2] = {-1, -1};         // white, black
    int count[2] = {0, 0};
    std::pair<uint8_t, uint8_t> men[2][MEN_AXES_MAX];  // letter, square
    uint64_t occupied = 0;
};

bool place(Board& b, int colour, int letter, int square) {
    b.occupied |= uint64_t{1} << square;
    if (letter == KING_LETTER) {
        if (b.king[colour] >= 0) return false;
        b.king[colour] = square;
        return true;
    }
    if (b.count[0] + b.count[1] == MEN_AXES_MAX) return false;
    b.men[colour][b.count[colour]++] = {static_cast<uint8_t>(letter), static_cast<uint8_t>(square)};
    return true;
}

// Reads the board field; the number of characters read, or 0.
size_t read_board(std::string_view fen, Board& b) {
    int rank = 7, file = 0;
    size_t i = 0;
    for (; i < fen.size() && fen[i] != ' ' && fen[i] != '_'; ++i) {
        const char c = fen[i];
        if (c == '/') {
            if (file != 8 || rank == 0) return 0;
            --rank;
            file = 0;
        } else if (c >= '1' && c <= '8') {
            if (i && fen[i - 1] >= '1' && fen[i - 1] <= '8') return 0;
            file += c - '0';
        } else {
            const bool black = c >= 'a';
            const char upper = black ? static_cast<char>(c - 32) : c;
            const size_t letter = upper == 'K' ? KING_LETTER : LETTERS.find(upper);
            if (letter == LETTERS.npos || file > 7 || !place(b, black, static_cast<int>(letter), 8 * rank + file))
                return 0;
            ++file;
        }
        if (file > 8) return 0;
    }
    return rank == 0 && file == 8 && b.king[0] >= 0 && b.king[1] >= 0 ? i : 0;
}

bool line_is_free(uint64_t occupied, int from, int to, int df, int dr) {
    for (int s = from + 8 * dr + df; s != to; s += 8 * dr + df)
        if (occupied >> s & 1) return false;
    return true;
}

bool attacks(int letter, int from, int to, uint64_t occupied) {
    const int df = (to & 7) - (from & 7), dr = (to >> 3) - (from >> 3);
    if (letter == 3) return df * df + dr * dr == 5;
    const bool straight = df == 0 || dr == 0, diagonal = df == dr || df == -dr;
    if (!(straight && letter != 2) && !(diagonal && letter != 1)) return false;
    const auto sign = [](int x) { return (x > 0) - (x < 0); };
    return line_is_free(occupied, from, to, sign(df), sign(dr));
}

bool in_check(const Board& b, int colour) {
    const int by = 1 - colour;
    return std::any_of(b.men[by], b.men[by] + b.count[by],
                       [&](auto man) { return attacks(man.first, man.second, b.king[colour], b.occupied); });
}

uint32_t counted(const Board& b, int colour) {
    uint32_t counts = 0;
    for (int i = 0; i < b.count[colour]; ++i) counts += 1u << (12 - 4 * b.men[colour][i].first);
    return counts;
}

// More men first, then the first man that differs, in the order Q R B N.
bool stronger(const Board& b, int colour) {
    const int other = 1 - colour;
    if (b.count[0] != b.count[1]) return b.count[colour] > b.count[other];
    return counted(b, colour) >= counted(b, other);
}

Read slot_of(const Placements& placements, Board& b, bool black_to_move) {
    const int strong = stronger(b, 0) ? 0 : 1, weak = 1 - strong;
    const int pair = placements.pair[b.king[strong]][b.king[weak]];
    const int symmetry = placements.symmetry[b.king[strong]][b.king[weak]];
    LikeMen like{b.count[0] + b.count[1], {}};
    Squares squares{};
    int axis = 0;
    for (int colour : {weak, strong}) {
        std::sort(b.men[colour], b.men[colour] + b.count[colour]);
        for (int i = 0; i < b.count[colour]; ++i, ++axis) {
            squares[axis] = static_cast<uint8_t>(turned(symmetry, b.men[colour][i].second));
            like.like[axis] = i + 1 < b.count[colour] && b.men[colour][i].first == b.men[colour][i + 1].first;
        }
    }
    const size_t slot = canonical(like, placements.diagonal[pair], squares);
    return {Reading::good, static_cast<uint8_t>(black_to_move == (strong == 0)),
            counted(b, strong) << 16 | counted(b, weak),
            static_cast<int64_t>(static_cast<size_t>(pair) << (6 * like.men) | slot)};
}

// At most two numbers of at most four digits.
bool clocks(std::string_view text) {
    int numbers = 0, digits = 0;
    for (char c : text) {
        if (c == ' ' || c == '_') {
            digits = 0;
            continue;
        }
        if (c < '0' || c > '9' || ++digits > 4) return false;
        numbers += digits == 1;
    }
    return numbers <= 2;
}

}  // namespace

Read read_fen(const Placements& placements, std::string_view fen) {
    constexpr Read closer{Reading::look_closer, 0, 0, 0};
    Board b;
    const size_t at = read_board(fen, b);
    if (!at || at + 1 >= fen.size()) return closer;
    const char turn = fen[at + 1];
    if (turn != 'w' && turn != 'b') return closer;
    std::string_view rest = fen.substr(at + 2);
    const auto blank = [](char c) { return c == ' ' || c == '_'; };
    // Castling and en passant must be absent; the clocks do not matter to a table.
    if (!rest.empty() && (rest.size() < 4 || !blank(rest[0]) || rest[1] != '-' || !blank(rest[2]) || rest[3] != '-'))
        return closer;
    if (rest.size() > 4) {
        if (!blank(rest[4])) return closer;
        if (!clocks(rest.substr(5))) return closer;
    }
    if (placements.pair[b.king[0]][b.king[1]] < 0 || in_check(b, turn == 'w')) return closer;
    return slot_of(placements, b, turn == 'b');
}

}  // namespace kingpair
