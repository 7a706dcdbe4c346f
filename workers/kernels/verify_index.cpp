// The board and the index of a table, derived from the description in workers/table/format.py alone.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>
#include <tuple>

#include "verify.hpp"

namespace kingpair::verify {

namespace {

constexpr int STEPS[16][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}, {1, 1},   {-1, 1},  {-1, -1}, {1, -1},
                              {1, 2}, {2, 1}, {-1, 2}, {-2, 1}, {-1, -2}, {-2, -1}, {1, -2},  {2, -1}};

constexpr uint64_t bit(int square) { return uint64_t{1} << square; }

Ray ray_from(int square, int direction) {
    Ray ray{};
    const auto [df, dr] = STEPS[direction];
    const int longest = direction < 8 ? 7 : 1;
    for (int f = (square & 7) + df, r = (square >> 3) + dr; f >= 0 && f < 8 && r >= 0 && r < 8 && ray.length < longest;
         f += df, r += dr)
        ray.square[ray.length++] = static_cast<uint8_t>(8 * r + f);
    return ray;
}

// The square that a symmetry shows a square on: files mirrored (1), ranks mirrored (2), then files for ranks (4).
int turn(int symmetry, int square) {
    int f = square & 7, r = square >> 3;
    if (symmetry & 1) f = 7 - f;
    if (symmetry & 2) r = 7 - r;
    if (symmetry & 4) std::swap(f, r);
    return 8 * r + f;
}

void look_along(Board& b, int from, const Ray& ray) {
    uint64_t passed = 0;
    for (int i = 0; i < ray.length; ++i) {
        const int at = ray.square[i];
        b.between[from][at] = passed;
        passed |= bit(at);
        for (int j = i + 1; j < ray.length; ++j) b.behind[from][at] |= bit(ray.square[j]);
    }
}

std::unique_ptr<Board> make_board() {
    auto b = std::make_unique<Board>();
    for (int s = 0; s < 64; ++s) {
        for (int d = 0; d < 16; ++d) {
            b->ray[d][s] = ray_from(s, d);
            if (d < 8) look_along(*b, s, b->ray[d][s]);
        }
        for (int kind = 0; kind < 4; ++kind)
            for (int d = DIRECTIONS[kind].first; d < DIRECTIONS[kind].last; ++d)
                for (int i = 0; i < b->ray[d][s].length; ++i) b->reach[kind][s] |= bit(b->ray[d][s].square[i]);
        for (int g = 0; g < 8; ++g) b->turned[g][s] = static_cast<uint8_t>(turn(g, s));
    }
    return b;
}

bool touch(int a, int b) { return std::abs((a & 7) - (b & 7)) <= 1 && std::abs((a >> 3) - (b >> 3)) <= 1; }

std::tuple<int, int, int> smallest_image(int stronger, int weaker) {
    std::tuple<int, int, int> best{64, 64, 8};
    for (int g = 0; g < 8; ++g) best = std::min(best, {turn(g, stronger), turn(g, weaker), g});
    return best;
}

std::unique_ptr<Kings> make_kings() {
    std::map<std::pair<int, int>, int> number;
    for (int a = 0; a < 64; ++a)
        for (int b = 0; b < 64; ++b)
            if (!touch(a, b)) number[{std::get<0>(smallest_image(a, b)), std::get<1>(smallest_image(a, b))}] = 0;
    auto k = std::make_unique<Kings>();
    int next = 0;
    for (auto& [squares, pair] : number) {
        if (next == PAIRS) std::abort();
        pair = next++;
        k->square[0][pair] = static_cast<uint8_t>(squares.first);
        k->square[1][pair] = static_cast<uint8_t>(squares.second);
        k->diagonal[pair] = squares.first % 9 == 0 && squares.second % 9 == 0;
    }
    for (int a = 0; a < 64; ++a)
        for (int b = 0; b < 64; ++b) {
            const auto [first, second, g] = smallest_image(a, b);
            k->pair[a][b] = static_cast<int16_t>(touch(a, b) ? -1 : number[{first, second}]);
            k->symmetry[a][b] = static_cast<uint8_t>(g);
        }
    return k;
}

bool same(Man a, Man b) { return a.kind == b.kind && a.side == b.side; }

// The letters of one side as numbers that sort as people list them; more men are stronger, then Q, R, B, N.
std::pair<int, std::vector<int>> strength(const Men& men, int side) {
    std::vector<int> kinds;
    for (int i = 0; i < men.count; ++i)
        if (men.man[i].side == side) kinds.push_back(static_cast<int>(men.man[i].kind));
    std::sort(kinds.begin(), kinds.end());
    return {-static_cast<int>(kinds.size()), kinds};
}

}  // namespace

const Board& board() {
    static const std::unique_ptr<Board> made = make_board();
    return *made;
}

const Kings& kings() {
    static const std::unique_ptr<Kings> made = make_kings();
    return *made;
}

Slots::Slots(const Men& men) : count_(men.count), like_{} {
    for (int i = 0; i + 1 < men.count; ++i) like_[i] = same(men.man[i], men.man[i + 1]);
}

bool Slots::like_men() const {
    return std::any_of(like_, like_ + count_, [](bool like) { return like; });
}

bool Slots::last_is_like() const { return count_ > 1 && like_[count_ - 2]; }

uint32_t Slots::ascending(uint8_t* s) const {
    for (int end = count_ - 1; end > 0; --end)
        for (int i = 0; i < end && i + 1 < MEN_MAX; ++i)
            if (like_[i] && s[i] > s[i + 1]) std::swap(s[i], s[i + 1]);
    uint32_t slot = 0;
    for (int i = 0; i < count_; ++i) slot = slot << 6 | s[i];
    return slot;
}

uint32_t Slots::of(const uint8_t* squares, bool diagonal) const {
    uint8_t s[MEN_MAX] = {};
    std::copy_n(squares, count_, s);
    const uint32_t slot = ascending(s);
    if (!diagonal) return slot;
    for (int i = 0; i < count_; ++i) s[i] = static_cast<uint8_t>(squares[i] >> 3 | (squares[i] & 7) << 3);
    return std::min(slot, ascending(s));
}

namespace {

std::array<uint8_t, MEN_MAX> squares_of(const Men& men, size_t slot) {
    std::array<uint8_t, MEN_MAX> s{};
    for (int i = 0; i < men.count; ++i) s[i] = slot >> 6 * (men.count - 1 - i) & 63;
    return s;
}

// The men in the order of the rows.
Men in_rows(const Men& men) {
    Men rows = men;
    const auto last = rows.man + men.outer();
    std::rotate(last - men.behind, last, last + 1);
    rows.behind = 0;
    return rows;
}

// The slots of the men but the last are the strips of all.
Twin twin_of(const Men& outer, uint32_t strip, bool diagonal) {
    const Slots strips(outer);
    auto s = squares_of(outer, strip);
    if (const uint32_t sorted = strips.of(s.data(), false); sorted < strip || !diagonal) return {sorted, false};
    for (uint8_t& square : s) square = static_cast<uint8_t>(turn(4, square));
    const uint32_t turned = strips.of(s.data(), false);
    return turned < strip ? Twin{turned, true} : Twin{strip, false};
}

}  // namespace

Standing standing_for(const Men& men, bool diagonal) {
    const Slots slots(men), rows(in_rows(men));
    if (!diagonal && !slots.like_men()) return {};
    Standing found{std::vector<uint32_t>(men.slots()), std::vector<uint64_t>(men.strips()), {}, slots.last_is_like()};
    for (size_t slot = 0; slot < men.slots(); slot += 64) {
        auto squares = squares_of(men, men.row_of(slot));
        uint8_t& last = squares[static_cast<size_t>(men.outer() - men.behind)];
        for (last = 0; last < 64; ++last) {
            const size_t stands = men.slot_of(rows.of(squares.data(), diagonal));
            found.slot[slot + last] = static_cast<uint32_t>(stands);
            if (stands == slot + last) found.own[slot / 64] |= bit(last);
        }
    }
    Men outer = men;
    --outer.count;
    outer.behind = 0;
    for (uint32_t strip = 0; strip < men.strips(); ++strip) found.twin.push_back(twin_of(outer, strip, diagonal));
    return found;
}

std::vector<std::vector<int>> walks(int side) {
    std::map<int, std::vector<int>> by_other;
    for (int pair = 0; pair < PAIRS; ++pair) {
        int smallest = 64;
        for (int g = 0; g < 8; ++g) smallest = std::min(smallest, turn(g, kings().square[1 - side][pair]));
        by_other[smallest].push_back(pair);
    }
    std::vector<std::vector<int>> found;
    for (auto& [other, pairs] : by_other) found.push_back(std::move(pairs));
    return found;
}

Smaller::Smaller(const Men& men, int captive) : ours{}, theirs{}, shift{} {
    for (int i = 0; i < men.count; ++i)
        if (i != captive) ours.man[ours.count++] = men.man[i];
    swapped = strength(ours, 1) < strength(ours, 0);
    std::vector<int> order(static_cast<size_t>(ours.count));
    std::iota(order.begin(), order.end(), 0);
    const auto rank = [&](int i) { return std::pair(swapped == ours.man[i].side, ours.man[i].kind); };
    std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return rank(i) < rank(j); });
    for (int i : order) {
        theirs.man[theirs.count++] = {ours.man[i].kind, static_cast<uint8_t>(ours.man[i].side ^ swapped)};
        shift[i] = 6 * (ours.count - theirs.count);
    }
    for (bool diagonal : {false, true}) standing[diagonal] = standing_for(theirs, diagonal);
}

}  // namespace kingpair::verify
