// Where the squares of the free men lie inside a placement (xiangqi.hpp).

#include "xiangqi.hpp"

namespace kingpair::xiangqi {

void Axes::add(FreeMan added, const std::vector<uint8_t>& squares) {
    man[men] = added;
    count[men] = static_cast<int>(squares.size());
    for (int16_t& each : index[men]) each = -1;
    for (size_t i = 0; i < squares.size(); ++i) {
        square[men][i] = squares[i];
        index[men][squares[i]] = static_cast<int16_t>(i);
    }
    ++men;
}

void Axes::finish() {
    for (int i = 0; i < outers(); ++i) outer *= static_cast<size_t>(count[i]);
    const auto lane_count = static_cast<size_t>(lanes());
    lane_rows = (lane_count + 31) / 32;
    rows = outer * lane_rows;
    lane_board.assign(lane_rows * 64, 0);
    for (int i = 0; men > 0 && i < count[men - 1]; ++i) bits.set(square[men - 1][i]);
    for (size_t lane = 0; men > 1 && lane < lane_count; ++lane) {
        const int at = square[men - 2][lane];
        lane_board[word_of_lane(lane) + (at < HALF ? 0 : 8)] = uint64_t{1} << (at % HALF);
    }
    const size_t last = men ? static_cast<size_t>(count[men - 1]) : 1;
    slots = outer * lane_count * last;
    slot_of_bit.assign(rows * 4096, -1);
    for (size_t placing = 0; placing < outer; ++placing)
        for (size_t lane = 0; lane < lane_count; ++lane)
            for (size_t i = 0; i < last; ++i) {
                const int at = men ? square[men - 1][i] : 0;
                const size_t w = word(placing, lane) + (at < HALF ? 0 : 8);
                const size_t place = w * 64 + static_cast<size_t>(at % HALF);
                slot_of_bit[place] = static_cast<int32_t>(bit_of_slot.size());
                bit_of_slot.push_back(static_cast<int32_t>(place));
            }
}

}  // namespace kingpair::xiangqi
