// The kernels that verify tables with pawns: the value that follows from the best key of each position, and the
// comparison with the value that the table states.

#include "verify_pawns.hpp"

#include "judging.hpp"
#include "pawn_moves.hpp"

namespace kingpair::verify {
namespace {

// The lanes of a strip whose rows stand for their positions.
uint64_t own_lanes(const IndexedTable& table, const Location& stated, const uint8_t* squares) {
    if (stated.mirrored[squares[0] >> 2 & 1]) return 0;
    const Man* man = table.men.man;
    for (int i = 0; i + 1 < table.men.count; ++i) {
        if (man[i].kind != man[i + 1].kind || man[i].side != man[i + 1].side) continue;
        if (i + 1 == table.men.outer()) return ~uint64_t{0} << squares[2 + i];
        if (squares[2 + i] > squares[3 + i]) return 0;
    }
    return ~uint64_t{0};
}

size_t row_of(const IndexedTable& table, int structure, const uint8_t* squares, size_t strip, size_t lane) {
    const size_t slots = table.slots(), weaker = table.men.count ? squares[1] : lane;
    const size_t run =
        static_cast<size_t>(structure) * FIXED_PAIRS + static_cast<size_t>(fixed_kings().pair[squares[0]][weaker]);
    return run * slots + ((64 * strip | lane) & (slots - 1));
}

void join(Findings& all, const Findings& one) {
    all.placed += one.placed;
    all.legal += one.legal;
    all.wrong += one.wrong;
    const bool earlier = std::tie(one.first.rank, one.first.row) < std::tie(all.first.rank, all.first.row);
    if (one.first.row >= 0 && (all.first.row < 0 || earlier)) all.first = one.first;
}

// The values of the legal positions `here` of a strip that follow from their successors.
template <class Key>
Strip<Key> following(StructureMoves<Key>& moves, const Plan& plan, const Placed& p, const uint8_t* squares,
                     size_t strip, const Strip<Key>& here) {
    const Strip<Key> best = moves.best(p, squares, strip), stuck = equal<Key>(best, 0) & here;
    if (!any(stuck)) return values_of(best);
    return values_of(best) | (stuck & lanes<Key>(attacked(board(), plan.here, p, plan.mover)));  // mate is -1
}

// Groups of pairs of kings, by the side whose king stands.
struct Groups {
    Group every[2];  // in ascending order; by their images
    std::vector<Group> by_square[2], by_walk[2];
};

Group group_of(std::span<const int16_t> pairs, int standing, const std::function<bool(int)>& holds) {
    Group found{{}, false, {}, 0};
    for (int s = 0; s < 64; ++s)
        if (holds(s)) found.place[s] = static_cast<int8_t>(found.squares++);
    for (const int16_t pair : pairs)
        if (holds(fixed_kings().square[standing][pair])) found.pairs.push_back(pair);
    return found;
}

Groups make_groups() {
    const FixedKings& k = fixed_kings();
    Groups found;
    for (Group& every : found.every) every = {{}, true, {}, 64};
    found.every[0].pairs.assign(k.ascending.begin(), k.ascending.end());
    found.every[1].pairs.assign(k.by_image.begin(), k.by_image.end());
    for (int standing : {0, 1}) {
        for (int square = 0; square < 64; ++square)
            found.by_square[standing].push_back(group_of(k.ascending, standing, [=](int s) { return s == square; }));
        for (int walk = 0; walk < WALKS; ++walk)
            found.by_walk[standing].push_back(
                group_of(k.by_image, standing, [=](int s) { return walk_of_square(s) == walk; }));
    }
    return found;
}

const Groups& groups() {
    static const Groups made = make_groups();
    return made;
}

// The groups in which a plan is followed. A promotion reads one square of the new piece, so a byte of each cache line
// of a column without pawns: the pairs of kings that share a run of such a column read it one after the other. An
// answer to a double step moves the king that stands in a group.
std::vector<const Group*> groups_for(const IndexedTable& table, const Plan& plan) {
    const bool leaves_no_pawns = std::any_of(plan.conversions.begin(), plan.conversions.end(), [](const Conversion& c) {
        return c.into[0].table && !c.into[0].table->has_pawns();
    });
    const bool is_answered =
        std::any_of(plan.pushes.begin(), plan.pushes.end(), [](const Push& p) { return p.answer != nullptr; });
    if (table.men.count < 2 || is_answered) return {&groups().every[leaves_no_pawns]};
    const int standing = 1 - plan.mover;
    const auto& all = leaves_no_pawns ? groups().by_walk[standing] : groups().by_square[standing];
    std::vector<const Group*> found;
    for (size_t i = 0; i < all.size(); ++i) {
        const int walk = leaves_no_pawns ? static_cast<int>(i) : walk_of_square(static_cast<int>(i));
        if (plan.walk == EVERY_WALK || plan.walk == walk) found.push_back(&all[i]);
    }
    return found;
}

template <class Key, class Value>
Findings check_group(const IndexedTable& table, const Judged& judged, const Rules& rules, const Group& group,
                     Histogram<Key>& histogram) {
    const Plan& plan = judged.plan;
    StructureMoves<Key> moves(table, plan, rules, group);
    const Reader<Key> reader(judged.stated);
    Strips strips(plan.here, 1 + table.men.count, plan.mover);
    Findings found{0, 0, 0, {-1, 0, 0, 0}};
    for_each_strip(table, group.pairs, [&](const uint8_t* squares, size_t strip) {
        const uint64_t own = own_lanes(table, judged.stated, squares);
        if (!own) return;
        const Placed& p = strips.place(squares);
        const uint64_t placed = free_lanes(p) & own, legal = placed & strips.legal();
        found.placed += static_cast<uint64_t>(__builtin_popcountll(placed));
        found.legal += static_cast<uint64_t>(__builtin_popcountll(legal));
        if (!legal) return;
        const Strip<Key> here = lanes<Key>(legal), stated = reader.strip(p, legal);
        const Strip<Key> expected = following(moves, plan, p, squares, strip, here);
        histogram.add(stated, here);
        if (!any((stated ^ expected) & here)) return;
        Value is[64], should_be[64];
        std::memcpy(is, &stated, sizeof is);
        std::memcpy(should_be, &expected, sizeof should_be);
        for (size_t s = 0; s < 64; ++s)
            if (legal >> s & 1 && is[s] != should_be[s])
                enter(found, row_of(table, plan.structure, squares, strip, s), is[s], should_be[s]);
    });
    return found;
}

template <class Key, class Value>
Findings check(const IndexedTable& table, const std::vector<Judged>& judged, const Rules& rules, uint64_t* counts) {
    const auto histogram = std::make_unique<Histogram<Key>>();
    Findings found{0, 0, 0, {-1, 0, 0, 0}};
    for (const Judged& each : judged)
        for (const Group* group : groups_for(table, each.plan))
            join(found, check_group<Key, Value>(table, each, rules, *group, *histogram));
    histogram->add_to(counts);
    return found;
}

template <class Key, class Value>
void derive_group(const IndexedTable& table, const Judged& judged, const Rules& rules, const Group& group, Value* rows,
                  std::vector<bool>& held) {
    const Plan& plan = judged.plan;
    StructureMoves<Key> moves(table, plan, rules, group);
    for_each_strip(table, group.pairs, [&](const uint8_t* squares, size_t strip) {
        const Placed p(plan.here, squares, 1 + table.men.count);
        uint64_t rest = own_lanes(table, judged.stated, squares);
        rest &= rest ? legal(board(), plan.here, p, plan.mover) : 0;
        if (!rest) return;
        const Strip<Key> values = following(moves, plan, p, squares, strip, lanes<Key>(rest));
        Value value[64];
        std::memcpy(value, &values, sizeof value);
        for (; rest; rest &= rest - 1) {
            const auto s = static_cast<size_t>(__builtin_ctzll(rest));
            const size_t row = row_of(table, 0, squares, strip, s);
            rows[row] = value[s];
            held[row] = true;
        }
    });
}

template <class Key, class Value>
void derive(const IndexedTable& table, const Judged& judged, const Rules& rules, Value* rows) {
    const size_t size = FIXED_PAIRS * table.slots();
    std::vector<bool> held(size);
    for (const Group* group : groups_for(table, judged.plan))
        derive_group<Key, Value>(table, judged, rules, *group, rows, held);
    Value before = 0;
    for (size_t row = 0; row < size; ++row) {
        if (held[row]) before = rows[row];
        else rows[row] = before;
    }
}

template <class Key, class Value>
int64_t find(const IndexedTable& table, const Judged& judged, int value) {
    const Plan& plan = judged.plan;
    const Reader<Key> reader(judged.stated);
    int64_t first = -1;
    for_each_strip(table, fixed_kings().ascending, [&](const uint8_t* squares, size_t strip) {
        const Placed p(plan.here, squares, 1 + table.men.count);
        uint64_t rest = own_lanes(table, judged.stated, squares);
        rest &= first < 0 && rest ? legal(board(), plan.here, p, plan.mover) : 0;
        if (!rest) return;
        Value is[64];
        const Strip<Key> stated = reader.strip(p, rest);
        std::memcpy(is, &stated, sizeof is);
        for (; rest && first < 0; rest &= rest - 1)
            if (const auto s = static_cast<size_t>(__builtin_ctzll(rest)); is[s] == value)
                first = static_cast<int64_t>(row_of(table, plan.structure, squares, strip, s));
    });
    return first;
}

}  // namespace

#define KINGPAIR_QUOTE_(x) #x
#define KINGPAIR_QUOTE(x) KINGPAIR_QUOTE_(x)

namespace KINGPAIR_LEVEL {

const StructureKernels STRUCTURE_KERNELS{
    KINGPAIR_QUOTE(KINGPAIR_LEVEL),
    {check<uint8_t, int8_t>, derive<uint8_t, int8_t>, find<uint8_t, int8_t>},
    {check<uint16_t, int16_t>, derive<uint16_t, int16_t>, find<uint16_t, int16_t>},
};

}  // namespace KINGPAIR_LEVEL

}  // namespace kingpair::verify
