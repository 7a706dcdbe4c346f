// The values of positions for Syzygy files; the header explains them.

#include "syzygy_positions.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "syzygy_lines.hpp"
#include "syzygy_strips.hpp"

namespace kingpair::syzygy {

namespace {

constexpr int MIRROR_FILES = 1, MIRROR_DIAGONAL = 4, ROWS_OF_RANKS = 56;

// A position and the men on it; a man that was taken stands nowhere.
struct Placed {
    const std::vector<uint8_t>& men;
    uint8_t squares[MEN_MAX];
    uint64_t occupied = 0;
    int king[2];

    explicit Placed(const std::vector<uint8_t>& all) : men(all), king{} {
        for (size_t i = 0; i < men.size(); ++i)
            if (piece_of(men[i]) == KING) king[colour_of(men[i])] = static_cast<int>(i);
    }

    void occupy() {
        occupied = 0;
        for (size_t i = 0; i < men.size(); ++i) occupied |= uint64_t{1} << squares[i];
    }

    bool attacks(size_t man, int to) const {
        const int from = squares[man];
        if (piece_of(men[man]) == PAWN) {
            const int rank = colour_of(men[man]) ? -1 : 1;
            return (to >> 3) - (from >> 3) == rank && std::abs((to & 7) - (from & 7)) == 1;
        }
        return lines().seen[from][to] >> piece_of(men[man]) & 1 && !(lines().between[from][to] & occupied);
    }

    // Whether a man of this colour attacks the square; `but` is not on the board.
    bool attacked(int to, int by, int but = -1) const {
        for (size_t i = 0; i < men.size(); ++i)
            if (colour_of(men[i]) == by && static_cast<int>(i) != but && attacks(i, to)) return true;
        return false;
    }

    bool in_check(int colour, int but = -1) const { return attacked(squares[king[colour]], 1 - colour, but); }
};

class Reader {
  public:
    Reader(const PositionSource& source, int to_move) : source_(source), mover_(to_move), at_(source.men) {}

    // Either place may be null.
    void read(uint64_t number, uint16_t* result, uint16_t* distance) {
        squares_of(source_.groups, source_.file, number, at_.squares);
        at_.occupy();
        if (at_.in_check(1 - mover_)) {  // kings that touch, too
            if (result) *result = FREE + WIN;
            if (distance) *distance = ANY_DISTANCE;
            return;
        }
        const uint64_t row = source_.own->row(at_.squares);
        const int value = source_.own->result_at(mover_, row);
        const bool by_capture = captures_reach(value);
        if (result) *result = static_cast<uint16_t>(by_capture && value > LOSS ? FREE + value : value);
        if (!distance) return;
        const bool settled = value == DRAW || (value > DRAW && (by_capture || pushes_reach(value)));
        *distance = settled ? ANY_DISTANCE : distance_of(value, source_.plies_at(mover_, row));
    }

  private:
    bool captures_reach(int value) {
        for (size_t captive = 0; captive < at_.men.size(); ++captive) {
            if (colour_of(at_.men[captive]) == mover_ || piece_of(at_.men[captive]) == KING) continue;
            for (size_t man = 0; man < at_.men.size(); ++man)
                if (colour_of(at_.men[man]) == mover_ && at_.attacks(man, at_.squares[captive]) &&
                    capture_reaches(man, captive, value))
                    return true;
        }
        return false;
    }

    bool capture_reaches(size_t man, size_t captive, int value) {
        const int to = at_.squares[captive];
        if (piece_of(at_.men[man]) == PAWN && is_last_rank(to))
            return moved_reaches(man, to, static_cast<int>(captive), source_.taken_promoted[man][captive], value);
        return moved_reaches(man, to, static_cast<int>(captive), {&source_.taken[captive], 1}, value);
    }

    // Whether a move to a square leads to a position that has the value in one of the tables.
    bool moved_reaches(size_t man, int to, int captive, std::span<const Lookup* const> tables, int value) {
        const uint8_t from = at_.squares[man];
        const uint64_t occupied = at_.occupied;
        at_.occupied = (occupied & ~(uint64_t{1} << from)) | uint64_t{1} << to;
        at_.squares[man] = static_cast<uint8_t>(to);
        bool reaches = false;
        if (!at_.in_check(mover_, captive))
            for (const Lookup* table : tables)
                reaches = reaches || WIN - table->result(at_.squares, 1 - mover_) == value;
        at_.squares[man] = from;
        at_.occupied = occupied;
        return reaches;
    }

    bool pushes_reach(int value) {
        for (size_t man = 0; man < at_.men.size(); ++man)
            if (colour_of(at_.men[man]) == mover_ && piece_of(at_.men[man]) == PAWN && push_reaches(man, value))
                return true;
        return false;
    }

    bool push_reaches(size_t man, int value) {
        const int forward = mover_ ? -8 : 8, from = at_.squares[man], to = from + forward;
        if (at_.occupied >> to & 1) return false;
        if (is_last_rank(to)) return moved_reaches(man, to, -1, source_.promoted[man], value);
        if (moved_reaches(man, to, -1, {&source_.own, 1}, value)) return true;
        const int home = mover_ ? 6 : 1, further = to + forward;
        if (from >> 3 != home || at_.occupied >> further & 1) return false;
        // The right to capture en passant may save the other side: then the file says the distance.
        return !enemy_pawn_beside(further) && moved_reaches(man, further, -1, {&source_.own, 1}, value);
    }

    bool enemy_pawn_beside(int square) const {
        for (size_t i = 0; i < at_.men.size(); ++i)
            if (piece_of(at_.men[i]) == PAWN && colour_of(at_.men[i]) != mover_ && at_.squares[i] >> 3 == square >> 3 &&
                std::abs(at_.squares[i] - square) == 1)
                return true;
        return false;
    }

    static bool is_last_rank(int square) { return square >> 3 == 0 || square >> 3 == 7; }

    const PositionSource& source_;
    int mover_;
    Placed at_;
};

uint8_t result_of(int v) {
    return static_cast<uint8_t>(v > 0 ? WIN - (v > CLAIM) : v < 0 ? LOSS + (v < -CLAIM - 1) : DRAW);
}

template <class Result>
Meaning meaning_of(Result result) {
    Meaning found;
    for (size_t byte = 0; byte < found.size(); ++byte) found[byte] = result(static_cast<uint8_t>(byte));
    return found;
}

}  // namespace

const Meaning RESULTS_THEMSELVES = meaning_of([](uint8_t byte) { return byte; });
const Meaning RESULTS_OF_PLIES = meaning_of([](uint8_t byte) { return result_of(static_cast<int8_t>(byte)); });

uint32_t TableRows::structure_of(const uint8_t* squares) const {
    uint64_t placed = 0;
    for (int i = 0; i < pawns; ++i) placed = placed << 6 | squares[2 + i];
    return static_cast<uint32_t>(structure[placed]);
}

TableRows::View TableRows::view(const uint8_t* squares) const {
    if (!structure) {
        const int kings = squares[0] * 64 + squares[1];
        const uint8_t* board = turned + 64 * symmetry[kings];
        const bool folded = board[squares[0]] % 9 == 0 && board[squares[1]] % 9 == 0;
        return {board, static_cast<uint64_t>(pair[kings]), folded};
    }
    const uint32_t found = structure_of(squares);
    uint64_t number = found >> 1;
    bool mirrored = found & 1;
    const bool right = ((squares[0] & 7) > 3) != mirrored;
    if (own_mirror[number] && right) {
        number = static_cast<uint64_t>(mirror[number]);
        mirrored = !mirrored;
    }
    const uint8_t* board = turned + 64 * (mirrored ? MIRROR_FILES : 0);
    const auto kings = static_cast<uint64_t>(pair[board[squares[0]] * 64 + board[squares[1]]]);
    return {board, number * static_cast<uint64_t>(pairs) + kings, false};
}

uint64_t TableRows::row(const uint8_t* squares) const { return row(squares, view(squares)); }

uint64_t TableRows::row(const uint8_t* squares, const View& found) const {
    uint8_t shown[MEN_MAX];
    for (int i = 0; i < axes; ++i) shown[i] = found.board[squares[2 + pawns + i]];
    const auto placing = [&] {
        uint64_t sum = 0;
        for (int i = 0; i < axes; ++i)
            for (int j = i; j > 0 && like[j] && shown[j] < shown[j - 1]; --j) std::swap(shown[j], shown[j - 1]);
        for (int i = 0; i < axes; ++i) sum = sum << 6 | shown[i];
        return sum;
    };
    uint64_t slot = placing();
    if (found.folded) {
        // A position and its mirror image are one: the smaller row counts.
        for (int i = 0; i < axes; ++i) shown[i] = turned[64 * MIRROR_DIAGONAL + shown[i]];
        slot = std::min(slot, placing());
    }
    return found.run << 6 * axes | slot;
}

void Lookup::rows_of(uint8_t* squares, size_t man, uint64_t lanes, uint64_t (&out)[64]) const {
    const auto slot = std::find(order.begin(), order.end(), man) - order.begin();
    const int axis = static_cast<int>(slot) - 2 - rows.pawns;
    const auto is_like = [&](int i) { return i > 0 && i < rows.axes && rows.like[i]; };
    uint8_t placed[MEN_MAX];
    squares[man] = static_cast<uint8_t>(__builtin_ctzll(lanes));
    for (size_t i = 0; i < order.size(); ++i) placed[i] = squares[order[i]] ^ (swapped ? ROWS_OF_RANKS : 0);
    if (axis >= 0 && !is_like(axis) && !is_like(axis + 1)) {
        const TableRows::View found = rows.view(placed);
        if (!found.folded) {
            const int shift = 6 * (rows.axes - 1 - axis);
            const uint64_t base = rows.row(placed, found) - (uint64_t{found.board[placed[slot]]} << shift);
            for (uint64_t rest = lanes; rest; rest &= rest - 1) {
                const int lane = __builtin_ctzll(rest);
                out[lane] = base + (uint64_t{found.board[lane ^ (swapped ? ROWS_OF_RANKS : 0)]} << shift);
            }
            return;
        }
    }
    const bool is_king = slot < 2 && rows.structure && !rows.is_own_mirror(placed);
    const uint8_t* const board = is_king ? rows.view(placed).board : nullptr;
    uint64_t base = 0;
    const auto pair_of = [&] { return rows.pair[board[placed[0]] * 64 + board[placed[1]]]; };
    if (is_king) base = rows.row(placed) - (static_cast<uint64_t>(pair_of()) << 6 * rows.axes);
    for (uint64_t rest = lanes; rest; rest &= rest - 1) {
        const int lane = __builtin_ctzll(rest);
        placed[slot] = static_cast<uint8_t>(lane ^ (swapped ? ROWS_OF_RANKS : 0));
        out[lane] = is_king ? base + (static_cast<uint64_t>(pair_of()) << 6 * rows.axes) : rows.row(placed);
    }
}

uint64_t Lookup::row(const uint8_t* squares) const {
    uint8_t placed[MEN_MAX];
    for (size_t i = 0; i < order.size(); ++i) placed[i] = squares[order[i]] ^ (swapped ? ROWS_OF_RANKS : 0);
    return rows.row(placed);
}

int Lookup::result(const uint8_t* squares, int to_move) const {
    const int side = to_move ^ static_cast<int>(swapped);
    return results[side] ? result_at(side, row(squares)) : DRAW;
}

void find_results(std::span<const int16_t> plies, std::span<uint8_t> results) {
    for (size_t i = 0; i < plies.size(); ++i) results[i] = result_of(plies[i]);
}

void read_positions(const PositionSource& source, int to_move, uint64_t first, std::span<uint16_t> results,
                    std::span<uint16_t> distances) {
    Reader reader(source, to_move);
    StripReader strips(source, to_move);
    const size_t count = std::max(results.size(), distances.size()), stride = strips.stride();
    for (size_t begin = 0; begin < std::min(stride, count); ++begin)
        for (size_t i = begin; i < count;) {
            uint16_t* const result = results.empty() ? nullptr : &results[i];
            uint16_t* const distance = distances.empty() ? nullptr : &distances[i];
            const size_t read = strips.read(first + i, (count - i - 1) / stride + 1, result, distance);
            if (!read) reader.read(first + i, result, distance);
            i += stride * std::max<size_t>(read, 1);
        }
}

}  // namespace kingpair::syzygy
