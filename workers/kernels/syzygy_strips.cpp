// Reads strips of positions; the header explains them.

#include "syzygy_strips.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace kingpair::syzygy {

namespace {

constexpr int PROMOTED = 4;  // tables of a promotion

uint64_t from_lane(int square) { return ~uint64_t{0} << square; }

template <class Then>
void each(uint64_t lanes, Then then) {
    for (; lanes; lanes &= lanes - 1) then(__builtin_ctzll(lanes));
}

}  // namespace

StripReader::StripReader(const PositionSource& source, int to_move)
    : source_(source),
      mover_(to_move),
      inner_(nullptr),
      inner_placings_(0),
      values_{},
      reached_{},
      rows_{},
      results_{},
      distances_{} {
    for (const Group& group : source.groups)
        if (group.kind != GroupKind::PAWNS && group.kind != GroupKind::OTHER_PAWNS)
            if (!inner_ || group.factor < inner_->factor) inner_ = &group;
    inner_placings_ = placings(inner_->kind, inner_->men, inner_->first, source.file);
    for (size_t i = 0; i < source.men.size(); ++i)
        if (piece_of(source.men[i]) == KING) king_[colour_of(source.men[i])] = i;
}

// Finds the digits of a number, and returns the first group whose men stand elsewhere than before. Most strips differ
// from the one before in the inner digit alone.
size_t StripReader::find_digits(uint64_t number) {
    const auto at = static_cast<size_t>(inner_ - source_.groups.data());
    uint64_t& inner = digits_[at];
    const uint64_t more = (number - number_) / inner_->factor;
    const bool is_first = number_ == NOWHERE;
    const bool is_near = number > number_ && number - number_ == more * inner_->factor;
    number_ = number;
    if (is_near && more < inner_placings_ - inner) {
        inner += more;
        return at;
    }
    uint64_t before[MEN_MAX];
    std::copy(std::begin(digits_), std::end(digits_), before);
    digits_of(source_.groups, source_.file, number, digits_);
    size_t same = 0;
    while (!is_first && same < at && digits_[same] == before[same]) ++same;
    return same;
}

// The lanes of the strip that begins with a number, 0 if there is none.
uint64_t StripReader::find_strip(uint64_t number, size_t most) {
    uint8_t* const squares = placed_.squares;
    const GroupKind kind = inner_->kind;
    const size_t changed = find_digits(number);
    place_digits(source_.groups, source_.file, digits_, squares, changed);
    const size_t man = inner_->first + (kind == GroupKind::THREE ? 2 : kind == GroupKind::KINGS ? 1 : 0);
    if (kind != GroupKind::LIKE && squares[0] % 9 == 0) return 0;
    placed_.moving = man;
    placed_.on_board = (1U << source_.men.size()) - 1;
    placed_.occupied = 0;
    // The man goes up until it meets one that stands where numbers count without it.
    const int begin = squares[man];
    uint64_t lanes = from_lane(begin);
    for (size_t i = 0; i < source_.men.size(); ++i) {
        if (i == man) continue;
        placed_.occupied |= bit(squares[i]);
        if (i < man) lanes &= ~bit(squares[i]);
        else if (squares[i] > begin) lanes &= ~from_lane(squares[i]);
    }
    if (kind == GroupKind::KINGS) lanes &= ~lines().reach[KING][squares[0]];
    while (static_cast<size_t>(__builtin_popcountll(lanes)) > most) lanes &= ~bit(63 - __builtin_clzll(lanes));
    return lanes;
}

// The lanes in which a man attacks a square; `to` is that of no man, if it is in the lanes' place.
uint64_t StripReader::attacks(const Placed& p, size_t man, int to) const {
    const uint8_t kind = source_.men[man];
    const int piece = piece_of(kind);
    if (man == p.moving) return lines().reach_of(piece, to, p.occupied);
    const int from = p.squares[man];
    if (piece == PAWN) return pawn_attacks(colour_of(kind), from) >> to & 1 ? ~uint64_t{0} : 0;
    if (!(lines().seen[from][to] >> piece & 1)) return 0;
    const uint64_t between = lines().between[from][to];
    return between & p.occupied ? 0 : ~between;
}

// The lanes in which a side's king is attacked.
uint64_t StripReader::in_check(const Placed& p, int colour) const {
    const size_t king = king_[colour];
    uint64_t found = 0;
    for (size_t i = 0; i < source_.men.size(); ++i) {
        const uint8_t kind = source_.men[i];
        if (colour_of(kind) == colour || !(p.on_board >> i & 1)) continue;
        if (king != p.moving) found |= attacks(p, i, p.squares[king]);
        else if (piece_of(kind) == PAWN) found |= pawn_attacks(1 - colour, p.squares[i]);
        else found |= lines().reach_of(piece_of(kind), p.squares[i], p.occupied);
    }
    return found;
}

size_t StripReader::read(uint64_t number, size_t most, uint16_t* results, uint16_t* distances) {
    const uint64_t lanes = find_strip(number, most);
    if (!lanes) return 0;
    read_lanes(lanes, results, distances);
    size_t at = 0;
    each(lanes, [&](int lane) {
        if (results) results[at * stride()] = results_[lane];
        if (distances) distances[at * stride()] = distances_[lane];
        ++at;
    });
    return at;
}

void StripReader::place(const uint8_t* squares, size_t man) {
    placed_.moving = man;
    placed_.on_board = (1U << source_.men.size()) - 1;
    placed_.occupied = 0;
    for (size_t i = 0; i < source_.men.size(); ++i) {
        placed_.squares[i] = squares[i];
        if (i != man) placed_.occupied |= bit(squares[i]);
    }
}

void StripReader::read_lanes(uint64_t lanes, bool wants_results, bool wants_distances) {
    const uint64_t legal = lanes & ~in_check(placed_, 1 - mover_);
    uint64_t open = 0, won = 0;  // where a capture matters, and where a move that zeroes the clock does
    if (legal) source_.own->rows_of(placed_.squares, placed_.moving, legal, rows_);
    const uint8_t* const own = source_.own->results[mover_];
    const Meaning& meaning = *source_.own->meaning;
    each(legal, [&](int lane) { values_[lane] = meaning[own[rows_[lane]]]; });
    each(legal, [&](int lane) {
        open |= uint64_t{values_[lane] > LOSS} << lane;
        won |= uint64_t{values_[lane] > DRAW} << lane;
    });
    std::fill(std::begin(reached_), std::end(reached_), uint8_t{0});
    if (!wants_results) open = won;
    find_captures(open);
    const uint64_t captured = reached_lanes(open);
    if (wants_results)
        each(lanes, [&](int lane) {
            const int value = legal >> lane & 1 ? values_[lane] + (captured >> lane & 1) * FREE : WIN + FREE;
            results_[lane] = static_cast<uint16_t>(value);
        });
    if (!wants_distances) return;
    find_pushes(won & ~captured);
    const uint64_t settled = reached_lanes(won);
    each(lanes, [&](int lane) {
        const bool is_needed = (legal & ~settled) >> lane & 1 && values_[lane] != DRAW;
        distances_[lane] = is_needed ? distance_of(values_[lane], source_.plies_at(mover_, rows_[lane])) : ANY_DISTANCE;
    });
}

// The lanes in which a move reaches the value of the position.
uint64_t StripReader::reached_lanes(uint64_t lanes) const {
    uint64_t found = 0;
    each(lanes, [&](int lane) { found |= uint64_t{reached_[lane] >> values_[lane] & 1U} << lane; });
    return found;
}

void StripReader::find_captures(uint64_t lanes) {
    for (size_t captive = 0; captive < source_.men.size() && lanes; ++captive) {
        const uint8_t taken = source_.men[captive];
        if (colour_of(taken) == mover_ || piece_of(taken) == KING) continue;
        for (size_t man = 0; man < source_.men.size(); ++man) {
            const uint8_t kind = source_.men[man];
            if (colour_of(kind) != mover_) continue;
            uint64_t can = 0;
            if (captive != placed_.moving) can = attacks(placed_, man, placed_.squares[captive]);
            else if (piece_of(kind) == PAWN) can = pawn_attacks(mover_, placed_.squares[man]);
            else can = lines().reach_of(piece_of(kind), placed_.squares[man], placed_.occupied);
            if (can & lanes) capture(man, captive, can & lanes);
        }
    }
}

void StripReader::capture(size_t man, size_t captive, uint64_t lanes) {
    const bool takes_moving = captive == placed_.moving;
    const int from = placed_.squares[man];
    Placed after = placed_;
    after.on_board &= ~(1U << captive);
    if (takes_moving) after.moving = man;
    else after.squares[man] = after.squares[captive];
    if (man != placed_.moving) after.occupied &= ~bit(from);
    const int to = takes_moving ? __builtin_ctzll(lanes) : after.squares[man];
    const bool promotes = piece_of(source_.men[man]) == PAWN && is_last_rank(to);
    const auto* const tables = promotes ? source_.taken_promoted[man][captive].data() : &source_.taken[captive];
    const size_t count = promotes ? PROMOTED : 1;
    if (man == placed_.moving) {
        after.moving = MEN_MAX;  // it stands where the captive was
        if (!in_check(after, mover_)) reach_one(after, tables, count, lanes);
    } else if (lanes &= ~in_check(after, mover_); lanes) {
        reach(after, tables, count, lanes);
    }
}

void StripReader::find_pushes(uint64_t lanes) {
    const int forward = mover_ ? -8 : 8, home = mover_ ? 6 : 1;
    for (size_t pawn = 0; pawn < source_.men.size() && lanes; ++pawn) {
        if (piece_of(source_.men[pawn]) != PAWN || colour_of(source_.men[pawn]) != mover_) continue;
        const int from = placed_.squares[pawn], to = from + forward, further = to + forward;
        if (placed_.occupied & bit(to)) continue;
        const uint64_t can = lanes & ~bit(to);
        push(pawn, to, can);
        if (from >> 3 != home || placed_.occupied & bit(further)) continue;
        // The right to capture en passant may save the other side: then the file says the distance.
        const auto beside = [&](size_t i) {
            const int square = placed_.squares[i];
            return piece_of(source_.men[i]) == PAWN && colour_of(source_.men[i]) != mover_ &&
                   square >> 3 == further >> 3 && std::abs(square - further) == 1;
        };
        bool is_beside = false;
        for (size_t i = 0; i < source_.men.size(); ++i) is_beside = is_beside || beside(i);
        if (!is_beside) push(pawn, further, can & ~bit(further));
    }
}

void StripReader::push(size_t pawn, int to, uint64_t lanes) {
    Placed after = placed_;
    after.occupied = (after.occupied & ~bit(after.squares[pawn])) | bit(to);
    after.squares[pawn] = static_cast<uint8_t>(to);
    lanes &= ~in_check(after, mover_);
    if (!lanes) return;
    const bool promotes = is_last_rank(to);
    reach(after, promotes ? source_.promoted[pawn].data() : &source_.own, promotes ? PROMOTED : 1, lanes);
}

// Notes the results of positions in tables, by lane.
void StripReader::reach(const Placed& p, const Lookup* const* tables, size_t count, uint64_t lanes) {
    uint8_t squares[MEN_MAX];
    std::memcpy(squares, p.squares, sizeof squares);
    uint64_t rows[64];
    for (size_t i = 0; i < count; ++i) {
        const Lookup& table = *tables[i];
        const uint8_t* const results = table.results[(1 - mover_) ^ static_cast<int>(table.swapped)];
        if (results) table.rows_of(squares, p.moving, lanes, rows);
        each(lanes, [&](int lane) {
            const int result = results ? (*table.meaning)[results[rows[lane]]] : DRAW;
            reached_[lane] |= static_cast<uint8_t>(1U << (WIN - result));
        });
    }
}

// The same for a position that is the same in all lanes.
void StripReader::reach_one(const Placed& p, const Lookup* const* tables, size_t count, uint64_t lanes) {
    for (size_t i = 0; i < count; ++i) {
        const int result = tables[i]->result(p.squares, 1 - mover_);
        each(lanes, [&](int lane) { reached_[lane] |= static_cast<uint8_t>(1U << (WIN - result)); });
    }
}

}  // namespace kingpair::syzygy
