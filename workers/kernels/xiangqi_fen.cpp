#include "xiangqi_fen.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <tuple>
#include <vector>

namespace kingpair::xiangqi {
namespace {

constexpr int FILES = 9, RANKS = 10, FREE_MOST = 4;
constexpr int64_t TABLE_BLOCK = 65536;  // rows of a table's block
constexpr uint64_t GAME_BIT = uint64_t{1} << 62;
constexpr int8_t NO_LETTER = -1;

enum Letter : uint8_t { ROOK, HORSE, CANNON, PAWN, ADVISOR, ELEPHANT, KING };
constexpr std::array<int, LETTERS_OF_FEN> MOST = {2, 2, 2, 5, 2, 2, 1};
constexpr std::array<Letter, 4> AXES = {PAWN, HORSE, ROOK, CANNON};  // in the order of a row

constexpr std::array<int8_t, 256> letters() {
    std::array<int8_t, 256> found{};
    found.fill(NO_LETTER);
    for (int i = 0; i < LETTERS_OF_FEN; ++i) found["RNCPABK"[i]] = found["rncpabk"[i]] = static_cast<int8_t>(i);
    for (int i = 0; i < 3; ++i) found["HGE"[i]] = found["hge"[i]] = found["NCB"[i]];
    return found;
}

constexpr std::array<int8_t, 256> LETTERS = letters();

constexpr int flip(int square) { return square % FILES + FILES * (RANKS - 1 - square / FILES); }
constexpr int mirror(int square) { return square + FILES - 1 - 2 * (square % FILES); }

constexpr std::array<uint8_t, 9> PALACE = {3, 4, 5, 12, 13, 14, 21, 22, 23};
constexpr std::array<uint8_t, 5> ADVISORS = {3, 5, 13, 21, 23};
constexpr std::array<uint8_t, 7> ELEPHANTS = {2, 6, 18, 22, 26, 38, 42};

bool is_pawn_square(int lower) { return lower / FILES >= 5 || (lower / FILES >= 3 && lower % FILES % 2 == 0); }

template <size_t N>
bool holds(const std::array<uint8_t, N>& squares, int lower) {
    return std::find(squares.begin(), squares.end(), lower) != squares.end();
}

bool may_stand(int letter, int lower) {
    switch (letter) {
        case KING: return holds(PALACE, lower);
        case ADVISOR: return holds(ADVISORS, lower);
        case ELEPHANT: return holds(ELEPHANTS, lower);
        case PAWN: return is_pawn_square(lower);
        default: return true;
    }
}

// ---- the numbers of placements ----

// The places of a letter of one side in ascending order, by square, and the mirror image of a set of places.
template <size_t N>
struct Places {
    std::array<int8_t, 90> of_square{};
    std::array<uint8_t, size_t{1} << N> mirrored{};

    Places(const std::array<uint8_t, N>& lower, bool upper) {
        std::array<int, N> squares;
        std::transform(lower.begin(), lower.end(), squares.begin(), [&](int s) { return upper ? flip(s) : s; });
        std::sort(squares.begin(), squares.end());
        for (size_t i = 0; i < N; ++i) of_square[static_cast<size_t>(squares[i])] = static_cast<int8_t>(i);
        if constexpr (N < 8)
            for (size_t set = 0; set < mirrored.size(); ++set)
                for (size_t i = 0; i < N; ++i)
                    if (set >> i & 1)
                        mirrored[set] |= static_cast<uint8_t>(1 << of_square[static_cast<size_t>(mirror(squares[i]))]);
    }
};

// A placement of one side's frame: the place of its king, and the sets of places of the others.
struct Placement {
    int king;
    unsigned advisors, elephants;
    bool operator==(const Placement&) const = default;
};

// The sets of `count` of `places` places, in the order of their ascending places.
std::vector<unsigned> sets(int places, int count) {
    std::vector<unsigned> found;
    if (count == 0) return {0};
    for (int i = 0; i < places; ++i) {
        if (count == 1) found.push_back(1U << i);
        else
            for (int j = i + 1; j < places; ++j) found.push_back(1U << i | 1U << j);
    }
    return found;
}

// Whether one of two different sets comes first: it has the lowest place that they do not share.
bool comes_first(unsigned a, unsigned b) { return (a & ((a ^ b) & -(a ^ b))) != 0; }

bool comes_first(const Placement& a, const Placement& b) {
    if (a.king != b.king) return a.king < b.king;
    return a.advisors != b.advisors ? comes_first(a.advisors, b.advisors) : comes_first(a.elephants, b.elephants);
}

// The numbers of the placements of one side, by how many advisors and elephants it has: of the upper side only the
// first of two mirror images has one.
struct Numbers {
    Places<9> kings;
    Places<5> advisors;
    Places<7> elephants;
    bool upper;
    int count[3][3] = {};
    std::vector<int16_t> number = std::vector<int16_t>(9 * 32 * 128, -1);

    explicit Numbers(bool upper_)
        : kings(PALACE, upper_), advisors(ADVISORS, upper_), elephants(ELEPHANTS, upper_), upper(upper_) {
        for (int a = 0; a < 3; ++a)
            for (int e = 0; e < 3; ++e) list(a, e);
    }

    static size_t at(const Placement& p) { return (static_cast<size_t>(p.king) * 32 + p.advisors) * 128 + p.elephants; }

    Placement mirrored(const Placement& p) const {
        return {p.king / 3 * 3 + 2 - p.king % 3, advisors.mirrored[p.advisors], elephants.mirrored[p.elephants]};
    }

    void list(int a, int e) {
        for (int king = 0; king < 9; ++king)
            for (unsigned advisor_set : sets(5, a))
                for (unsigned elephant_set : sets(7, e)) {
                    const Placement p{king, advisor_set, elephant_set};
                    if (!is_possible(p) || (upper && comes_first(mirrored(p), p))) continue;
                    number[at(p)] = static_cast<int16_t>(count[a][e]++);
                }
    }

    // Whether no two men share a square.
    bool is_possible(const Placement& p) const {
        bool taken[90] = {};
        const auto add = [&](const auto& places, unsigned set) {
            for (int s = 0; s < 90; ++s) {
                const int place = places.of_square[static_cast<size_t>(s)];
                if (!(set >> place & 1) || !stands(places, s)) continue;
                if (taken[s]) return false;
                taken[s] = true;
            }
            return true;
        };
        return add(kings, 1U << p.king) && add(advisors, p.advisors) && add(elephants, p.elephants);
    }

    bool stands(const Places<9>&, int s) const { return holds(PALACE, upper ? flip(s) : s); }
    bool stands(const Places<5>&, int s) const { return holds(ADVISORS, upper ? flip(s) : s); }
    bool stands(const Places<7>&, int s) const { return holds(ELEPHANTS, upper ? flip(s) : s); }
};

const Numbers& numbers(bool upper) {
    static const std::array<Numbers, 2> found = {Numbers(false), Numbers(true)};
    return found[upper];
}

// The number of each pawn square of a side, in ascending order.
struct PawnSquares {
    std::array<std::array<uint8_t, 90>, 2> index{};

    PawnSquares() {
        for (int upper = 0; upper < 2; ++upper)
            for (int s = 0, n = 0; s < 90; ++s)
                if (is_pawn_square(upper ? flip(s) : s))
                    index[static_cast<size_t>(upper)][static_cast<size_t>(s)] = static_cast<uint8_t>(n++);
    }
};

const PawnSquares PAWN_SQUARES;
constexpr int64_t PAWN_COUNT = 55, SQUARE_COUNT = 90;

// ---- the row ----

// The men as a table shows them: the stronger side below.
struct Shown {
    const FenBoard& board;
    int strong;

    int count(int side, int letter) const { return board.count[side ? 1 - strong : strong][letter]; }
    int square(int side, int letter, int i) const {
        const int s = board.square[side ? 1 - strong : strong][letter][i];
        return strong ? flip(s) : s;
    }
    Placement placement(int side, const Numbers& by) const {
        Placement found{by.kings.of_square[static_cast<size_t>(square(side, KING, 0))], 0, 0};
        for (int i = 0; i < count(side, ADVISOR); ++i)
            found.advisors |= 1U << by.advisors.of_square[static_cast<size_t>(square(side, ADVISOR, i))];
        for (int i = 0; i < count(side, ELEPHANT); ++i)
            found.elephants |= 1U << by.elephants.of_square[static_cast<size_t>(square(side, ELEPHANT, i))];
        return found;
    }
};

// Multiplies a slot by the axes of the free men and adds their squares; of like men the lowest square comes first.
int64_t add_free_men(const Shown& shown, bool mirrored, int64_t slot) {
    for (Letter letter : AXES)
        for (int side : {1, 0}) {
            uint64_t men[2] = {};  // a set of squares sorts them
            const int count = shown.count(side, letter);
            for (int i = 0; i < count; ++i) {
                const int s = mirrored ? mirror(shown.square(side, letter, i)) : shown.square(side, letter, i);
                men[s / 64] |= uint64_t{1} << s % 64;
            }
            for (int half = 0; half < 2; ++half)
                for (; men[half]; men[half] &= men[half] - 1) {
                    const auto s = static_cast<size_t>(64 * half + std::countr_zero(men[half]));
                    slot = letter == PAWN ? slot * PAWN_COUNT + PAWN_SQUARES.index[static_cast<size_t>(side)][s]
                                          : slot * SQUARE_COUNT + static_cast<int64_t>(s);
                }
        }
    return slot;
}

int64_t padded(int64_t used) {
    if (used > TABLE_BLOCK / 2) return (used + TABLE_BLOCK - 1) / TABLE_BLOCK * TABLE_BLOCK;
    return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(used)));
}

int64_t row_of(const Shown& shown) {
    const Numbers &below = numbers(false), &above = numbers(true);
    const Placement lower = shown.placement(0, below), upper = shown.placement(1, above);
    const auto slot = [&](bool mirrored) {
        return add_free_men(shown, mirrored, below.number[Numbers::at(mirrored ? below.mirrored(lower) : lower)]);
    };
    const Placement image = above.mirrored(upper);
    const bool mirrored = comes_first(image, upper);
    const int64_t block = above.number[Numbers::at(mirrored ? image : upper)];
    int64_t used = below.count[shown.count(0, ADVISOR)][shown.count(0, ELEPHANT)];
    for (Letter letter : AXES)
        for (int side : {0, 1})
            for (int i = 0; i < shown.count(side, letter); ++i) used *= letter == PAWN ? PAWN_COUNT : SQUARE_COUNT;
    const int64_t chosen = image == upper ? std::min(slot(false), slot(true)) : slot(mirrored);
    return block * padded(used) + chosen;
}

int free_men(const FenBoard& b, int colour) {
    const int* count = b.count[colour];
    return count[ROOK] + count[HORSE] + count[CANNON] + count[PAWN];
}

// Greater for the stronger side: more free men, then better ones, then more frame men.
auto strength(const FenBoard& b, int colour) {
    const int* n = b.count[colour];
    return std::tuple(free_men(b, colour), n[ROOK], n[HORSE], n[CANNON], n[PAWN], n[ADVISOR] + n[ELEPHANT], n[ADVISOR]);
}

// ---- checks ----

int men_between(const FenBoard& b, int from, int to) {
    const bool same_file = from % FILES == to % FILES;
    const int step = (same_file ? FILES : 1) * (from < to ? 1 : -1);
    int found = 0;
    for (int s = from + step; s != to; s += step) found += b.colour[s] >= 0;
    return found;
}

bool attacks(const FenBoard& b, int colour, int letter, int from, int to) {
    const int files = to % FILES - from % FILES, ranks = to / FILES - from / FILES;
    if (letter == ROOK || letter == CANNON)
        return (files == 0 || ranks == 0) && men_between(b, from, to) == (letter == CANNON);
    if (letter == HORSE) {
        if (files * files + ranks * ranks != 5) return false;
        return b.colour[from + (files * files == 4 ? files / 2 : ranks / 2 * FILES)] < 0;
    }
    const int forward = colour ? -1 : 1;
    const bool beyond = colour ? from / FILES < 5 : from / FILES > 4;
    return (files == 0 && ranks == forward) || (beyond && ranks == 0 && files * files == 1);
}

}  // namespace

size_t FenBoard::read(std::string_view fen) {
    std::fill_n(colour, 90, int8_t{-1});
    for (auto& side : count) std::fill_n(side, LETTERS_OF_FEN, 0);
    int rank = RANKS - 1, file = 0;
    size_t i = 0;
    for (; i < fen.size() && fen[i] != ' ' && fen[i] != '_'; ++i) {
        const char c = fen[i];
        if (c == '/') {
            if (file != FILES || rank == 0) return 0;
            --rank;
            file = 0;
            continue;
        }
        if (c >= '1' && c <= '9') {
            file += c - '0';
            if (file > FILES) return 0;
            continue;
        }
        const int8_t found = LETTERS[static_cast<uint8_t>(c)];
        if (found == NO_LETTER || file >= FILES) return 0;
        const int of = c >= 'a', at = FILES * rank + file++;
        if (count[of][found] == MOST[static_cast<size_t>(found)] || !may_stand(found, of ? flip(at) : at)) return 0;
        square[of][found][count[of][found]++] = static_cast<uint8_t>(at);
        colour[at] = static_cast<int8_t>(of);
    }
    return rank == 0 && file == FILES && count[0][KING] && count[1][KING] ? i : 0;
}

bool FenBoard::in_check(int of) const {
    const int king = square[of][KING][0], other = square[1 - of][KING][0], by = 1 - of;
    if (king % FILES == other % FILES && men_between(*this, king, other) == 0) return true;
    for (int kind : {ROOK, HORSE, CANNON, PAWN})
        for (int i = 0; i < count[by][kind]; ++i)
            if (attacks(*this, by, kind, square[by][kind][i], king)) return true;
    return false;
}

bool find_row(const FenBoard& b, int to_move, BoardRow& found) {
    found = {0, 0, 0};
    if (free_men(b, 0) + free_men(b, 1) > FREE_MOST) return false;
    const int strong = strength(b, 1) > strength(b, 0) ? 1 : 0;
    for (int side : {strong, 1 - strong})
        for (int kind : {ROOK, HORSE, CANNON, PAWN, ADVISOR, ELEPHANT})
            found.material = found.material << 4 | static_cast<uint64_t>(b.count[side][kind]);
    if (!found.material) return true;
    found.material |= GAME_BIT;
    found.weaker_to_move = to_move != strong;
    found.row = row_of({b, strong});
    return true;
}

}  // namespace kingpair::xiangqi
