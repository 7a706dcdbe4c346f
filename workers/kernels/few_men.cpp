#include "few_men.hpp"

#include <algorithm>

namespace kingpair {
namespace {

constexpr uint64_t bit(int square) { return uint64_t{1} << square; }
constexpr int file_of(int square) { return square & 7; }
constexpr int rank_of(int square) { return square >> 3; }

bool line_is_free(uint64_t occupied, int from, int to, int df, int dr) {
    for (int s = from + 8 * dr + df; s != to; s += 8 * dr + df)
        if (occupied & bit(s)) return false;
    return true;
}

constexpr int KNIGHT = static_cast<int>(Kind::knight), ROOK = static_cast<int>(Kind::rook);
constexpr int BISHOP = static_cast<int>(Kind::bishop);

bool attacks(int colour, int letter, int from, int to, uint64_t occupied) {
    const int df = file_of(to) - file_of(from), dr = rank_of(to) - rank_of(from);
    if (letter == KNIGHT) return df * df + dr * dr == 5;
    if (letter == PAWN) return df * df == 1 && 8 * dr == forward(colour);
    if (letter == KING) return df * df <= 1 && dr * dr <= 1;
    const bool straight = df == 0 || dr == 0, diagonal = df == dr || df == -dr;
    if (!(straight && letter != BISHOP) && !(diagonal && letter != ROOK)) return false;
    const auto sign = [](int x) { return (x > 0) - (x < 0); };
    return line_is_free(occupied, from, to, sign(df), sign(dr));
}

constexpr int THE_KING = -1;  // in the place of a man's number

}  // namespace

bool FewMen::place(int colour, int letter, int square) {
    occupied |= bit(square);
    if (letter == KING) {
        if (king[colour] >= 0) return false;
        king[colour] = square;
        return true;
    }
    if (count[0] + count[1] == TABLE_MEN_MAX) return false;
    men[colour][count[colour]++] = {static_cast<uint8_t>(letter), static_cast<uint8_t>(square)};
    return true;
}

bool FewMen::holds(int colour, int letter, int square) const {
    const StandingMan wanted{static_cast<uint8_t>(letter), static_cast<uint8_t>(square)};
    return std::find(men[colour], men[colour] + count[colour], wanted) != men[colour] + count[colour];
}

bool FewMen::in_check(int colour) const {
    const int by = 1 - colour;
    for (int i = 0; i < count[by]; ++i)
        if (attacks(by, men[by][i].letter, men[by][i].square, king[colour], occupied)) return true;
    return false;
}

bool FewMen::kings_touch() const { return attacks(WHITE, KING, king[WHITE], king[BLACK], occupied); }

void FewMen::remove(int colour, int square) {
    auto* const end = men[colour] + count[colour];
    auto* const found = std::find_if(men[colour], end, [&](StandingMan man) { return man.square == square; });
    if (found == end) return;
    std::copy(found + 1, end, found);
    --count[colour];
    occupied &= ~bit(square);
}

void FewMen::move(int colour, int man, int to) {
    const int from = man == THE_KING ? king[colour] : men[colour][man].square;
    remove(1 - colour, to);
    occupied = (occupied & ~bit(from)) | bit(to);
    if (man == THE_KING) king[colour] = to;
    else men[colour][man].square = static_cast<uint8_t>(to);
}

FewMen FewMen::after_en_passant(int colour, int from, int target) const {
    FewMen after = *this;
    after.remove(1 - colour, target - forward(colour));
    const auto* const found =
        std::find_if(men[colour], men[colour] + count[colour], [&](StandingMan man) { return man.square == from; });
    after.move(colour, static_cast<int>(found - men[colour]), target);
    return after;
}

bool FewMen::is_legal(int colour, int man, int to) const {
    if (to == king[0] || to == king[1]) return false;
    const auto own = [&](StandingMan each) { return each.square == to; };
    if (std::any_of(men[colour], men[colour] + count[colour], own)) return false;
    FewMen after = *this;
    after.move(colour, man, to);
    return !after.kings_touch() && !after.in_check(colour);
}

bool FewMen::pawn_can_move(int colour, int man) const {
    const int from = men[colour][man].square, step = from + forward(colour);
    for (int side : {-1, 1}) {
        const int to = step + side;
        const bool on_board = side < 0 ? file_of(from) > 0 : file_of(from) < 7;
        if (on_board && (occupied & bit(to)) && is_legal(colour, man, to)) return true;
    }
    if (occupied & bit(step)) return false;
    if (is_legal(colour, man, step)) return true;
    const int twice = step + forward(colour);
    return rank_of(from) == (colour == WHITE ? 1 : 6) && !(occupied & bit(twice)) && is_legal(colour, man, twice);
}

bool FewMen::man_can_move(int colour, int man) const {
    const int letter = man == THE_KING ? KING : men[colour][man].letter;
    if (letter == PAWN) return pawn_can_move(colour, man);
    const int from = man == THE_KING ? king[colour] : men[colour][man].square;
    for (int to = 0; to < 64; ++to)
        if (to != from && attacks(colour, letter, from, to, occupied) && is_legal(colour, man, to)) return true;
    return false;
}

bool FewMen::can_move(int colour) const {
    for (int man = THE_KING; man < count[colour]; ++man)
        if (man_can_move(colour, man)) return true;
    return false;
}

}  // namespace kingpair
