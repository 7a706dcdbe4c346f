// Reads all values of a sub-table, in an order in which tables of ours are read near by.
//
// One single man moves from lane to lane, the others stand; so all squares of that man are one strip, whatever the
// numbers. Of the others, pawns and kings move last: for a placing of these, our tables have the positions in a few
// kilobytes. Numbers, and with them the places that are written, follow one another within a strip as long as the
// moving man passes no man that is placed behind it.

#pragma once

#include "syzygy_strips.hpp"

namespace kingpair::syzygy {

class TileReader {
  public:
    TileReader(const PositionSource&, int to_move);

    // Whether there is a man that can move so.
    bool is_possible() const { return moving_; }

    // In how many ways the other men stand.
    uint64_t placings() const { return placings_; }

    // Reads the values of these placings; results and distances only where there is room for them.
    void read(uint64_t begin, uint64_t end, uint16_t* results, uint16_t* distances);

  private:
    int slowness(const Group&) const;
    size_t place(uint64_t placing);
    size_t next();
    void move_in(size_t changed);
    void read_strip(uint16_t* results, uint16_t* distances);
    uint64_t number_with(int lane);

    const PositionSource& source_;
    StripReader strips_;
    const Group* moving_ = nullptr;
    std::vector<Group> others_;  // as if the moving man were not there
    std::vector<size_t> order_;  // of the others, the slowest first
    std::vector<uint64_t> sizes_;
    uint64_t placings_ = 1;
    uint64_t digits_[MEN_MAX]{};
    uint8_t standing_[MEN_MAX]{}, squares_[MEN_MAX]{};  // of the other men, and of all
};

// One of so many equal parts of all values; the spans have room for all.
void read_part(const PositionSource&, int to_move, uint64_t part, uint64_t parts, std::span<uint16_t> results,
               std::span<uint16_t> distances);

}  // namespace kingpair::syzygy
