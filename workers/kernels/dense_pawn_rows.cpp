// Strips of dense blocks with pawns: attacks of the men on one another while the last man stands on each square.

#include "dense_pawn_rows.hpp"

#include <cstdlib>

#include "assertions.hpp"

namespace kingpair::dense {

using verify::board;
using verify::fixed_kings;
using verify::FIXED_PAIRS;
using verify::Kind;

namespace {

constexpr uint64_t bit(int square) { return uint64_t{1} << square; }
constexpr uint64_t EVERY_LANE = ~uint64_t{0};
constexpr int STRONGER_KING = 0, WEAKER_KING = 1, FIRST_PIECE = 2;

Placing placing_of(const uint8_t* squares, const int (&pawns)[2]) {
    Placing p{};
    int of_file[2][8] = {};
    p.steps[0] = p.steps[1] = p.steps_of_leader = NO_STEPS;
    for (int side : {0, 1})
        for (int i = 0; i < pawns[side]; ++i) {
            const int square = squares[(side ? pawns[0] : 0) + i], rank = square >> 3;
            const int steps = side ? rank - 1 : 6 - rank;
            p.square.push_back(static_cast<uint8_t>(square));
            p.on.of[side] |= bit(square);
            ++of_file[side][square & 7];
            p.steps[side] = std::min(p.steps[side], steps);
            if (steps < p.steps_of_leader) p.steps_of_leader = steps, p.leader = square;
        }
    for (int side : {0, 1}) p.attacked[side] = verify::attacked_by_pawns(p.on, side);
    p.is_symmetric = true;
    for (const auto& files : of_file)
        for (int file = 0; file < 4; ++file) p.is_symmetric &= files[file] == files[7 - file];
    return p;
}

// The men of a strip without the last one.
struct Standing {
    const PawnGeometry& geometry;
    const Strip& strip;
    uint64_t occupied;
    bool apart = true;

    Standing(const PawnGeometry& g, const Strip& s) : geometry(g), strip(s), occupied(s.placing->on.all()) {
        for (int axis = 0; axis < last(); ++axis) {
            apart &= !(occupied >> s.square[axis] & 1);
            occupied |= bit(s.square[axis]);
        }
    }

    int last() const { return geometry.last(); }
    bool is_last_king(int side) const { return last() == WEAKER_KING && side == WEAKER_KING; }
    verify::Man man(int axis) const { return geometry.pieces.man[axis - FIRST_PIECE]; }

    // The lanes in which pieces and pawns of a side attack a square that is not the last man's.
    uint64_t by_men(int to, int side) const {
        if (strip.placing->attacked[side] >> to & 1) return EVERY_LANE;
        uint64_t found = 0;
        for (int axis = FIRST_PIECE; axis < last(); ++axis) {
            const int from = strip.square[axis];
            if (man(axis).side != side || from == to) continue;
            if (!(board().reach[static_cast<int>(man(axis).kind)][from] >> to & 1)) continue;
            const uint64_t between = board().between[from][to];
            if (!(between & occupied)) found |= ~between;
        }
        if (last() >= FIRST_PIECE && man(last()).side == side) found |= reach_of(man(last()).kind, to, occupied);
        return found;
    }
    uint64_t by_king(int to, int side) const {
        if (is_last_king(side)) return king_reach(to);
        return king_reach(strip.square[side]) >> to & 1 ? EVERY_LANE : 0;
    }

    // The lanes in which pieces and pawns of a side, or its king, attack the last man.
    uint64_t last_by_men(int side) const {
        uint64_t found = strip.placing->attacked[side];
        for (int axis = FIRST_PIECE; axis < last(); ++axis)
            if (man(axis).side == side) found |= reach_of(man(axis).kind, strip.square[axis], occupied);
        return found;
    }
    uint64_t last_by_king(int side) const { return king_reach(strip.square[side]); }

    // The lanes in which a side is in check.
    uint64_t in_check(int side) const {
        return is_last_king(side) ? last_by_men(1 - side) : by_men(strip.square[side], 1 - side);
    }

    // The lanes in which like pieces stand in ascending order, and the stronger king where the index has him.
    uint64_t counted() const {
        if (!apart || (strip.placing->is_symmetric && (strip.square[STRONGER_KING] & 7) > 3)) return 0;
        uint64_t own = EVERY_LANE;
        for (int axis = FIRST_PIECE; axis < last(); ++axis) {
            const verify::Man one = man(axis), other = man(axis + 1);
            if (one.kind != other.kind || one.side != other.side) continue;
            const int square = strip.square[axis];
            if (axis + 1 == last()) own &= square == 63 ? 0 : EVERY_LANE << (square + 1);
            else if (square > strip.square[axis + 1]) return 0;
        }
        return own;
    }
};

// Both bits of a man: whether the other side can take him, and whether his own side guards him.
void add(Row& row, uint64_t by_men, uint64_t by_king, uint64_t guarded) {
    row.bit[row.bits++] = by_men | (by_king & ~guarded);
    row.bit[row.bits++] = guarded;
}

Row row_of(const PawnGeometry& g, const Strip& strip) {
    Row row;
    const Standing men(g, strip);
    row.held = men.counted() & strip.lanes & ~men.occupied;
    if (row.held) row.held &= ~men.in_check(1 - g.to_move);
    if (!row.held) return row;
    row.bit[row.bits++] = men.in_check(g.to_move);
    const auto add_standing = [&](int at, int side) {
        add(row, men.by_men(at, 1 - side), men.by_king(at, 1 - side), men.by_men(at, side) | men.by_king(at, side));
    };
    for (int axis = FIRST_PIECE; axis < men.last(); ++axis) add_standing(strip.square[axis], men.man(axis).side);
    if (men.last() >= FIRST_PIECE) {
        const int side = men.man(men.last()).side;
        add(row, men.last_by_men(1 - side), men.last_by_king(1 - side), men.last_by_men(side) | men.last_by_king(side));
    }
    for (int i = 0; i < g.pawns[0] + g.pawns[1]; ++i)
        add_standing(strip.placing->square[static_cast<size_t>(i)], i >= g.pawns[0]);
    return row;
}

}  // namespace

PawnGeometry::PawnGeometry(const verify::Men& men, int mover, int stronger, int weaker, const uint8_t* squares,
                           size_t count)
    : pieces(men), to_move(mover), pawns{stronger, weaker} {
    const auto of_structure = static_cast<size_t>(stronger + weaker);
    for (size_t i = 0; i < count; ++i) structures.push_back(placing_of(squares + i * of_structure, pawns));
}

Strips::Strips(const PawnGeometry& geometry, size_t block)
    : geometry_(geometry), begin_(block * BLOCK), row_(begin_), end_(begin_ + geometry.rows_of(block)) {
    KINGPAIR_INVARIANT(block < geometry.blocks(), "no such block");
    KINGPAIR_INVARIANT(geometry.men() < verify::MEN_MAX, "four men or fewer");
}

bool Strips::next(Strip& strip) {
    if (row_ == end_) return false;
    const verify::FixedKings& kings = fixed_kings();
    const size_t run = row_ / geometry_.pieces.slots(), slot = row_ % geometry_.pieces.slots();
    size_t pair = run % FIXED_PAIRS;
    strip.placing = &geometry_.structures[run / FIXED_PAIRS];
    strip.first = row_ - begin_;
    for (int side : {0, 1}) strip.square[side] = kings.square[side][pair];
    for (int i = 0; i + 1 < std::min(geometry_.pieces.count, verify::MEN_MAX); ++i)
        strip.square[FIRST_PIECE + i] = slot >> 6 * (geometry_.pieces.count - 1 - i) & 63;
    if (geometry_.pieces.count) {
        strip.lanes = EVERY_LANE;
        row_ += 64;
    } else {
        strip.lanes = 0;
        for (; pair < FIXED_PAIRS && kings.square[0][pair] == strip.square[0] && row_ < end_; ++pair, ++row_)
            strip.lanes |= bit(kings.square[1][pair]);
    }
    strip.row = row_of(geometry_, strip);
    return true;
}

}  // namespace kingpair::dense
