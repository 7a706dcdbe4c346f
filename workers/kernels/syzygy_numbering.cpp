// The numbers of positions in Syzygy files; the header explains them.

#include "syzygy_numbering.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "syzygy_leading_pawns.hpp"
#include "syzygy_squares.hpp"

namespace kingpair::syzygy {

namespace {

constexpr uint64_t THREE_PLACINGS = 31332, KING_PLACINGS = 462;

bool on_diagonal(int square) { return file_of(square) == rank_of(square); }
bool above_diagonal(int square) { return rank_of(square) > file_of(square); }
int transposed(int square) { return file_of(square) << 3 | rank_of(square); }

bool touch(int a, int b) { return std::abs(file_of(a) - file_of(b)) <= 1 && std::abs(rank_of(a) - rank_of(b)) <= 1; }

int ascending(int square) { return square; }

// The place of a square: below the diagonal in rows, within the triangle a1-d1-d4 likewise, and on the diagonal.
struct Board {
    std::array<int8_t, 64> below{}, triangle{};
    std::array<uint8_t, 28> below_square{};
    std::array<uint8_t, 6> triangle_square{};

    Board() {
        int below_count = 0, triangle_count = 0;
        for (int square = 0; square < 64; ++square) {
            if (on_diagonal(square) || above_diagonal(square)) continue;
            below[square] = static_cast<int8_t>(below_count);
            below_square[below_count++] = static_cast<uint8_t>(square);
            if (file_of(square) > 3) continue;
            triangle[square] = static_cast<int8_t>(triangle_count);
            triangle_square[triangle_count++] = static_cast<uint8_t>(square);
        }
    }
};

const Board BOARD;

struct Binomials {
    uint64_t of[65][MEN_MAX + 1] = {};

    Binomials() {
        for (int n = 0; n <= 64; ++n) {
            of[n][0] = 1;
            for (int k = 1; k <= MEN_MAX && n > 0; ++k) of[n][k] = of[n - 1][k - 1] + of[n - 1][k];
        }
    }
};

const Binomials BINOMIALS;

// ---- leading pieces ----

// Turns the board so that the first man is in the triangle a1-d1-d4, and the first of `leading` men off the diagonal is
// below it.
void turn_pieces(uint8_t* squares, int leading, int men) {
    const int flip = (squares[0] & 4 ? 7 : 0) ^ (squares[0] & 32 ? 56 : 0);
    for (int i = 0; i < men; ++i) squares[i] ^= static_cast<uint8_t>(flip);
    const uint8_t* off = std::find_if_not(squares, squares + leading, on_diagonal);
    if (off == squares + leading || !above_diagonal(*off)) return;
    for (int i = 0; i < men; ++i) squares[i] = static_cast<uint8_t>(transposed(squares[i]));
}

uint64_t number_of_three(const uint8_t* s) {
    const uint64_t second = s[1] - (s[1] > s[0]), third = s[2] - (s[2] > s[0]) - (s[2] > s[1]);
    if (!on_diagonal(s[0])) return BOARD.triangle[s[0]] * uint64_t{63 * 62} + second * 62 + third;
    uint64_t before = 6 * 63 * 62;
    if (!on_diagonal(s[1])) return before + (rank_of(s[0]) * 28 + BOARD.below[s[1]]) * uint64_t{62} + third;
    const uint64_t on_second = rank_of(s[1]) - (s[1] > s[0]);
    before += 4 * 28 * 62;
    if (!on_diagonal(s[2])) return before + (rank_of(s[0]) * 7 + on_second) * 28 + BOARD.below[s[2]];
    const uint64_t on_third = rank_of(s[2]) - (s[2] > s[0]) - (s[2] > s[1]);
    return before + 4 * 7 * 28 + (rank_of(s[0]) * 7 + on_second) * 6 + on_third;
}

struct Threes {
    std::vector<std::array<uint8_t, 3>> squares;

    Threes() : squares(THREE_PLACINGS) {
        for (int first = 0; first < 28; ++first)
            for (int second = 0; second < 64; ++second)
                for (int third = 0; third < 64; ++third) {
                    if (first == second || first == third || second == third) continue;
                    const std::array<uint8_t, 3> placed{static_cast<uint8_t>(first), static_cast<uint8_t>(second),
                                                        static_cast<uint8_t>(third)};
                    auto turned = placed;
                    turn_pieces(turned.data(), 3, 3);
                    if (turned == placed) squares[number_of_three(placed.data())] = placed;
                }
    }
};

const Threes& threes() {
    static const Threes tables;
    return tables;
}

// Kings: the first in the triangle, off the diagonal before on it. With the first on the diagonal the second is not
// above it, and those with both on it come last.
struct KingTables {
    std::array<std::array<int16_t, 64>, 64> number;
    std::vector<std::array<uint8_t, 2>> squares;

    KingTables() {
        for (auto& row : number) row.fill(-1);
        for (int first : BOARD.triangle_square) add(first, false);
        for (int first = 0; first < 28; first += 9) add(first, false);
        for (int first = 0; first < 28; first += 9) add(first, true);
    }

  private:
    void add(int first, bool both_on_diagonal) {
        for (int second = 0; second < 64; ++second) {
            if (touch(first, second) || (on_diagonal(first) && above_diagonal(second))) continue;
            if ((on_diagonal(first) && on_diagonal(second)) != both_on_diagonal) continue;
            number[first][second] = static_cast<int16_t>(squares.size());
            squares.push_back({static_cast<uint8_t>(first), static_cast<uint8_t>(second)});
        }
    }
};

const KingTables& king_tables() {
    static const KingTables tables;
    return tables;
}

// ---- like men ----

void place_set(uint64_t digit, const Group& group, uint8_t* squares) {
    const int skip = group.kind == GroupKind::OTHER_PAWNS ? FIRST_PAWN_SQUARE : 0;
    uint8_t taken[MEN_MAX];
    std::copy(squares, squares + group.first, taken);
    sort_by(taken, group.first, ascending);
    if (group.men == 1) {
        int place = static_cast<int>(digit) + skip;
        for (int j = 0; j < group.first; ++j) place += taken[j] <= place;
        squares[group.first] = static_cast<uint8_t>(place);
        return;
    }
    for (int i = group.men - 1; i >= 0; --i) {
        int place = i;
        while (choose(place + 1, i + 1) <= digit) ++place;
        digit -= choose(place, i + 1);
        place += skip;
        for (int j = 0; j < group.first; ++j) place += taken[j] <= place;
        squares[group.first + i] = static_cast<uint8_t>(place);
    }
}

}  // namespace

uint64_t choose(int n, int k) { return n < 0 ? 0 : BINOMIALS.of[n][k]; }

uint64_t digit_of_set(uint8_t* squares, const Group& group) {
    const int skip = group.kind == GroupKind::OTHER_PAWNS ? FIRST_PAWN_SQUARE : 0;
    uint8_t* begin = squares + group.first;
    sort_by(begin, group.men, ascending);
    uint64_t sum = 0;
    for (int i = 0; i < group.men; ++i) {
        const int square = begin[i];
        const auto less = std::count_if(squares, begin, [&](int other) { return other < square; });
        sum += choose(square - static_cast<int>(less) - skip, i + 1);
    }
    return sum;
}

uint64_t placings(GroupKind kind, int men, int before, int file) {
    switch (kind) {
        case GroupKind::THREE: return THREE_PLACINGS;
        case GroupKind::KINGS: return KING_PLACINGS;
        case GroupKind::PAWNS: return placings_of_pawns(men, file);
        case GroupKind::OTHER_PAWNS: return choose(PAWN_SQUARES - before, men);
        case GroupKind::LIKE: return choose(64 - before, men);
    }
    return 0;
}

uint64_t number_of(const std::vector<Group>& groups, int men, uint8_t* squares) {
    uint64_t number = 0;
    for (const Group& group : groups) {
        switch (group.kind) {
            case GroupKind::THREE:
                turn_pieces(squares, 3, men);
                number += number_of_three(squares) * group.factor;
                break;
            case GroupKind::KINGS: {
                turn_pieces(squares, 2, men);
                const int kings = king_tables().number[squares[0]][squares[1]];
                if (kings < 0) return NOWHERE;
                number += static_cast<uint64_t>(kings) * group.factor;
                break;
            }
            case GroupKind::PAWNS:
                arrange_pawns(squares, group.men, men);
                number += number_of_pawns(squares, group.men) * group.factor;
                break;
            default: number += digit_of_set(squares, group) * group.factor;
        }
    }
    return number;
}

void digits_of(const std::vector<Group>& groups, int file, uint64_t number, uint64_t* digits) {
    for (const Group& group : groups)
        *digits++ = number / group.factor % placings(group.kind, group.men, group.first, file);
}

void place_digits(const std::vector<Group>& groups, int file, const uint64_t* digits, uint8_t* squares, size_t from) {
    for (size_t i = from; i < groups.size(); ++i) {
        const Group& group = groups[i];
        const uint64_t digit = digits[i];
        switch (group.kind) {
            case GroupKind::THREE: std::copy_n(threes().squares[digit].data(), 3, squares); break;
            case GroupKind::KINGS: std::copy_n(king_tables().squares[digit].data(), 2, squares); break;
            case GroupKind::PAWNS: place_pawns(digit, file, group.men, squares); break;
            default: place_set(digit, group, squares);
        }
    }
}

void squares_of(const std::vector<Group>& groups, int file, uint64_t number, uint8_t* squares) {
    uint64_t digits[MEN_MAX];
    digits_of(groups, file, number, digits);
    place_digits(groups, file, digits, squares);
}

}  // namespace kingpair::syzygy
