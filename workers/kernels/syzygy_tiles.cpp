// Reads all values of a sub-table; the header explains the order.

#include "syzygy_tiles.hpp"

#include <algorithm>
#include <numeric>

namespace kingpair::syzygy {

TileReader::TileReader(const PositionSource& source, int to_move) : source_(source), strips_(source, to_move) {
    for (const Group& group : source.groups)
        if (group.kind == GroupKind::LIKE && group.men == 1 && (!moving_ || group.factor < moving_->factor))
            moving_ = &group;
    if (!moving_) return;
    for (const Group& group : source.groups) {
        if (&group == moving_) continue;
        others_.push_back(group);
        Group& other = others_.back();
        other.first -= other.first > moving_->first;
        sizes_.push_back(syzygy::placings(other.kind, other.men, other.first, source.file));
        placings_ *= sizes_.back();
    }
    order_.resize(others_.size());
    std::iota(order_.begin(), order_.end(), size_t{0});
    const auto slower = [&](size_t a, size_t b) {
        const int first = slowness(others_[a]), second = slowness(others_[b]);
        return first != second ? first > second : others_[a].factor > others_[b].factor;
    };
    std::sort(order_.begin(), order_.end(), slower);
}

// Pawns whose digits weigh less than that of the moving man are faster than kings, or each strip would be written far
// from the one before.
int TileReader::slowness(const Group& group) const {
    if (group.kind == GroupKind::PAWNS || group.kind == GroupKind::OTHER_PAWNS)
        return group.factor < moving_->factor ? 1 : 3;
    const auto* const men = source_.men.data() + group.first + (group.first >= moving_->first);
    return std::any_of(men, men + group.men, [](uint8_t man) { return piece_of(man) == KING; }) ? 2 : 0;
}

// Finds the digits of a placing, and returns the first group whose men stand elsewhere.
size_t TileReader::place(uint64_t placing) {
    for (size_t i = order_.size(); i-- > 0; placing /= sizes_[order_[i]])
        digits_[order_[i]] = placing % sizes_[order_[i]];
    return 0;
}

// The same for the placing that follows.
size_t TileReader::next() {
    size_t changed = others_.size();
    for (size_t i = order_.size(); i-- > 0;) {
        uint64_t& digit = digits_[order_[i]];
        changed = std::min(changed, order_[i]);
        if (++digit < sizes_[order_[i]]) break;
        digit = 0;
    }
    return changed;
}

void TileReader::move_in(size_t changed) {
    place_digits(others_, source_.file, digits_, standing_, changed);
    const size_t before = moving_->first;
    std::copy_n(standing_, before, squares_);
    std::copy(standing_ + before, standing_ + source_.men.size() - 1, squares_ + before + 1);
    strips_.place(squares_, before);
}

void TileReader::read(uint64_t begin, uint64_t end, uint16_t* results, uint16_t* distances) {
    for (uint64_t placing = begin; placing < end; ++placing) {
        move_in(placing == begin ? place(placing) : next());
        read_strip(results, distances);
    }
}

void TileReader::read_strip(uint16_t* results, uint16_t* distances) {
    uint64_t rest = ~uint64_t{0}, later = 0;  // lanes, and the men that are placed behind the moving one
    for (size_t i = 0; i < source_.men.size(); ++i) {
        if (i != moving_->first) rest &= ~bit(squares_[i]);
        if (i > moving_->first) later |= bit(squares_[i]);
    }
    strips_.read_lanes(rest, results, distances);
    while (rest) {
        const int first = __builtin_ctzll(rest);
        const uint64_t ahead = later & ~uint64_t{0} << first;
        uint64_t following = ahead ? rest & (bit(__builtin_ctzll(ahead)) - 1) : rest;
        rest &= ~following;
        for (uint64_t number = number_with(first); following; following &= following - 1, number += moving_->factor) {
            const int lane = __builtin_ctzll(following);
            if (results) results[number] = strips_.result(lane);
            if (distances) distances[number] = strips_.distance(lane);
        }
    }
}

// The number of the position with the moving man on a square.
uint64_t TileReader::number_with(int lane) {
    squares_[moving_->first] = static_cast<uint8_t>(lane);
    uint64_t number = 0;
    const uint64_t* digit = digits_;
    for (const Group& group : source_.groups) {
        if (&group == moving_) {
            number += group.factor * digit_of_set(squares_, group);
        } else if (group.first < moving_->first) {
            number += group.factor * *digit++;
        } else if (group.men == 1) {
            number += group.factor * (*digit++ - (lane < squares_[group.first]));
        } else {
            number += group.factor * digit_of_set(squares_, group);
            ++digit;
        }
    }
    return number;
}

void read_part(const PositionSource& source, int to_move, uint64_t part, uint64_t parts, std::span<uint16_t> results,
               std::span<uint16_t> distances) {
    TileReader tiles(source, to_move);
    const uint64_t all = tiles.is_possible() ? tiles.placings() : std::max(results.size(), distances.size());
    const uint64_t begin = all * part / parts, end = all * (part + 1) / parts;
    if (tiles.is_possible())
        tiles.read(begin, end, results.empty() ? nullptr : results.data(),
                   distances.empty() ? nullptr : distances.data());
    else
        read_positions(source, to_move, begin, results.empty() ? results : results.subspan(begin, end - begin),
                       distances.empty() ? distances : distances.subspan(begin, end - begin));
}

}  // namespace kingpair::syzygy
