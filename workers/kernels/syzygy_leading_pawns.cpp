// The numbers of leading pawns in Syzygy files; the header explains them.

#include "syzygy_leading_pawns.hpp"

#include <algorithm>
#include <array>

#include "syzygy_numbering.hpp"
#include "syzygy_squares.hpp"

namespace kingpair::syzygy {

namespace {

// The place of a square in the order in which pawns lead.
int leading_rank(int square) {
    const int file = std::min(file_of(square), 7 - file_of(square));
    return 6 * file + rank_of(square) - 1;
}

// The squares that a pawn can stand on beside a leader, counted down from a2, h2, a3, h3, ..., so that those behind
// the leader in that order have smaller numbers than the leader.
int twisted(int square) {
    const bool right = file_of(square) > 3;
    const int file = right ? 7 - file_of(square) : file_of(square);
    return PAWN_SQUARES - 1 - 12 * file - 2 * (rank_of(square) - 1) - right;
}

struct PawnTables {
    std::array<uint8_t, PAWN_SQUARES> untwisted{};
    // By the number of pawns and the leader's rank: where the numbers with this leader begin, for its file.
    uint64_t begin[MEN_MAX][24] = {};
    uint64_t total[MEN_MAX][4] = {};

    PawnTables() {
        for (int square = FIRST_PAWN_SQUARE; square < 64 - 8; ++square)
            untwisted[twisted(square)] = static_cast<uint8_t>(square);
        for (int others = 0; others < MEN_MAX; ++others)
            for (int leader = 0; leader < 24; ++leader) {
                uint64_t& sum = total[others][leader / 6];
                begin[others][leader] = sum;
                sum += choose(twisted(leader_square(leader)), others);
            }
    }

    static int leader_square(int leader) { return (leader % 6 + 1) * 8 + leader / 6; }
};

const PawnTables& pawn_tables() {
    static const PawnTables tables;
    return tables;
}

}  // namespace

uint64_t placings_of_pawns(int pawns, int file) { return pawn_tables().total[pawns - 1][file]; }

int leading_file(const uint8_t* pawns, int count) {
    const auto leads = [](int a, int b) { return leading_rank(a) < leading_rank(b); };
    return leading_rank(*std::min_element(pawns, pawns + count, leads)) / 6;
}

// The others come in falling order of their twisted squares.
void arrange_pawns(uint8_t* squares, int pawns, int men) {
    const auto leads = [](int a, int b) { return leading_rank(a) < leading_rank(b); };
    std::iter_swap(squares, std::min_element(squares, squares + pawns, leads));
    if (file_of(squares[0]) > 3)
        for (int i = 0; i < men; ++i) squares[i] ^= 7;
    sort_by(squares + 1, pawns - 1, [](int square) { return -twisted(square); });
}

uint64_t number_of_pawns(const uint8_t* squares, int pawns) {
    uint64_t sum = pawn_tables().begin[pawns - 1][leading_rank(squares[0])];
    for (int i = 1; i < pawns; ++i) sum += choose(twisted(squares[i]), pawns - i);
    return sum;
}

void place_pawns(uint64_t number, int file, int pawns, uint8_t* squares) {
    const PawnTables& tables = pawn_tables();
    int leader = 6 * file;
    while (leader % 6 < 5 && tables.begin[pawns - 1][leader + 1] <= number) ++leader;
    number -= tables.begin[pawns - 1][leader];
    squares[0] = static_cast<uint8_t>(PawnTables::leader_square(leader));
    for (int i = 1; i < pawns; ++i) {
        int place = pawns - i - 1;
        while (choose(place + 1, pawns - i) <= number) ++place;
        number -= choose(place, pawns - i);
        squares[i] = tables.untwisted[place];
    }
}

}  // namespace kingpair::syzygy
