// The best moves of all positions of a pawn structure, a strip at a time.

#pragma once

#include "pawn_entries.hpp"

namespace kingpair::verify {
namespace {

// Calls a function with the squares and the number of each strip of some pairs of kings, in this order. Without pieces
// one of the kings has the lane, and all pairs are meant.
template <class Function>
void for_each_strip(const IndexedTable& table, std::span<const int16_t> pairs, Function f) {
    uint8_t squares[AXES_MAX] = {};
    if (table.men.count == 0) {
        for (size_t s = 0; s < 64; ++s) {
            squares[0] = static_cast<uint8_t>(s);
            f(squares, s);
        }
        return;
    }
    const FixedKings& kings = fixed_kings();
    const int bits = 6 * table.men.outer();
    for (const int pair : pairs) {
        squares[0] = kings.square[0][pair];
        squares[1] = kings.square[1][pair];
        const size_t first = (size_t{squares[0]} << 6 | squares[1]) << bits;
        for (size_t low = 0; low < size_t{1} << bits; ++low) {
            for (int i = 0; i < table.men.outer(); ++i) squares[2 + i] = low >> (bits - 6 * (i + 1)) & 63;
            f(squares, first | low);
        }
    }
}

template <class Key>
Strip<Key> by_king(const Strip<Key>& at) {
    const Strip<Key> beside = larger(along<1>(at), along<-1>(at)), rank = larger(at, beside);
    return larger(beside, larger(across<1>(rank), across<-1>(rank)));
}

// Keys of all positions of a structure. A thread uses the memory of the last ones again, as new memory costs more to
// get than to fill.
template <class Key>
class KeyMemory {
  public:
    explicit KeyMemory(size_t size) : size_(size) {
        if (!spare().empty() && spare().back().size == size) {
            keys_ = std::move(spare().back().keys);
            spare().pop_back();
        } else {
            spare().clear();
            keys_.reset(new Key[size]);
        }
    }
    ~KeyMemory() {
        if (keys_) spare().push_back({size_, std::move(keys_)});
    }
    KeyMemory(const KeyMemory&) = delete;
    KeyMemory& operator=(const KeyMemory&) = delete;

    Key* get() const { return keys_.get(); }

  private:
    struct Spare {
        size_t size;
        std::unique_ptr<Key[]> keys;
    };

    static std::vector<Spare>& spare() {
        static thread_local std::vector<Spare> found;
        return found;
    }

    size_t size_;
    std::unique_ptr<Key[]> keys_;
};

// The successors of the positions of a plan. A capture by a king or a piece is read like a quiet move: the slot in
// which captor and captive meet holds the key after the capture.
//
// Cost: a strip of keys for each strip of the group; two or three legality tests a strip, and a load for each move of
// the men but the last.
template <class Key>
class StructureMoves {
  public:
    StructureMoves(const IndexedTable& table, const Plan& plan, const Rules& rules, const Group& group)
        : plan_(plan),
          rules_(rules),
          group_(group),
          last_(1 + table.men.count),
          keys_(group.squares << 6 * (group.is_whole ? last_ : last_ - 1) << 6) {
        const int next = 1 - plan.mover;
        for (const Push& push : plan.pushes) {
            pushes_.push_back({push, {push.after, &push.into, 1, next, rules.push, last_}, {}, nullptr});
            for (const Conversion& each : push.en_passant)
                pushes_.back().captures.emplace_back(each.after, each.into, each.count, plan.mover, rules.conversion,
                                                     last_);
            if (push.answer)
                pushes_.back().answer = std::make_unique<StructureMoves>(table, *push.answer, rules, group);
        }
        for (const Conversion& each : plan.conversions)
            conversions_.push_back({each,
                                    {each.after, each.into, each.count, next, rules.conversion, last_},
                                    {each.after, each.into, each.count, next, rules.conversion, last_}});
        fill(table);
    }

    // The best key of each position of a strip; 0 where there is no move, or anything where there is no position.
    Strip<Key> best(const uint8_t* squares, size_t number) {
        return best(Placed(plan_.here, squares, last_), squares, number);
    }

    Strip<Key> best(const Placed& p, const uint8_t* squares, size_t number) {
        const size_t strip = place_of(squares, number);
        Strip<Key> best{};
        for (int i = 0; i < plan_.here.count; ++i) {
            if (plan_.here.man[i].side != plan_.mover) continue;
            if (i == last_) best = larger(best, by_last(strip, p));
            else if (i < 2) by_standing_king(i, strip, p, best);
            else by_standing_piece(i, strip, p, best);
        }
        for (auto& push : pushes_)
            if (!(push.push.passed & p.occupied)) best = larger(best, keys_of_push(push, squares, number));
        for (auto& each : conversions_) convert(each, squares, best);
        return best;
    }

  private:
    struct Pushed {
        const Push& push;
        Entered<Key> entered;
        std::vector<Entered<Key>> captures;  // en passant
        std::unique_ptr<StructureMoves> answer;
    };

    struct Converted {
        const Conversion& conversion;
        Entered<Key> entered;
        KeysOfPlane<Key> taken;  // with the man of the lane taken
    };

    // Where the keys of a strip are. Of a group the strips of its squares follow each other, each with all squares of
    // the king that moves.
    size_t place_of(const uint8_t* squares, size_t number) const {
        if (group_.is_whole) return number;
        const int bits = 6 * (last_ - 2);
        const auto stands = static_cast<size_t>(group_.place[squares[1 - plan_.mover]]);
        return (stands << 6 | squares[plan_.mover]) << bits | (number & ((size_t{1} << bits) - 1));
    }

    // ---- the strips that kings and pieces enter ----

    // Captures of a piece, or of the pawn on a square, by kings and pieces.
    struct Captured {
        Entered<Key> standing;  // by the lane
        KeysOfPlane<Key> met;   // with the man of the lane where he meets the captive, or taken
    };

    void fill(const IndexedTable& table) {
        const int next = 1 - plan_.mover;
        Entered<Key> quiet(plan_.here, &plan_.entered, 1, next, rules_.quiet, last_);
        std::vector<Captured> captures;
        for (const Capture& each : plan_.captures)
            captures.push_back({{each.after, &each.into, 1, next, rules_.conversion, last_},
                                {each.after, &each.into, 1, next, rules_.conversion, last_}});
        for_each_strip(table, group_.pairs, [&](const uint8_t* squares, size_t number) {
            Key* here = keys_.get() + 64 * place_of(squares, number);
            store<Key>(here, quiet.strip(squares));
            for (size_t i = 0; i < captures.size(); ++i) enter(plan_.captures[i], captures[i], squares, here);
        });
    }

    void enter(const Capture& capture, Captured& captured, const uint8_t* squares, Key* here) const {
        if (capture.captive == last_) {
            if (const Key key = captured.met.key(squares, 0))
                for (int i = 0; i < last_; ++i)
                    if (moves(i)) here[squares[i]] = key;
            return;
        }
        const uint8_t meet =
            capture.captive == NO_AXIS ? static_cast<uint8_t>(capture.square) : squares[capture.captive];
        for (int i = 0; i < last_; ++i)
            if (moves(i) && squares[i] == meet) {
                store<Key>(here, captured.standing.strip(squares));
                return;
            }
        if (!moves(last_)) return;
        if (const Key key = captured.met.key(squares, meet)) here[meet] = key;
    }

    // ---- quiet moves ----

    bool moves(int axis) const { return plan_.here.man[axis].side == plan_.mover; }

    Strip<Key> with(size_t strip, int axis, int to) const {
        const int shift = 6 * (axis < 2 && !group_.is_whole ? last_ - 2 : last_ - 1 - axis);
        return load<Key>(keys_.get() + 64 * ((strip & ~(size_t{63} << shift)) | static_cast<size_t>(to) << shift));
    }

    void by_standing_king(int king, size_t strip, const Placed& p, Strip<Key>& best) const {
        uint64_t to = near(p.of[king]) & ~bit(p.of[king]);
        if (last_ > 1) to &= ~near(p.of[1 - king]);
        for (; to; to &= to - 1) best = larger(best, with(strip, king, __builtin_ctzll(to)));
    }

    void by_standing_piece(int man, size_t strip, const Placed& p, Strip<Key>& best) const {
        const auto [first, last] = DIRECTIONS[static_cast<int>(plan_.here.man[man].kind)];
        for (int d = first; d < last; ++d) {
            const Ray& ray = board_.ray[d][p.of[man]];
            Strip<Key> open = ~Strip<Key>{};  // where the man of the lane is not in the way
            for (int i = 0; i < ray.length; ++i) {
                const int to = ray.square[i];
                best = larger(best, with(strip, man, to) & open);
                if (p.occupied >> to & 1) break;
                open = open & ~only<Key>(to);
            }
        }
    }

    Strip<Key> by_last(size_t strip, const Placed& p) const {
        const Strip<Key> here = load<Key>(keys_.get() + 64 * strip);
        if (last_ < 2) return by_king(here);
        const Kind kind = plan_.here.man[last_].kind;
        return kind == Kind::knight ? by_knight(here) : by_slider(kind, here, lanes<Key>(~p.occupied));
    }

    // ---- moves of pawns ----

    Strip<Key> keys_of_push(Pushed& pushed, const uint8_t* squares, size_t number) {
        const Strip<Key> keys = pushed.entered.strip(squares) & lanes<Key>(~pushed.push.passed);
        return pushed.answer && any(keys) ? with_right(pushed, squares, number, keys) : keys;
    }

    // The keys of a double step with the right to capture en passant.
    Strip<Key> with_right(Pushed& pushed, const uint8_t* squares, size_t number, const Strip<Key>& keys) {
        Strip<Key> captures{};
        for (auto& each : pushed.captures) captures = larger(captures, each.strip(squares));
        const Strip<Key> changed = ~equal<Key>(captures, 0) & ~equal<Key>(keys, 0);
        if (!any(changed)) return keys;
        const Strip<Key> has_other = ~equal<Key>(pushed.answer->best(squares, number), 0);
        const Strip<Key> better = larger(captures, best_that_gave<Key>(keys, rules_.push) & has_other);
        return (keys_of<Key>(values_of(better), rules_.push) & changed) | (keys & ~changed);
    }

    void convert(Converted& converted, const uint8_t* squares, Strip<Key>& best) {
        auto& [c, entered, taken] = converted;
        if (c.captive == last_) {
            if (const Key key = taken.key(squares, 0)) best = larger(best, all<Key>(key) & only<Key>(c.square));
        } else if (c.captive == NO_AXIS || squares[c.captive] == c.square) {
            best = larger(best, entered.strip(squares));
        }
    }

    const Plan& plan_;
    const Rules& rules_;
    const Group& group_;
    const int last_;  // the axis of the lane
    const Board& board_ = board();
    const KeyMemory<Key> keys_;
    std::vector<Pushed> pushes_;
    std::vector<Converted> conversions_;
};

}  // namespace
}  // namespace kingpair::verify
