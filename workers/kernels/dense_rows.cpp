// Rows of dense blocks: attacks of the men on one another while the last man stands on each of the 64 squares.

#include "dense_rows.hpp"

#include <array>

#include "assertions.hpp"

namespace kingpair::dense {

using verify::board;
using verify::Kind;
using verify::MEN_MAX;

namespace {

constexpr uint64_t bit(int square) { return uint64_t{1} << square; }

std::array<uint64_t, 64> make_king_reach() {
    std::array<uint64_t, 64> reach{};
    for (int s = 0; s < 64; ++s)
        for (int d = 0; d < 8; ++d)
            if (board().ray[d][s].length) reach[static_cast<size_t>(s)] |= bit(board().ray[d][s].square[0]);
    return reach;
}

}  // namespace

uint64_t king_reach(int square) {
    static const std::array<uint64_t, 64> reach = make_king_reach();
    return reach[static_cast<size_t>(square)];
}

uint64_t reach_of(Kind kind, int square, uint64_t occupied) {
    uint64_t reach = board().reach[static_cast<int>(kind)][square];
    if (kind == Kind::knight) return reach;
    for (uint64_t rest = occupied & reach; rest; rest &= rest - 1)
        reach &= ~board().behind[square][__builtin_ctzll(rest)];
    return reach;
}

// The men of a row without the last one.
struct Rows::Placed {
    uint8_t square[MEN_MAX];
    uint64_t occupied;
    bool apart;
    const Rows& rows;

    Placed(const Rows& r, int row) : square{}, occupied(bit(r.king_[0]) | bit(r.king_[1])), apart(true), rows(r) {
        for (int i = 0; i < last(); ++i) {
            square[i] = i == last() - 1 ? static_cast<uint8_t>(row) : r.outer_[i];
            apart &= !(occupied >> square[i] & 1);
            occupied |= bit(square[i]);
        }
    }

    const verify::Men& men() const { return rows.geometry_.men; }
    int last() const { return men().outer(); }

    // The lanes in which men of a side, without its king, attack a square that is not the last man's.
    uint64_t by_men(int to, int side) const {
        uint64_t found = 0;
        for (int i = 0; i < last(); ++i) {
            const verify::Man man = men().man[i];
            if (man.side != side || square[i] == to) continue;
            if (!(board().reach[static_cast<int>(man.kind)][square[i]] >> to & 1)) continue;
            const uint64_t between = board().between[square[i]][to];
            if (!(between & occupied)) found |= ~between;
        }
        const verify::Man own = men().man[last()];
        return own.side == side ? found | reach_of(own.kind, to, occupied) : found;
    }
    uint64_t by_king(int to, int side) const { return king_reach(rows.king_[side]) >> to & 1 ? ~uint64_t{0} : 0; }

    // The lanes in which men of a side attack the last man.
    uint64_t last_by_men(int side) const {
        uint64_t found = 0;
        for (int i = 0; i < last(); ++i)
            if (men().man[i].side == side) found |= reach_of(men().man[i].kind, square[i], occupied);
        return found;
    }
    uint64_t last_by_king(int side) const { return king_reach(rows.king_[side]); }
};

Rows::Rows(const Geometry& geometry, size_t block) : geometry_(geometry), slots_(geometry.men), outer_{} {
    KINGPAIR_INVARIANT(geometry.men.count >= 2 && geometry.men.count <= MEN_MAX, "two men or more");
    KINGPAIR_INVARIANT(block < geometry.blocks(), "no such block");
    const size_t pair = block / geometry.blocks_of_pair();
    size_t rest = block % geometry.blocks_of_pair();
    for (int i = geometry.men.count - 3; i >= 0; --i, rest >>= 6) outer_[i] = rest & 63;
    for (int side : {0, 1}) king_[side] = verify::kings().square[side][pair];
    diagonal_ = verify::kings().diagonal[pair];
}

// The lanes in which like men stand in ascending order.
uint64_t Rows::own(const Placed& p) const {
    const verify::Men& men = geometry_.men;
    uint64_t own = ~uint64_t{0};
    for (int i = 0; i + 1 < men.count; ++i) {
        if (men.man[i].kind != men.man[i + 1].kind || men.man[i].side != men.man[i + 1].side) continue;
        if (i + 1 == p.last()) own &= p.square[i] == 63 ? 0 : ~uint64_t{0} << (p.square[i] + 1);
        else if (p.square[i] > p.square[i + 1]) return 0;
    }
    return own;
}

// The lanes whose row is not larger than that of the mirror image. Both kings stand on the diagonal.
uint64_t Rows::on_diagonal(const Placed& p, uint64_t lanes) const {
    uint8_t square[MEN_MAX];
    uint32_t strip = 0;
    for (int i = 0; i < p.last(); ++i) strip = strip << 6 | (square[i] = p.square[i]);
    for (uint64_t rest = lanes; rest; rest &= rest - 1) {
        const int lane = __builtin_ctzll(rest);
        square[p.last()] = static_cast<uint8_t>(lane);
        if (slots_.of(square, true) != (strip << 6 | static_cast<uint32_t>(lane))) lanes &= ~bit(lane);
    }
    return lanes;
}

Row Rows::row(int square) const {
    Row row;
    const Placed p(*this, square);
    const uint64_t own = p.apart ? this->own(p) : 0;
    if (!own) return row;
    const int mover = geometry_.to_move, other = 1 - mover;
    row.held = own & ~p.occupied & ~p.by_men(king_[other], mover);
    if (row.held && diagonal_) row.held = on_diagonal(p, row.held);
    if (!row.held) return row;
    row.bit[row.bits++] = p.by_men(king_[mover], other);
    for (int i = 0; i < geometry_.men.count; ++i) {
        const int side = geometry_.men.man[i].side, at = p.square[i];
        const bool last = i == p.last();
        const uint64_t guarded =
            last ? p.last_by_men(side) | p.last_by_king(side) : p.by_men(at, side) | p.by_king(at, side);
        const uint64_t by_men = last ? p.last_by_men(1 - side) : p.by_men(at, 1 - side);
        const uint64_t by_king = last ? p.last_by_king(1 - side) : p.by_king(at, 1 - side);
        row.bit[row.bits++] = by_men | (by_king & ~guarded);
        row.bit[row.bits++] = guarded;
    }
    return row;
}

namespace {

int earlier_of(bool bishop, int square, int which) {
    const int file = square & 7, rank = square >> 3;
    const bool left = file >= 1, down = rank >= 1;
    if (!bishop) {
        if (which == 0 ? left : left && !down) return square - 1;
        return down ? square - 8 : -1;
    }
    const int diagonals[2] = {left && down ? square - 9 : -1, file < 7 && down ? square - 7 : -1};
    const int straight[2] = {file >= 2 ? square - 2 : -1, rank >= 2 ? square - 16 : -1};
    for (const int* of : {diagonals, straight})
        for (int i : {which, 1 - which})
            if (of[i] >= 0) return of[i];
    return -1;
}

Earlier make_earlier(bool bishop) {
    Earlier made;
    for (int square = 0; square < 64; ++square)
        for (int which : {0, 1})
            made[static_cast<size_t>(square)][static_cast<size_t>(which)] = earlier_of(bishop, square, which);
    return made;
}

}  // namespace

const Earlier& earlier(bool is_bishop) {
    static const Earlier of_bishop = make_earlier(true), of_others = make_earlier(false);
    return is_bishop ? of_bishop : of_others;
}

}  // namespace kingpair::dense
