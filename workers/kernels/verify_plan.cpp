// The plans by which tables with pawns are verified: which moves a structure has, and where their positions are kept.

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "assertions.hpp"
#include "verify_pawns.hpp"

namespace kingpair::verify {

namespace {

constexpr uint64_t bit(int square) { return uint64_t{1} << square; }
constexpr int FORWARD[2] = {8, -8}, FIRST_RANK[2] = {1, 6}, LAST_RANK[2] = {7, 0};
constexpr uint64_t FILE_A = 0x0101010101010101, FILE_H = FILE_A << 7;
constexpr int WHOLE_TABLE = 0;  // the structure of a table without pawns
constexpr int SYMMETRIES = 8;

uint64_t with_files_mirrored(uint64_t squares) {
    uint64_t found = 0;
    for (; squares; squares &= squares - 1) found |= bit(__builtin_ctzll(squares) ^ 7);
    return found;
}

Pawns mirrored(const Pawns& pawns) { return {{with_files_mirrored(pawns.of[0]), with_files_mirrored(pawns.of[1])}}; }

// The pawns with sides and ranks exchanged.
Pawns swapped(const Pawns& pawns) { return {{__builtin_bswap64(pawns.of[1]), __builtin_bswap64(pawns.of[0])}}; }

void place(Setup& setup, const Pawns& pawns) {
    setup.pawns = pawns;
    for (int side : {0, 1}) setup.attacked[side] = attacked_by_pawns(pawns, side);
}

void add(Setup& setup, Man man, int axis) {
    setup.man[setup.count] = man;
    setup.axis[setup.count++] = axis;
}

Setup without(const Setup& setup, int captive) {
    Setup left = setup;
    left.count = 0;
    for (int i = 0; i < setup.count; ++i)
        if (setup.axis[i] != captive || captive == NO_AXIS) add(left, setup.man[i], setup.axis[i]);
    return left;
}

Pawns moved(Pawns pawns, int side, int from, int to) {
    pawns.of[side] ^= bit(from) | bit(to);
    return pawns;
}

bool beside(int square, int other) { return square >> 3 == other >> 3 && std::abs(square - other) == 1; }

FixedKings make_fixed_kings() {
    FixedKings k{};
    int16_t next = 0;
    for (int a = 0; a < 64; ++a)
        for (int b = 0; b < 64; ++b) {
            k.pair[a][b] = -1;
            if (std::abs((a & 7) - (b & 7)) <= 1 && std::abs((a >> 3) - (b >> 3)) <= 1) continue;
            if (next == FIXED_PAIRS) std::abort();
            k.square[0][next] = static_cast<uint8_t>(a);
            k.square[1][next] = static_cast<uint8_t>(b);
            k.pair[a][b] = next++;
        }
    std::iota(k.ascending.begin(), k.ascending.end(), int16_t{0});
    k.by_image = k.ascending;
    const auto image = [&](int16_t pair) { return kings().pair[k.square[0][pair]][k.square[1][pair]]; };
    std::stable_sort(k.by_image.begin(), k.by_image.end(), [&](int16_t p, int16_t q) { return image(p) < image(q); });
    return k;
}

}  // namespace

uint64_t attacked_by_pawns(const Pawns& pawns, int side) {
    const uint64_t own = pawns.of[side], west = own & ~FILE_A, east = own & ~FILE_H;
    return side == 0 ? west << 7 | east << 9 : west >> 9 | east >> 7;
}

const FixedKings& fixed_kings() {
    static const FixedKings made = make_fixed_kings();
    return made;
}

// ---- walks ----

namespace {

// The squares that are the smallest of their images, and the walk of each square.
std::array<uint8_t, 64> make_walk_of_square() {
    std::array<uint8_t, 64> found{};
    std::vector<int> smallest;
    for (int s = 0; s < 64; ++s) {
        int least = s;
        for (int g = 0; g < SYMMETRIES; ++g) least = std::min(least, static_cast<int>(board().turned[g][s]));
        if (least == s) smallest.push_back(s);
        const auto at = std::find(smallest.begin(), smallest.end(), least);
        found[static_cast<size_t>(s)] = static_cast<uint8_t>(at - smallest.begin());
    }
    return found;
}

template <class Kings>
Walks make_walks(const Kings& k, int pairs, int standing) {
    Walks found;
    for (int pair = 0; pair < pairs; ++pair) {
        auto& walk = found.pairs[static_cast<size_t>(walk_of_square(k.square[standing][pair]))];
        found.place.push_back(static_cast<int16_t>(walk.size()));
        walk.push_back(static_cast<int16_t>(pair));
    }
    return found;
}

}  // namespace

int walk_of_square(int standing) {
    static const auto made = make_walk_of_square();
    return made[static_cast<size_t>(standing)];
}

const Walks& walks_of(bool has_pawns, int standing) {
    static const std::array<Walks, 2> fixed = {make_walks(fixed_kings(), FIXED_PAIRS, 0),
                                               make_walks(fixed_kings(), FIXED_PAIRS, 1)};
    static const std::array<Walks, 2> turned = {make_walks(kings(), PAIRS, 0), make_walks(kings(), PAIRS, 1)};
    return (has_pawns ? fixed : turned)[static_cast<size_t>(standing)];
}

// ---- tables ----

namespace {

Men men_of(const std::vector<Man>& pieces) {
    Men men{};
    for (const Man& piece : pieces) men.man[men.count++] = piece;
    return men;
}

}  // namespace

IndexedTable::IndexedTable(int n, const std::vector<Man>& pieces, int stronger, int weaker, const uint8_t* squares,
                           size_t count)
    : number(n), men(men_of(pieces)), pawns{stronger, weaker}, index(men) {
    for (size_t i = 0; i < count; ++i) {
        Pawns placed;
        for (int pawn = 0; pawn < stronger + weaker; ++pawn) placed.of[pawn >= stronger] |= bit(*squares++);
        number_of_[placed] = static_cast<int>(i);
        structures.push_back(placed);
    }
}

int IndexedTable::find(const Pawns& placed) const {
    const auto found = number_of_.find(placed);
    return found == number_of_.end() ? -1 : found->second;
}

// ---- where positions are kept ----

Planner::Planner(std::vector<IndexedTable> tables) : tables_(std::move(tables)) {}

Setup Planner::setup(int structure) const {
    Setup found;
    const IndexedTable& own = table();
    for (uint8_t side : {uint8_t{0}, uint8_t{1}}) add(found, {Kind::queen, side}, side);
    for (int i = 0; i < own.men.count; ++i) add(found, own.men.man[i], 2 + i);
    place(found, own.structures[static_cast<size_t>(structure)]);
    return found;
}

// Whether a table has the men of a setup: `man` says which one has each of its axes.
bool Planner::holds(const IndexedTable& table, bool swap, const Setup& setup, int* man) const {
    for (int side : {0, 1})
        if (__builtin_popcountll(setup.pawns.of[side]) != table.pawns[side ^ swap]) return false;
    if (setup.count - 2 != table.men.count) return false;
    unsigned used = 0;
    for (int axis = 0; axis < table.men.count; ++axis) {
        int i = 2;
        const Man wanted = table.men.man[axis];
        while (i < setup.count &&
               (used >> i & 1 || setup.man[i].kind != wanted.kind || (setup.man[i].side ^ swap) != wanted.side))
            ++i;
        if (i == setup.count) return false;
        used |= 1u << i;
        man[axis] = i;
    }
    return true;
}

Location Planner::locate(const Plan& plan, const Setup& setup, int to_move, const FindColumn& find) const {
    Location found;
    if (setup.count == 2 && !setup.pawns.all()) return found;
    for (bool swap : {false, true})
        for (const IndexedTable& each : tables_) {
            if (found.table || !holds(each, swap, setup, found.man)) continue;
            found.table = &each;
            found.swapped = swap;
        }
    if (!found.table) std::abort();
    const int side = to_move ^ found.swapped, number = found.table->number;
    int part = WHOLE;
    if (plan.walk != EVERY_WALK && found.table->men.count >= PARTED_MEN) {
        const int standing = (1 - plan.mover) ^ found.swapped;
        part = 2 * plan.walk + standing;
        found.place = walks_of(found.table->has_pawns(), standing).place.data();
    }
    if (!found.table->has_pawns()) {
        found.values[0] = found.values[1] = find({number, side, WHOLE_TABLE, part});
        return found;
    }
    const Pawns pawns = found.swapped ? swapped(setup.pawns) : setup.pawns;
    const int plain = found.table->find(pawns), image = found.table->find(mirrored(pawns));
    if (plain < 0 && image < 0) std::abort();
    // A structure that is kept along with its image has positions with the stronger king on files a to d only.
    found.mirrored[0] = plain < 0;
    found.mirrored[1] = image >= 0;
    for (int half : {0, 1}) found.values[half] = find({number, side, found.mirrored[half] ? image : plain, part});
    return found;
}

// ---- moves ----

Plan Planner::plan(int structure, int mover, int walk, const FindColumn& find, bool en_passant) const {
    KINGPAIR_INVARIANT(structure >= 0 && static_cast<size_t>(structure) < table().structures.size(),
                       "a structure is one of the table");
    KINGPAIR_INVARIANT(mover == 0 || mover == 1, "a side is 0 or 1");
    Plan plan{mover, structure, walk, setup(structure), {}, {}, {}, {}};
    plan.entered = locate(plan, plan.here, 1 - mover, find);
    plan_captures(plan, find);
    for (uint64_t rest = plan.here.pawns.of[mover]; rest; rest &= rest - 1)
        plan_pawn(plan, __builtin_ctzll(rest), find, en_passant);
    return plan;
}

void Planner::plan_captures(Plan& plan, const FindColumn& find) const {
    const int victim = 1 - plan.mover;
    for (int i = 2; i < plan.here.count; ++i) {
        if (plan.here.man[i].side != victim) continue;
        const Setup after = without(plan.here, plan.here.axis[i]);
        plan.captures.push_back({plan.here.axis[i], 0, after, locate(plan, after, victim, find)});
    }
    for (uint64_t rest = plan.here.pawns.of[victim]; rest; rest &= rest - 1) {
        Setup after = plan.here;
        Pawns left = after.pawns;
        left.of[victim] &= ~(rest & -rest);
        place(after, left);
        plan.captures.push_back({NO_AXIS, __builtin_ctzll(rest), after, locate(plan, after, victim, find)});
    }
}

void Planner::plan_pawn(Plan& plan, int from, const FindColumn& find, bool en_passant) const {
    plan_pushes(plan, from, find, en_passant);
    const int ahead = from + FORWARD[plan.mover];
    for (int to : {ahead - 1, ahead + 1})
        if (beside(to, ahead)) plan_captures_by_pawn(plan, from, to, find);
}

void Planner::plan_pushes(Plan& plan, int from, const FindColumn& find, bool en_passant) const {
    const int mover = plan.mover, to = from + FORWARD[mover], beyond = to + FORWARD[mover];
    const Pawns& pawns = plan.here.pawns;
    if (pawns.all() & bit(to)) return;
    Setup after = plan.here;
    place(after, moved(pawns, mover, from, to));
    if (to >> 3 == LAST_RANK[mover]) return plan_conversion(plan, NO_AXIS, to, after, find);
    plan.pushes.push_back({after, locate(plan, after, 1 - mover, find), 0, {}, nullptr});
    if (from >> 3 != FIRST_RANK[mover] || pawns.all() & bit(beyond)) return;
    place(after, moved(pawns, mover, from, beyond));
    Push push{after, locate(plan, after, 1 - mover, find), bit(to), {}, nullptr};
    if (en_passant) plan_en_passant(plan, push, to, beyond, find);
    plan.pushes.push_back(std::move(push));
}

// The captures that a double step allows, and the other moves of the side that could capture.
void Planner::plan_en_passant(const Plan& plan, Push& push, int passed, int entered, const FindColumn& find) const {
    const int mover = plan.mover, captor = 1 - mover;
    for (uint64_t rest = push.after.pawns.of[captor]; rest; rest &= rest - 1) {
        const int from = __builtin_ctzll(rest);
        if (!beside(from, entered)) continue;
        Setup after = push.after;
        Pawns left = moved(after.pawns, captor, from, passed);
        left.of[mover] &= ~bit(entered);
        place(after, left);
        push.en_passant.push_back({NO_AXIS, passed, after, 1, {locate(plan, after, mover, find)}});
    }
    if (push.en_passant.empty()) return;
    const int structure = table().find(push.after.pawns);
    push.answer = std::make_shared<Plan>(this->plan(structure, captor, EVERY_WALK, find, false));
}

void Planner::plan_captures_by_pawn(Plan& plan, int from, int to, const FindColumn& find) const {
    const int mover = plan.mover, victim = 1 - mover;
    Pawns pawns = moved(plan.here.pawns, mover, from, to);
    if (plan.here.pawns.all() & bit(to)) {
        if (!(plan.here.pawns.of[victim] & bit(to))) return;
        pawns.of[victim] &= ~bit(to);
        Setup after = plan.here;
        place(after, pawns);
        return plan_conversion(plan, NO_AXIS, to, after, find);
    }
    for (int i = 2; i < plan.here.count; ++i) {
        if (plan.here.man[i].side != victim) continue;
        Setup after = without(plan.here, plan.here.axis[i]);
        place(after, pawns);
        plan_conversion(plan, plan.here.axis[i], to, after, find);
    }
}

// A capture by a pawn, or the promotion of a pawn that has reached the last rank.
void Planner::plan_conversion(Plan& plan, int captive, int to, const Setup& reached, const FindColumn& find) const {
    const int mover = plan.mover;
    Conversion found{captive, to, reached, 0, {}};
    if (to >> 3 != LAST_RANK[mover]) {
        found.into[found.count++] = locate(plan, reached, 1 - mover, find);
    } else {
        Pawns left = reached.pawns;
        left.of[mover] &= ~bit(to);
        for (Kind kind : {Kind::queen, Kind::rook, Kind::bishop, Kind::knight}) {
            found.after = reached;
            place(found.after, left);
            found.after.promoted = static_cast<uint8_t>(to);
            add(found.after, {kind, static_cast<uint8_t>(mover)}, NO_AXIS);
            found.into[found.count++] = locate(plan, found.after, 1 - mover, find);
        }
    }
    plan.conversions.push_back(found);
}

}  // namespace kingpair::verify
