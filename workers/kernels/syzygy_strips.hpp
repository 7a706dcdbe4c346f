// Reads the values of strips: positions that differ in the square of one man, a piece or king, and whose numbers follow
// one another but for the digits of pawns.
//
// A strip is a set of lanes, the squares of that man. What others attack, which captures there are and whether a king
// is left in check are computed for all lanes at once. The results that captures reach are collected by lane, as bits.

#pragma once

#include "syzygy_positions.hpp"

namespace kingpair::syzygy {

class StripReader {
  public:
    StripReader(const PositionSource&, int to_move);

    // The numbers of a strip differ by so much: pawns may have digits of less weight.
    size_t stride() const { return inner_->factor; }

    // Reads up to `most` values from a number on, and writes them `stride` places apart. Returns how many it read, 0 if
    // no strip begins there. Without room for results only the distances are found.
    size_t read(uint64_t number, size_t most, uint16_t* results, uint16_t* distances);

    // Places all men; one of them moves from lane to lane.
    void place(const uint8_t* squares, size_t man);

    // Finds the values of placed men in lanes where the moving man meets no other one.
    void read_lanes(uint64_t lanes, bool wants_results, bool wants_distances);
    uint16_t result(int lane) const { return results_[lane]; }
    uint16_t distance(int lane) const { return distances_[lane]; }

  private:
    // Men whose squares are known, and which of them stand on the board; the man `moving` has one in each lane.
    struct Placed {
        uint8_t squares[MEN_MAX];
        uint32_t on_board;
        uint64_t occupied;  // without the moving man
        size_t moving;
    };

    size_t find_digits(uint64_t number);
    uint64_t find_strip(uint64_t number, size_t most);
    uint64_t attacks(const Placed&, size_t man, int to) const;
    uint64_t in_check(const Placed&, int colour) const;
    void find_captures(uint64_t lanes);
    void capture(size_t man, size_t captive, uint64_t lanes);
    void find_pushes(uint64_t lanes);
    void push(size_t pawn, int to, uint64_t lanes);
    void reach(const Placed&, const Lookup* const* tables, size_t count, uint64_t lanes);
    void reach_one(const Placed&, const Lookup* const* tables, size_t count, uint64_t lanes);
    uint64_t reached_lanes(uint64_t lanes) const;

    const PositionSource& source_;
    int mover_;
    const Group* inner_;
    uint64_t inner_placings_;
    uint64_t number_ = NOWHERE, digits_[MEN_MAX]{};  // of the strip that was read last
    size_t king_[2]{};
    Placed placed_{};
    uint8_t values_[64];
    uint8_t reached_[64];  // by lane: a bit for each result
    uint64_t rows_[64];
    uint16_t results_[64], distances_[64];
};

}  // namespace kingpair::syzygy
