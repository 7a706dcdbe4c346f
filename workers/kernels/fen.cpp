#include "fen.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "xiangqi_fen.hpp"

namespace kingpair {
namespace {

constexpr int8_t NO_LETTER = -1;

constexpr std::array<int8_t, 256> letters() {
    std::array<int8_t, 256> found{};
    found.fill(NO_LETTER);
    for (int i = 0; i < 6; ++i) found["QRBNPK"[i]] = found["qrbnpk"[i]] = static_cast<int8_t>(i);
    return found;
}

constexpr std::array<int8_t, 256> LETTERS = letters();
constexpr int MIRROR_FILES = 7, FLIP_RANKS = 56;
constexpr int PAIR_BITS = 6;

// By insertion: there are at most four.
template <class T>
void sort_few(T* values, int count) {
    for (int i = 1; i < count; ++i)
        for (int j = i; j > 0 && values[j] < values[j - 1]; --j) std::swap(values[j], values[j - 1]);
}

bool blank(char c) { return c == ' ' || c == '_'; }

bool is_number(char c) { return c >= '1' && c <= '8'; }

// The square that comes next in a board field.
struct Cursor {
    int rank = 7, file = 0;

    bool end_rank() {
        if (file != 8 || rank == 0) return false;
        --rank;
        file = 0;
        return true;
    }
    bool at_end() const { return rank == 0 && file == 8; }
};

bool place(FewMen& b, char c, const Cursor& at) {
    const int letter = LETTERS[static_cast<uint8_t>(c)];
    if (letter == NO_LETTER || at.file > 7) return false;
    if (letter == PAWN && (at.rank == 0 || at.rank == 7)) return false;
    return b.place(c >= 'a' ? BLACK : WHITE, letter, 8 * at.rank + at.file);
}

// Reads the board field; the number of characters read, or 0. Most ranks are empty, so a number is read together with
// the end of its rank.
size_t read_board(std::string_view fen, FewMen& b) {
    Cursor next;
    size_t i = 0;
    while (i < fen.size() && !blank(fen[i])) {
        char c = fen[i++];
        if (is_number(c)) {
            next.file += c - '0';
            if (next.file > 8) return 0;
            if (i == fen.size() || blank(fen[i])) break;
            if (is_number(fen[i])) return 0;
            if (fen[i] != '/') continue;
            c = fen[i++];
        }
        if (c == '/') {
            if (!next.end_rank()) return 0;
        } else {
            if (!place(b, c, next)) return 0;
            ++next.file;
        }
    }
    return next.at_end() && b.king[0] >= 0 && b.king[1] >= 0 ? i : 0;
}

// At most two numbers of at most four digits.
bool clocks(std::string_view text) {
    int numbers = 0, digits = 0;
    for (char c : text) {
        if (blank(c)) {
            digits = 0;
            continue;
        }
        if (c < '0' || c > '9' || ++digits > 4) return false;
        numbers += digits == 1;
    }
    return numbers <= 2;
}

// Reads what follows the turn; false if it is unusual. `target` is the square of en passant, or -1.
bool read_rest(std::string_view rest, int& target) {
    if (rest.empty()) return true;
    if (rest.size() < 4 || !blank(rest[0]) || rest[1] != '-' || !blank(rest[2])) return false;
    size_t at = 4;
    if (rest[3] != '-') {
        if (rest.size() < 5 || rest[3] < 'a' || rest[3] > 'h' || rest[4] < '1' || rest[4] > '8') return false;
        target = 8 * (rest[4] - '1') + (rest[3] - 'a');
        at = 5;
    }
    return rest.size() == at || (blank(rest[at]) && clocks(rest.substr(at + 1)));
}

// ---- the row of a position ----

uint64_t counted(const FewMen& b, int colour) {
    uint64_t counts = 0;
    for (int i = 0; i < b.count[colour]; ++i) counts += uint64_t{1} << (16 - 4 * b.men[colour][i].letter);
    return counts;  // Q R B N P
}

// More men first, then the first man that differs, in the order Q R B N P.
bool is_stronger(const FewMen& b, int colour) {
    const int other = 1 - colour;
    if (b.count[0] != b.count[1]) return b.count[colour] > b.count[other];
    return counted(b, colour) >= counted(b, other);
}

struct Men {
    StandingMan man[TABLE_MEN_MAX];
    int count = 0;
};

// The men of a side in order, as they stand on a board turned by `turn`: the bits of a square that change.
Men ordered(const FewMen& b, int colour, int turn) {
    Men men;
    men.count = b.count[colour];
    for (int i = 0; i < men.count; ++i) {
        men.man[i] = b.men[colour][i];
        men.man[i].square = static_cast<uint8_t>(men.man[i].square ^ turn);
    }
    sort_few(men.man, men.count);
    return men;
}

TableRow without_pawns(const RowIndex& index, const FewMen& b, int strong, TableRow found) {
    const int weak = 1 - strong;
    const int pair = index.turned.pair[b.king[strong]][b.king[weak]];
    const int symmetry = index.turned.symmetry[b.king[strong]][b.king[weak]];
    LikeMen like{b.count[0] + b.count[1], {}};
    AxisSquares squares{};
    int axis = 0;
    for (int colour : {weak, strong}) {
        const Men men = ordered(b, colour, 0);
        for (int i = 0; i < men.count; ++i, ++axis) {
            squares[axis] = static_cast<uint8_t>(turned(symmetry, men.man[i].square));
            like.like[axis] = i + 1 < men.count && men.man[i].letter == men.man[i + 1].letter;
        }
    }
    const size_t slot = canonical_slot(like, index.turned.diagonal[pair], squares);
    found.row = static_cast<int64_t>(static_cast<size_t>(pair) << (PAIR_BITS * like.men) | slot);
    return found;
}

// A placing of pawns: the files and the ranks of the pawns of each side in order, as digits, and the steps to go.
struct Placing {
    int64_t files = 0, ranks = 0, steps = 0;
    int pawns = 0;

    int64_t key() const { return steps << (6 * pawns) | files << (3 * pawns) | ranks; }
};

Placing placing(const FewMen& b, int strong, int turn) {
    Placing found;
    for (int colour : {strong, 1 - strong}) {
        std::array<uint8_t, TABLE_MEN_MAX> places;  // by file, then by rank
        int count = 0;
        for (int i = 0; i < b.count[colour]; ++i) {
            const int square = b.men[colour][i].square ^ turn;
            if (b.men[colour][i].letter == PAWN)
                places[count++] = static_cast<uint8_t>((square & 7) << 3 | square >> 3);
        }
        sort_few(places.data(), count);
        for (int i = 0; i < count; ++i) {
            const int rank = places[i] & 7;
            found.files = found.files << 3 | places[i] >> 3;
            found.ranks = found.ranks << 3 | rank;
            found.steps += colour == strong ? 6 - rank : rank - 1;
        }
        found.pawns += count;
    }
    return found;
}

// False if the structures are not listed.
[[gnu::noinline]] bool with_pawns(const RowIndex& index, const FewMen& b, int strong, TableRow& found) {
    const int weak = 1 - strong, flip = strong == WHITE ? 0 : FLIP_RANKS;
    const auto& keys = index.structures[found.material >> 32 & 15][found.material >> 36 & 15];
    if (keys.empty()) return false;
    int turn = flip;
    Placing kept = placing(b, strong, turn);
    const Placing image = placing(b, strong, turn ^ MIRROR_FILES);
    const bool right_half = ((b.king[strong] ^ flip) & 7) > 3;
    if (image.files < kept.files || (image.files == kept.files && right_half)) {
        turn ^= MIRROR_FILES;
        kept = image;
    }
    const auto structure = std::lower_bound(keys.begin(), keys.end(), kept.key()) - keys.begin();
    found.row = structure * PAIRS_MAX + index.fixed[b.king[strong] ^ turn][b.king[weak] ^ turn];
    for (int colour : {weak, strong}) {
        const Men men = ordered(b, colour, turn);
        for (int i = 0; i < men.count && men.man[i].letter != PAWN; ++i)
            found.row = found.row << PAIR_BITS | men.man[i].square;
    }
    return true;
}

bool find_row(const RowIndex& index, const FewMen& b, int to_move, TableRow& found) {
    const int strong = is_stronger(b, WHITE) ? WHITE : BLACK, weak = 1 - strong;
    const uint64_t ours = counted(b, strong), theirs = counted(b, weak);
    const uint64_t pawns = (theirs & 15) << 36 | (ours & 15) << 32;
    found = {pawns | (ours >> 4) << 16 | theirs >> 4, 0, static_cast<uint8_t>(to_move == weak)};
    if (pawns) return with_pawns(index, b, strong, found);
    found = without_pawns(index, b, strong, found);
    return true;
}

// ---- en passant ----

// Whether a pawn has just passed `target`.
bool was_passed(const FewMen& b, int turn, int target) {
    if (target < 0 || target >> 3 != (turn == WHITE ? 5 : 2)) return false;
    const int behind = target + forward(turn);
    const bool free = !(b.occupied >> target & 1) && !(b.occupied >> behind & 1);
    return free && b.holds(1 - turn, PAWN, target - forward(turn));
}

[[gnu::noinline]] bool read_captures(const RowIndex& index, const FewMen& b, int turn, int target, Read& read) {
    for (int side : {-1, 1}) {
        const int from = target - forward(turn) + side;
        if ((from >> 3) != (target - forward(turn)) >> 3 || !b.holds(turn, PAWN, from)) continue;
        const FewMen after = b.after_en_passant(turn, from, target);
        if (after.in_check(turn)) continue;
        if (!find_row(index, after, 1 - turn, read.after[read.captures++])) {
            read.at.material = read.after[read.captures - 1].material;
            return false;
        }
    }
    read.only_moves = read.captures && !b.can_move(turn);
    return true;
}

// Reads what follows the board; false if it is unusual.
bool read_turn_and_rest(std::string_view fen, size_t at, int& turn, int& target) {
    if (!at || at + 1 >= fen.size()) return false;
    const char letter = fen[at + 1];
    if (letter != 'w' && letter != 'b') return false;
    turn = letter == 'w' ? WHITE : BLACK;
    return read_rest(fen.substr(at + 2), target);
}

// Reads a position of Chinese chess, whose board has ten ranks.
[[gnu::noinline]] void read_xiangqi(std::string_view fen, Read& read) {
    xiangqi::FenBoard b;
    int turn = WHITE, target = -1;
    if (!read_turn_and_rest(fen, b.read(fen), turn, target) || target >= 0 || b.in_check(1 - turn)) return;
    xiangqi::BoardRow found;
    if (!xiangqi::find_row(b, turn, found)) return;
    read.at = {found.material, found.row, found.weaker_to_move};
    read.status = Reading::good;
}

}  // namespace

void read_fen(const RowIndex& index, std::string_view fen, Read& read) {
    read.status = Reading::look_closer;
    read.at = {};
    read.captures = 0;
    read.only_moves = false;
    FewMen b;
    const size_t at = read_board(fen, b);
    if (!at) return read_xiangqi(fen, read);
    int turn = WHITE, target = -1;
    if (!read_turn_and_rest(fen, at, turn, target)) return;
    if (index.fixed[b.king[0]][b.king[1]] < 0 || b.in_check(1 - turn)) return;
    read.status = Reading::unlisted;
    if (!find_row(index, b, turn, read.at)) return;
    if (was_passed(b, turn, target) && !read_captures(index, b, turn, target, read)) return;
    read.status = Reading::good;
}

}  // namespace kingpair
