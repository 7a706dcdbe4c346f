// Makes symbols of values; the header explains how.

#include "syzygy_pairing.hpp"

#include <algorithm>
#include <cmath>

namespace kingpair::syzygy {

namespace {

constexpr size_t PAIRS_A_ROUND = 250;
constexpr uint32_t VALUES_A_SYMBOL = 256;
constexpr size_t ROOM = 3;  // a run becomes pairs in it, what is left, and a pair with the next

constexpr uint32_t PLUS = 1, MINUS = ~uint32_t{0};

}  // namespace

Pairing::Pairing(std::span<const uint16_t> values, int symbols, PairingRoom& room)
    : most_(static_cast<size_t>(symbols)), sequence_(room.sequence), replaced_(room.replaced), pairs_(room) {
    read_runs(values);
    number_symbols();
    most_ += limits_.size();
    pairs_.make_room(most_);
    frequency_.resize(most_);
    row_.resize(most_);
}

void Pairing::read_runs(std::span<const uint16_t> values) {
    size_t runs = !values.empty();
    for (size_t i = 1; i < values.size(); ++i) runs += values[i] != values[i - 1];
    sequence_.clear(ROOM * runs);
    for (size_t i = 0; i < values.size();) {
        const size_t begin = i;
        i = end_of_run(values, begin);
        sequence_.push({values[begin], static_cast<uint32_t>(i - begin)});
    }
}

// Numbers the values, the free ones behind the others.
void Pairing::number_symbols() {
    std::vector<int32_t> number(1 << 16, -1);
    for (const Run& run : sequence_) number[run.symbol] = 0;
    for (int value = 0; value < 1 << 16; ++value) {
        if (number[value] < 0) continue;
        number[value] = static_cast<int32_t>(symbols_.size());
        if (value >= FREE) limits_.push_back(value - FREE);
        else literals_ = symbols_.size() + 1;
        symbols_.push_back({static_cast<uint16_t>(value), LITERAL});
        lengths_.push_back(1);
    }
    for (size_t i = 0; i < sequence_.size(); ++i)
        sequence_.put(i, {static_cast<uint16_t>(number[sequence_[i].symbol]), sequence_[i].count});
}

void Pairing::run(const std::function<void()>& pause) {
    count_all();
    while (symbols_.size() < most_) {
        pause();
        match_free(PLUS);
        const auto chosen = choose(worth_a_symbol());
        match_free(MINUS);
        pairs_.drop_uncounted();
        if (chosen.empty()) break;
        replace(chosen);
    }
    settle_free();
}

// ---- counting ----

// Counts a run, and the pairs in it that do not overlap: every other symbol begins one.
void Pairing::count_run(Run run, uint32_t sign) {
    const auto [symbol, count] = run;
    if (sign == PLUS) frequency_[symbol] += count;
    else frequency_[symbol] -= count;
    if (count > 1) pairs_.add(symbol, symbol, sign * (count / 2));
}

void Pairing::count_all() {
    for (size_t i = 0; i < sequence_.size(); ++i) {
        count_run(sequence_[i], PLUS);
        if (i + 1 < sequence_.size()) pairs_.add(sequence_[i].symbol, sequence_[i + 1].symbol, PLUS);
    }
}

// Counts free values as each literal that they may become, or takes that back.
void Pairing::match_free(uint32_t sign) {
    if (limits_.empty()) return;
    const auto each_literal = [&](size_t free, auto then) {
        for (size_t s = 0; s < literals_ && symbols_[s].first <= limits_[free - literals_]; ++s) then(s);
    };
    const size_t listed = pairs_.places().size();
    for (size_t i = 0; i < listed; ++i) {
        const uint32_t place = pairs_.places()[i];
        const size_t a = pairs_.first(place), b = pairs_.second(place);
        if (is_free(a) == is_free(b)) continue;
        const uint32_t count = sign * pairs_.count(place);
        if (is_free(b)) each_literal(b, [&](size_t literal) { pairs_.add(a, literal, count); });
        else each_literal(a, [&](size_t literal) { pairs_.add(literal, b, count); });
    }
}

// ---- choosing ----

// The counted pairs that save more bits than their entries take and are at least half as frequent as the first of them,
// the most frequent first.
std::vector<Pairing::Pair> Pairing::worth_a_symbol() const {
    double total = 0;
    for (const uint64_t n : frequency_) total += static_cast<double>(n);
    // A code has one bit at least.
    const auto bits = [&](uint64_t count) { return std::max(1.0, std::log2(total / static_cast<double>(count))); };
    std::vector<double> of_symbol(symbols_.size(), 0);
    for (size_t i = 0; i < symbols_.size(); ++i)
        if (frequency_[i]) of_symbol[i] = bits(frequency_[i]);
    uint32_t most = 0;
    std::vector<Pair> found;
    for (const uint32_t place : pairs_.places()) {
        const uint32_t c = pairs_.count(place);
        if (c < 2 || uint64_t{2} * c < most) continue;
        const size_t a = pairs_.first(place), b = pairs_.second(place);
        if (is_free(a) || is_free(b) || lengths_[a] + lengths_[b] > VALUES_A_SYMBOL) continue;
        if (c * (of_symbol[a] + of_symbol[b] - bits(c)) < SYMBOL_BITS) continue;
        found.push_back({static_cast<uint16_t>(a), static_cast<uint16_t>(b), c});
        most = std::max(most, c);
    }
    std::erase_if(found, [&](const Pair& p) { return uint64_t{2} * p.count < most; });
    std::sort(found.begin(), found.end(), [](const Pair& x, const Pair& y) {
        if (x.count != y.count) return x.count > y.count;
        return x.first != y.first ? x.first < y.first : x.second < y.second;
    });
    return found;
}

// Pairs of which none begins with what another ends with.
std::vector<Pairing::Pair> Pairing::choose(const std::vector<Pair>& sorted) const {
    std::vector<uint8_t> begins(symbols_.size(), 0), ends(symbols_.size(), 0);
    std::vector<Pair> chosen;
    for (const Pair& p : sorted) {
        if (chosen.size() == PAIRS_A_ROUND || symbols_.size() + chosen.size() == most_) break;
        if (ends[p.first] || begins[p.second]) continue;
        if (p.first == p.second && (begins[p.first] || ends[p.first])) continue;
        begins[p.first] = ends[p.second] = 1;
        chosen.push_back(p);
    }
    return chosen;
}

// ---- replacing ----

void Pairing::replace(const std::vector<Pair>& chosen) {
    std::fill(row_.begin(), row_.end(), 0);
    replacement_.assign(columns(), 0);  // of symbols that begin no pair
    role_.assign(columns(), 0);
    for (const Pair& p : chosen) {
        claim(p, static_cast<uint16_t>(symbols_.size()));
        symbols_.push_back({p.first, p.second});
        lengths_.push_back(lengths_[p.first] + lengths_[p.second]);
    }
    const size_t runs = sequence_.size();
    replaced_.clear(ROOM * runs);
    sequence_.put(runs, {static_cast<uint16_t>(most_), 0});
    bool is_new = false;  // whether the last replaced run was not there before
    bool was_changed = false;
    uint32_t taken = 0;  // of this run, by a pair that began in the run before
    for (size_t i = 0; i < runs; ++i) {
        if (!(taken | was_changed)) {
            i = copy_unchanged(i, runs);
            if (i == runs) break;
        }
        const Run run = sequence_[i];
        const uint16_t* const second = &replacement_[row_[run.symbol]];
        const uint32_t pair = second[sequence_[i + 1].symbol], twin = run.count > 1 ? second[run.symbol] : 0;
        const bool is_changed = pair | twin | taken;
        if (i) pairs_.add(sequence_[i - 1].symbol, run.symbol, MINUS);
        if (is_changed) {
            count_run(run, MINUS);
            taken = replace_run({run.symbol, run.count - taken}, twin, pair, is_new);
        } else {
            add_replaced(run, is_new, false);
            is_new = false;
        }
        was_changed = is_changed;
    }
    if (is_new) count_run(replaced_.back(), PLUS);
    std::swap(sequence_, replaced_);
}

// Copies runs that no chosen pair begins in, and returns the first other one. Few symbols begin or end a pair.
size_t Pairing::copy_unchanged(size_t from, size_t runs) {
    const Run* const all = sequence_.begin();
    const uint8_t* const role = role_.data();
    size_t i = from;
    for (uint8_t next = role[all[i].symbol]; i < runs; ++i) {
        const uint8_t own = next;
        next = role[all[i + 1].symbol];
        if (!(own & BEGINS) || !((next | (all[i].count > 1 ? own : 0)) & ENDS)) continue;
        const uint16_t* const second = &replacement_[row_[all[i].symbol]];
        if (second[all[i + 1].symbol] | (all[i].count > 1 ? second[all[i].symbol] : 0)) break;
    }
    replaced_.push(all + from, all + i);
    return i;
}

// Replaces the pairs in a run, and the one with the next, of which it returns how many it takes.
uint32_t Pairing::replace_run(Run run, uint32_t twin, uint32_t pair, bool& is_new) {
    const auto add_new = [&](uint32_t symbol, uint32_t count) {
        if (!count) return;
        add_replaced({static_cast<uint16_t>(symbol), count}, is_new, true);
        is_new = true;
    };
    if (twin && run.count > 1) {
        add_new(twin, run.count / 2);
        run.count %= 2;
    }
    const uint32_t taken = pair && run.count;
    add_new(run.symbol, run.count - taken);
    add_new(pair, taken);
    return taken;
}

// Adds a run, or lengthens the last one. The last one is counted when it is known how long it is. Two runs that were
// neighbours before are counted as such already.
inline void Pairing::add_replaced(Run run, bool is_last_new, bool is_new) {
    if (replaced_.size()) {
        Run& last = replaced_.back();
        if (last.symbol == run.symbol) {
            last.count += run.count;
            return;
        }
        if (is_last_new) count_run(last, PLUS);
        if (is_last_new || is_new) pairs_.add(last.symbol, run.symbol, PLUS);
    }
    replaced_.push(run);
}

// Enters a new symbol for a pair, and for free values in the place of its literals.
void Pairing::claim(const Pair& p, uint16_t symbol) {
    const auto forms = [&](size_t s) {
        std::vector<size_t> found{s};
        for (size_t k = 0; k < limits_.size() && s < literals_; ++k)
            if (symbols_[s].first <= limits_[k]) found.push_back(literals_ + k);
        return found;
    };
    for (const size_t a : forms(p.first))
        for (const size_t b : forms(p.second)) {
            if (!row_[a]) {
                row_[a] = static_cast<uint32_t>(replacement_.size());
                replacement_.resize(replacement_.size() + columns());
            }
            role_[a] |= BEGINS;
            role_[b] |= ENDS;
            uint16_t& entry = replacement_[row_[a] + b];
            if (!entry) entry = symbol;
        }
}

// Free values that no pair took become the most frequent literal that they may be.
void Pairing::settle_free() {
    frequency_.resize(symbols_.size());
    if (limits_.empty()) return;
    std::vector<uint16_t> becomes(symbols_.size());
    for (size_t s = 0; s < symbols_.size(); ++s)
        becomes[s] = static_cast<uint16_t>(s < literals_ ? s : s - limits_.size());
    for (size_t k = 0; k < limits_.size(); ++k) {
        size_t best = 0;
        for (size_t s = 0; s < literals_ && symbols_[s].first <= limits_[k]; ++s)
            if (frequency_[s] > frequency_[best]) best = s;
        becomes[literals_ + k] = static_cast<uint16_t>(best);
    }
    replaced_.clear(sequence_.size());
    for (const Run& run : sequence_) {
        const uint16_t symbol = becomes[run.symbol];
        if (replaced_.size() && replaced_.back().symbol == symbol) replaced_.back().count += run.count;
        else replaced_.push({symbol, run.count});
    }
    std::swap(sequence_, replaced_);
    frequency_.assign(symbols_.size() - limits_.size(), 0);
    for (const Run& run : sequence_) frequency_[run.symbol] += run.count;
    const auto begin = static_cast<std::ptrdiff_t>(literals_),
               end = begin + static_cast<std::ptrdiff_t>(limits_.size());
    symbols_.erase(symbols_.begin() + begin, symbols_.begin() + end);
    lengths_.erase(lengths_.begin() + begin, lengths_.begin() + end);
    for (auto& [first, second] : symbols_)
        if (second != LITERAL) {
            first = becomes[first];
            second = becomes[second];
        }
    limits_.clear();
}

}  // namespace kingpair::syzygy
