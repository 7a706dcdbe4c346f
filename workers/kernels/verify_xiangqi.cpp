// The proof of a table of Chinese chess: every value follows by one forward move from values of the table and of the
// smaller ones. Nothing here is shared with the kernels that solve: squares, placements and rows are derived anew, from
// the description of the format, and every move is played forwards.
//
// A key says what a position is worth to the side that moved into it; the greater key is the better move:
//
//     0               no position
//     1               conversion into a win of the opponent
//     1 + m           the opponent wins in m
//     middle          draw
//     greatest - n    the opponent has lost in n
//
// Cost: most moves are those of the frame, which are listed once for each placement of it.

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "verify_module.hpp"

namespace nb = nanobind;

namespace kingpair::verify {
namespace {

constexpr int FILES = 9, RANKS = 10, BOARD = 90, MOST_FREE = 4, MOST_FRAME = 5;

constexpr int across(int s) { return s - 2 * (s % FILES) + FILES - 1; }
constexpr int upside_down(int s) { return s % FILES + FILES * (RANKS - 1 - s / FILES); }
constexpr bool on_board(int file, int rank) { return file >= 0 && file < FILES && rank >= 0 && rank < RANKS; }

void require(bool condition, const char* message) {
    if (!condition) throw nb::value_error(message);
}

// ---- where men may stand, as the side below sees it ----

bool in_palace(int s) { return s % FILES >= 3 && s % FILES <= 5 && s / FILES <= 2; }

bool may_stand_below(char letter, int s) {
    const int file = s % FILES, rank = s / FILES;
    switch (letter) {
        case 'K': return in_palace(s);
        case 'A': return in_palace(s) && (file + rank) % 2 == 1;
        case 'B': return rank == 2 ? file % 4 == 0 : (rank == 0 || rank == 4) && (file == 2 || file == 6);
        case 'P': return rank >= 5 || (rank >= 3 && file % 2 == 0);
        default: return true;
    }
}

bool may_stand(char letter, int side, int s) { return may_stand_below(letter, side ? upside_down(s) : s); }

std::vector<uint8_t> squares_for(char letter, int side) {
    std::vector<uint8_t> found;
    for (int s = 0; s < BOARD; ++s)
        if (may_stand(letter, side, s)) found.push_back(static_cast<uint8_t>(s));
    return found;
}

// ---- placements of one side's king, advisors and elephants ----

using Placement = std::array<uint8_t, MOST_FRAME>;

class FrameSide {
  public:
    FrameSide(int advisors, int elephants, int side)
        : advisors_(advisors), side_(side), count_(1 + advisors + elephants) {
        std::vector<Placement> all{Placement{}};
        for (int man = 0; man < count_; ++man) {
            std::vector<Placement> longer;
            for (const Placement& p : all)
                for (uint8_t s : squares_for(letter(man), side)) {
                    const bool like = man > 0 && letter(man - 1) == letter(man);
                    if ((like && s <= p[man - 1]) || std::find(p.begin(), p.begin() + man, s) != p.begin() + man)
                        continue;
                    longer.push_back(p);
                    longer.back()[man] = s;
                }
            all = std::move(longer);
        }
        for (const Placement& p : all)
            if (side == 0 || p <= mirrored(p)) kept.push_back(p);
        number_.assign(size_t{BOARD} << 11, -1);
        for (size_t i = 0; i < kept.size(); ++i) {
            int16_t& place = number_[code(kept[i])];
            require(place < 0, "two placements have one code");
            place = static_cast<int16_t>(i);
        }
    }

    int count() const { return count_; }
    char letter(int man) const { return man == 0 ? 'K' : man <= advisors_ ? 'A' : 'B'; }

    Placement sorted(Placement p) const {
        for (int i = 1; i + 1 < count_ && i + 1 < MOST_FRAME; ++i)  // at most two men are like each other
            if (letter(i) == letter(i + 1) && p[i] > p[i + 1]) std::swap(p[i], p[i + 1]);
        return p;
    }
    Placement mirrored(Placement p) const {
        for (int i = 0; i < count_; ++i) p[i] = static_cast<uint8_t>(across(p[i]));
        return sorted(p);
    }
    // Its number, or that of its mirror image and true.
    std::pair<int, bool> find(const Placement& sorted_one) const {
        const int found = number_[code(sorted_one)];
        if (found >= 0) return {found, false};
        return {number_[code(mirrored(sorted_one))], true};
    }
    bool symmetric(int number) const {
        return mirrored(kept[static_cast<size_t>(number)]) == kept[static_cast<size_t>(number)];
    }

    std::vector<Placement> kept;

  private:
    // The king's square, five bits for the advisors and six for the elephants: sums of weights of which no two pairs
    // have the same. The constructor checks that no two placements share a code.
    size_t code(const Placement& p) const {
        unsigned advisors = 0, elephants = 0;
        for (int i = 1; i < count_; ++i) {
            const int s = side_ ? upside_down(p[i]) : p[i];
            if (i <= advisors_) advisors += advisor_weight(s);
            else elephants += elephant_weight(s);
        }
        return size_t{p[0]} << 11 | advisors << 6 | elephants;
    }
    static unsigned advisor_weight(int s) {
        constexpr unsigned weight[5] = {1, 2, 4, 8, 15};
        return weight[s / FILES == 1 ? 2 : (s / FILES ? 3 : 0) + (s % FILES == 5)];
    }
    static unsigned elephant_weight(int s) {
        constexpr unsigned weight[7] = {0, 1, 4, 10, 18, 23, 25};
        const int rank = s / FILES, file = s % FILES;
        return weight[rank == 2 ? 2 + file / 4 : (rank ? 5 : 0) + (file == 6)];
    }

    int advisors_, side_, count_;
    std::vector<int16_t> number_;
};

struct FreeMan {
    char letter;
    int side;
    bool operator==(const FreeMan&) const = default;
};

// A board while it is looked at: for each square 0 or 1 + the side of the man there.
using Occupied = std::array<uint8_t, BOARD>;

constexpr auto RAYS = [] {
    std::array<std::array<std::array<int8_t, 10>, 4>, BOARD> all{};
    constexpr int step[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    for (int s = 0; s < BOARD; ++s)
        for (int d = 0; d < 4; ++d) {
            int n = 0;
            for (int f = s % FILES + step[d][0], r = s / FILES + step[d][1]; on_board(f, r);
                 f += step[d][0], r += step[d][1])
                all[s][d][n++] = static_cast<int8_t>(f + FILES * r);
            all[s][d][n] = -1;
        }
    return all;
}();

constexpr int LEAPS[8][2] = {{1, 2}, {-1, 2}, {1, -2}, {-1, -2}, {2, 1}, {-2, 1}, {2, -1}, {-2, -1}};

// Calls go(square) for the squares that a free man moves to or attacks. Own men there are not left out.
template <class Go>
void each_target(FreeMan man, int from, const Occupied& occupied, Go go) {
    const int file = from % FILES, rank = from / FILES;
    switch (man.letter) {
        case 'R':
        case 'C':
            for (const auto& ray : RAYS[static_cast<size_t>(from)]) {
                int i = 0;
                for (; ray[i] >= 0 && !occupied[ray[i]]; ++i) go(ray[i]);
                if (ray[i] >= 0 && man.letter == 'C')
                    for (++i; ray[i] >= 0 && !occupied[ray[i]];) ++i;
                if (ray[i] >= 0) go(ray[i]);
            }
            break;
        case 'N':
            for (const auto& leap : LEAPS) {
                const int f = file + leap[0], r = rank + leap[1];
                if (on_board(f, r) && !occupied[file + leap[0] / 2 + FILES * (rank + leap[1] / 2)]) go(f + FILES * r);
            }
            break;
        default: {
            const int forward = man.side ? -1 : 1;
            if (on_board(file, rank + forward)) go(from + FILES * forward);
            if (man.side ? rank < 5 : rank > 4) {
                if (file > 0) go(from - 1);
                if (file < FILES - 1) go(from + 1);
            }
        }
    }
}

// Whether a free man could take on a square.
bool attacks(FreeMan man, int from, int target, const Occupied& occupied) {
    if (man.letter == 'R' || man.letter == 'C') {
        if (from % FILES != target % FILES && from / FILES != target / FILES) return false;
        const int step = from / FILES == target / FILES ? 1 : FILES;
        int between = 0;
        for (int s = std::min(from, target) + step; s < std::max(from, target); s += step) between += occupied[s] != 0;
        return between == (man.letter == 'C');
    }
    bool found = false;
    if (std::abs(from / FILES - target / FILES) <= 2)
        each_target(man, from, occupied, [&](int s) { found |= s == target; });
    return found;
}

// ---- rows ----

// Where all men stand. Free men in the order of the axes.
struct Standing {
    Placement frame[2];
    uint8_t free[MOST_FREE];
};

class Rows {
  public:
    Rows(std::pair<int, int> below, std::pair<int, int> above, const std::vector<std::pair<std::string, int>>& men)
        : side{{below.first, below.second, 0}, {above.first, above.second, 1}} {
        require(men.size() <= MOST_FREE, "too many free men");
        each = 1;
        for (const auto& [letter, of] : men) {
            free.push_back({letter.at(0), of});
            squares.push_back(squares_for(letter.at(0), of));
            auto& numbers = index.emplace_back();
            numbers.fill(-1);
            for (size_t i = 0; i < squares.back().size(); ++i) numbers[squares.back()[i]] = static_cast<int16_t>(i);
            each *= squares.back().size();
        }
        size_t stride = 1;
        part.resize(free.size());
        for (size_t i = free.size(); i-- > 0; stride *= squares[i].size())
            for (const uint8_t s : squares[i]) part[i][s] = static_cast<size_t>(index[i][s]) * stride;
        for (size_t i = 0; i + 1 < free.size(); ++i) has_like = has_like || free[i] == free[i + 1];
    }

    size_t blocks() const { return side[1].kept.size(); }
    size_t inner() const { return side[0].kept.size(); }
    size_t slots() const { return inner() * each; }

    // The number of the free men's squares; like men in any order.
    size_t free_slot(const uint8_t* square) const {
        uint8_t s[MOST_FREE] = {};
        for (size_t i = 0; i < free.size() && i < MOST_FREE; ++i) s[i] = square[i];
        for (size_t end = free.size(); end > 1; --end)
            for (size_t i = 0; i + 1 < end && i + 1 < MOST_FREE; ++i)
                if (free[i] == free[i + 1] && s[i] > s[i + 1]) std::swap(s[i], s[i + 1]);
        size_t slot = 0;
        for (size_t i = 0; i < free.size(); ++i) slot = slot * squares[i].size() + static_cast<size_t>(index[i][s[i]]);
        return slot;
    }

    // The block and the slot of a position that is shown as its block shows it.
    std::pair<size_t, size_t> find(const Standing& p) const {
        const auto [block, turned] = side[1].find(side[1].sorted(p.frame[1]));
        const Placement lower = side[0].sorted(p.frame[0]);
        const size_t plain = slot(lower, p.free, false), other = slot(lower, p.free, true);
        if (side[1].symmetric(block)) return {static_cast<size_t>(block), std::min(plain, other)};
        return {static_cast<size_t>(block), turned ? other : plain};
    }

    // Of free men that need not be in order.
    size_t mirrored_free_slot(const uint8_t* square) const {
        size_t found = 0;
        for (size_t i = 0; i < part.size(); ++i) found += part[i][across(square[i])];
        return found;
    }

    size_t slot(const Placement& lower, const uint8_t* square, bool turned) const {
        uint8_t shown[MOST_FREE] = {};
        for (size_t i = 0; i < free.size() && i < MOST_FREE; ++i)
            shown[i] = static_cast<uint8_t>(turned ? across(square[i]) : square[i]);
        const int number = side[0].find(turned ? side[0].mirrored(lower) : lower).first;
        return static_cast<size_t>(number) * each + free_slot(shown);
    }

    FrameSide side[2];
    std::vector<FreeMan> free;
    std::vector<std::vector<uint8_t>> squares;
    std::vector<std::array<int16_t, BOARD>> index;
    std::vector<std::array<size_t, BOARD>> part;  // of a slot, by man and square
    size_t each;                                  // slots of a placement
    bool has_like = false;                        // free men
};

// ---- keys ----

template <class Key>
constexpr Key DRAW = Key{1} << (8 * sizeof(Key) - 1);

template <class Key>
constexpr Key GREATEST = static_cast<Key>(-1);

// A loss in n has the value -n - 1: greatest - n in the key's own numbers.
template <class Key, class Value>
Key key_of(Value value) {
    if (value == 0) return DRAW<Key>;
    return value < 0 ? static_cast<Key>(value) : static_cast<Key>(value + 1);
}

template <class Key>
Key after_conversion(Key key) {
    if (key == DRAW<Key> || key == 0) return key;
    return key > DRAW<Key> ? GREATEST<Key> : 1;
}

template <class Value, class Key>
Value value_of(Key best) {
    if (best == DRAW<Key>) return 0;
    if (best > DRAW<Key>) return static_cast<Value>(GREATEST<Key> - best + 1);
    return static_cast<Value>(best == 0 ? -1 : -static_cast<int>(best));
}

// Of the order of proof: wins in n before losses in n, draws last.
int64_t rank_of(int64_t value) {
    if (value == 0) return INT64_MAX >> 1;
    return value > 0 ? 2 * value : 2 * (-value - 1) + 1;
}

template <class T>
using Array = nb::ndarray<T, nb::numpy, nb::c_contig, nb::device::cpu>;

// The keys of a smaller table with one side to move.
template <class Key>
struct Taken {
    const Rows* rows;
    bool swapped;
    const Key* keys;
};

using Checked = std::tuple<uint64_t, uint64_t, uint64_t, int64_t, int64_t, int, int>;

class XiangqiVerifier {
  public:
    XiangqiVerifier(std::pair<int, int> below, std::pair<int, int> above,
                    const std::vector<std::pair<std::string, int>>& men, bool carry_depth)
        : rows_(below, above, men), carry_depth_(carry_depth) {}

    const Rows& rows() const { return rows_; }

    // Writes the key of each slot of a block, 0 where it holds no position with `to_move` to move.
    template <class Value, class Key>
    void keys(int block, int to_move, Array<const Value> values, Array<Key> out) const {
        require(values.size() >= rows_.slots() && out.size() == rows_.slots(), "values do not fit");
        require(block >= 0 && static_cast<size_t>(block) < rows_.blocks(), "no such block");
        nb::gil_scoped_release release;
        const bool symmetric = rows_.side[1].symmetric(block);
        each_position(
            block,
            [&](size_t slot, const Standing& p, const Occupied& occupied) {
                out.data()[slot] = 0;
                if (!is_legal(p, to_move, occupied)) return;
                size_t stands = slot;
                if (rows_.has_like) stands = slot / rows_.each * rows_.each + rows_.free_slot(p.free);
                if (symmetric) stands = rows_.find(p).second;
                out.data()[slot] = key_of<Key>(values.data()[stands]);
            },
            [&](size_t slot) { out.data()[slot] = 0; }, [](size_t, const Standing&) {});
    }

    // Proves the values of a block: `quiet` are the keys of all blocks with the other side to move, `taken` by the man
    // that is taken (free men, then advisors and elephants) the verifier of the smaller table and its keys.
    template <class Value, class Key>
    Checked check(int block, int mover, Array<const Value> values, Array<const Key> quiet, const nb::list& taken,
                  Array<uint64_t> tally) const {
        require(values.size() >= rows_.slots() && quiet.size() == rows_.slots() * rows_.blocks(), "values do not fit");
        require(tally.size() == size_t{1} << (8 * sizeof(Value)), "a count for each value");
        const std::vector<Taken<Key>> smaller = smaller_of<Key>(taken);
        nb::gil_scoped_release release;
        uint64_t placed = 0, legal = 0, wrong = 0;
        int64_t first = -1, first_rank = 0;
        Value first_value = 0, first_expected = 0;
        FrameSteps steps;
        each_position(
            block,
            [&](size_t slot, const Standing& p, const Occupied& occupied) {
                if (!stands_alone(block, slot, p)) return;
                ++placed;
                if (!is_legal(p, mover, occupied)) return;
                ++legal;
                const Value stated = values.data()[slot];
                ++tally.data()[static_cast<std::make_unsigned_t<Value>>(stated)];
                const Value expected =
                    value_of<Value>(best(block, slot, mover, p, occupied, quiet.data(), smaller, steps));
                if (stated == expected) return;
                const int64_t rank = std::min(rank_of(stated), rank_of(expected));
                if (!wrong++ || rank < first_rank)
                    first = static_cast<int64_t>(slot), first_rank = rank, first_value = stated,
                    first_expected = expected;
            },
            [](size_t) {}, [&](size_t slot, const Standing& p) { steps = steps_of(block, slot, mover, p); });
        return {placed, legal, wrong, first, first_rank, first_value, first_expected};
    }

    // The first slot that holds a position with a value, -1 if there is none.
    template <class Value>
    int64_t find(int block, int to_move, Array<const Value> values, int value) const {
        require(values.size() >= rows_.slots(), "values do not fit");
        int64_t found = -1;
        each_position(
            block,
            [&](size_t slot, const Standing& p, const Occupied& occupied) {
                if (found < 0 && values.data()[slot] == value && stands_alone(block, slot, p) &&
                    is_legal(p, to_move, occupied))
                    found = static_cast<int64_t>(slot);
            },
            [](size_t) {}, [](size_t, const Standing&) {});
        return found;
    }

  private:
    // A step of a frame man, and where the position lies after it if nothing was taken: the key of a slot of the
    // placement is at `first` + the slot, or + the mirrored slot.
    struct FrameStep {
        uint8_t man, to;
        int8_t eye;  // -1 without one
        bool turned;
        size_t first;
    };
    struct FrameSteps {
        size_t slot = 0;  // the first one of the placement
        std::vector<FrameStep> steps;
    };

    // Calls at(slot, standing, occupied) for placings of all men on different squares, else none(slot); before that
    // begin(slot, standing) for each placement of the frame.
    template <class At, class None, class Begin>
    void each_position(int block, At at, None none, Begin begin) const {
        Standing p{};
        p.frame[1] = rows_.side[1].kept[static_cast<size_t>(block)];
        size_t slot = 0;
        for (const Placement& lower : rows_.side[0].kept) {
            p.frame[0] = lower;
            Occupied occupied{};
            for (int of = 0; of < 2; ++of)
                for (int i = 0; i < rows_.side[of].count(); ++i)
                    occupied[p.frame[of][i]] = static_cast<uint8_t>(1 + of);
            begin(slot, p);
            place_free(0, true, slot, p, occupied, at, none);
        }
    }

    template <class At, class None>
    void place_free(size_t man, bool apart, size_t& slot, Standing& p, Occupied& occupied, At& at, None& none) const {
        if (man == rows_.free.size() || man >= MOST_FREE) {
            if (apart) at(slot, p, occupied);
            else none(slot);
            ++slot;
            return;
        }
        for (const uint8_t s : rows_.squares[man]) {
            p.free[man] = s;
            const uint8_t before = occupied[s];
            occupied[s] = static_cast<uint8_t>(1 + rows_.free[man].side);
            place_free(man + 1, apart && !before, slot, p, occupied, at, none);
            occupied[s] = before;
        }
    }

    bool stands_alone(int block, size_t slot, const Standing& p) const {
        if (rows_.side[1].symmetric(block)) return rows_.find(p).second == slot;
        return !rows_.has_like || rows_.free_slot(p.free) == slot % rows_.each;
    }

    // Kings do not see each other, and the side that is not to move is not in check.
    bool is_legal(const Standing& p, int to_move, const Occupied& occupied) const {
        const int below = p.frame[0][0], above = p.frame[1][0];
        if (below % FILES == above % FILES) {
            bool open = true;
            for (int s = below + FILES; s < above; s += FILES) open = open && !occupied[s];
            if (open) return false;
        }
        const int king = to_move ? below : above;
        for (size_t i = 0; i < rows_.free.size(); ++i)
            if (rows_.free[i].side == to_move && attacks(rows_.free[i], p.free[i], king, occupied)) return false;
        return true;
    }

    // The best key of all moves.
    template <class Key>
    Key best(int block, size_t slot, int mover, const Standing& p, const Occupied& occupied, const Key* quiet,
             const std::vector<Taken<Key>>& taken, const FrameSteps& steps) const {
        Key found = 0;
        const auto consider = [&](Key key) { found = std::max(found, key); };
        const uint8_t own = static_cast<uint8_t>(1 + mover);
        const size_t here = static_cast<size_t>(block) * rows_.slots() + slot;
        for (size_t i = 0; i < rows_.free.size(); ++i) {
            if (rows_.free[i].side != mover) continue;
            const auto& part = rows_.part[i];
            const size_t without = here - part[p.free[i]];
            each_target(rows_.free[i], p.free[i], occupied, [&](int s) {
                if (!occupied[s]) consider(quiet[without + part[s]]);
                else if (occupied[s] != own) {
                    Standing after = p;
                    after.free[i] = static_cast<uint8_t>(s);
                    consider(capture(after, mover, s, taken));
                }
            });
        }
        frame_moves(slot - steps.slot, mover, p, occupied, quiet, taken, steps, consider);
        return found;
    }

    template <class Key, class Consider>
    void frame_moves(size_t free_slot, int mover, const Standing& p, const Occupied& occupied, const Key* quiet,
                     const std::vector<Taken<Key>>& taken, const FrameSteps& steps, Consider consider) const {
        size_t mirrored = 0;
        bool known = false;
        for (const FrameStep& step : steps.steps) {
            if ((step.eye >= 0 && occupied[step.eye]) || occupied[step.to] == 1 + mover) continue;
            if (occupied[step.to]) {
                Standing after = p;
                after.frame[mover][step.man] = step.to;
                consider(capture(after, mover, step.to, taken));
                continue;
            }
            if (step.turned && !known) {
                mirrored = rows_.mirrored_free_slot(p.free);
                known = true;
            }
            consider(quiet[step.first + (step.turned ? mirrored : free_slot)]);
        }
    }

    // The steps of a side's frame men where no free man is in the way; `slot` is the first one of the placement.
    FrameSteps steps_of(int block, size_t slot, int mover, const Standing& p) const {
        FrameSteps found{slot, {}};
        const FrameSide& side = rows_.side[mover];
        for (int man = 0; man < side.count(); ++man) {
            const int from = p.frame[mover][man], file = from % FILES, rank = from / FILES;
            const char letter = side.letter(man);
            const int length = letter == 'B' ? 2 : 1;
            for (int d = 0; d < 4; ++d) {
                const int df = letter == 'K' ? (d == 0) - (d == 1) : d & 1 ? 1 : -1;
                const int dr = letter == 'K' ? (d == 2) - (d == 3) : d & 2 ? 1 : -1;
                if (!on_board(file + length * df, rank + length * dr)) continue;
                const int to = from + length * (df + FILES * dr);
                if (!may_stand(letter, mover, to)) continue;
                const auto& own = p.frame[mover];
                if (std::find(own.begin(), own.begin() + side.count(), to) != own.begin() + side.count()) continue;
                Standing after = p;
                after.frame[mover][man] = static_cast<uint8_t>(to);
                const int eye = length == 2 ? from + df + FILES * dr : -1;
                const auto [first, turned] = first_after(block, slot, mover, after);
                found.steps.push_back(
                    {static_cast<uint8_t>(man), static_cast<uint8_t>(to), static_cast<int8_t>(eye), turned, first});
            }
        }
        return found;
    }

    // The first slot of the placement after a quiet move of a frame man, and whether it is shown mirrored.
    std::pair<size_t, bool> first_after(int block, size_t slot, int mover, const Standing& after) const {
        if (mover == 0) {
            const int inner = rows_.side[0].find(rows_.side[0].sorted(after.frame[0])).first;
            return {static_cast<size_t>(block) * rows_.slots() + static_cast<size_t>(inner) * rows_.each, false};
        }
        const auto [entered, turned] = rows_.side[1].find(rows_.side[1].sorted(after.frame[1]));
        const size_t first = static_cast<size_t>(entered) * rows_.slots();
        if (!turned) return {first + slot, false};
        const int inner = rows_.side[0].find(rows_.side[0].mirrored(after.frame[0])).first;
        return {first + static_cast<size_t>(inner) * rows_.each, true};
    }

    // The key after a man of the other side was taken on a square.
    template <class Key>
    Key capture(const Standing& after, int mover, int square, const std::vector<Taken<Key>>& taken) const {
        const int loser = 1 - mover;
        for (size_t i = 0; i < rows_.free.size(); ++i)
            if (rows_.free[i].side == loser && after.free[i] == square)
                return look_up(after, taken[i], static_cast<int>(i), -1, loser);
        const FrameSide& side = rows_.side[loser];
        for (int man = 1; man < side.count(); ++man)
            if (after.frame[loser][man] == square)
                return look_up(after,
                               taken[rows_.free.size() + 2 * static_cast<size_t>(loser) + (side.letter(man) == 'B')],
                               -1, man, loser);
        return 0;  // a king: the position before was not legal
    }

    template <class Key>
    Key look_up(const Standing& after, const Taken<Key>& smaller, int free_man, int frame_man, int loser) const {
        const Rows& theirs = *smaller.rows;
        Standing p{};
        for (int of = 0; of < 2; ++of) {
            int count = 0;
            for (int i = 0; i < rows_.side[of].count(); ++i) {
                if (of == loser && i == frame_man) continue;
                const int s = after.frame[of][i];
                p.frame[smaller.swapped ? 1 - of : of][count++] =
                    static_cast<uint8_t>(smaller.swapped ? upside_down(s) : s);
            }
        }
        bool given[MOST_FREE] = {};
        for (size_t i = 0; i < rows_.free.size() && i < MOST_FREE; ++i) {
            if (static_cast<int>(i) == free_man) continue;
            const FreeMan man{rows_.free[i].letter, smaller.swapped ? 1 - rows_.free[i].side : rows_.free[i].side};
            size_t place = 0;
            while (place + 1 < MOST_FREE && (!(theirs.free[place] == man) || given[place])) ++place;
            given[place] = true;
            p.free[place] = static_cast<uint8_t>(smaller.swapped ? upside_down(after.free[i]) : after.free[i]);
        }
        if (!smaller.keys) return is_legal_alone(p) ? DRAW<Key> : Key{0};
        const auto [block, slot] = theirs.find(p);
        const Key key = smaller.keys[block * theirs.slots() + slot];
        return carry_depth_ ? key : after_conversion(key);
    }

    // Bare kings: no table says whether they see each other.
    static bool is_legal_alone(const Standing& p) { return p.frame[0][0] % FILES != p.frame[1][0] % FILES; }

    template <class Key>
    std::vector<Taken<Key>> smaller_of(const nb::list& taken) const {
        require(taken.size() == rows_.free.size() + 4, "a smaller table or None for each man that can be taken");
        std::vector<Taken<Key>> found;
        for (nb::handle each : taken) {
            if (each.is_none()) {
                found.push_back({nullptr, false, nullptr});
                continue;
            }
            const auto given = nb::cast<nb::tuple>(each);
            const auto& verifier = nb::cast<const XiangqiVerifier&>(nb::object(given[0]));
            const Key* keys = nullptr;
            if (!given[2].is_none()) {
                const auto array = nb::cast<Array<const Key>>(nb::object(given[2]));
                require(array.size() == verifier.rows_.slots() * verifier.rows_.blocks(), "keys do not fit");
                keys = array.data();
            }
            found.push_back({&verifier.rows_, nb::cast<bool>(nb::object(given[1])), keys});
        }
        return found;
    }

    Rows rows_;
    bool carry_depth_;
};

template <class Value>
void bind_values(nb::class_<XiangqiVerifier>& verifier) {
    using Key = std::make_unsigned_t<Value>;
    const auto strict = nb::arg().noconvert();
    verifier.def("keys", &XiangqiVerifier::keys<Value, Key>, nb::arg(), nb::arg(), strict, strict)
        .def("check", &XiangqiVerifier::check<Value, Key>, nb::arg(), nb::arg(), strict, strict, nb::arg(), strict)
        .def("find", &XiangqiVerifier::find<Value>, nb::arg(), nb::arg(), strict, nb::arg());
}

}  // namespace

void bind_xiangqi_verifier(nb::module_& m) {
    nb::class_<XiangqiVerifier> verifier(m, "XiangqiVerifier");
    verifier
        .def(
            nb::init<std::pair<int, int>, std::pair<int, int>, const std::vector<std::pair<std::string, int>>&, bool>(),
            nb::arg("below"), nb::arg("above"), nb::arg("men"), nb::arg("carry_depth"))
        .def_prop_ro("blocks", [](const XiangqiVerifier& v) { return v.rows().blocks(); })
        .def_prop_ro("slots", [](const XiangqiVerifier& v) { return v.rows().slots(); });
    bind_values<int8_t>(verifier);
    bind_values<int16_t>(verifier);
}

}  // namespace kingpair::verify
