// Runs of equal symbols, and the memory that sequences of them take.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

namespace kingpair::syzygy {

// The end of the run of equal values that begins at `i`.
inline size_t end_of_run(std::span<const uint16_t> values, size_t i) {
    const uint16_t value = values[i];
    const uint64_t four = value * uint64_t{0x0001000100010001};
    for (uint64_t next; i + 4 <= values.size(); i += 4) {
        std::memcpy(&next, &values[i], sizeof next);
        if (next != four) break;
    }
    while (i < values.size() && values[i] == value) ++i;
    return i;
}

// So many equal symbols.
struct Run {
    uint16_t symbol;
    uint32_t count;
};

struct Freed {
    void operator()(void* memory) const { std::free(memory); }
};

// Zeros that take memory only where they are touched: a small sub-table uses few of the 67 MB of all pairs.
using Zeros = std::unique_ptr<uint32_t[], Freed>;

// Room for runs, and one more. It is not cleared, so memory that is never written is never taken.
class RunBuffer {
  public:
    const Run* begin() const { return runs_.get(); }
    const Run* end() const { return runs_.get() + size_; }
    size_t size() const { return size_; }
    const Run& operator[](size_t i) const { return runs_[i]; }
    Run& back() { return runs_[size_ - 1]; }

    void clear(size_t room);
    void push(Run run) { runs_[size_++] = run; }
    void push(const Run* begin, const Run* end) {
        size_ = static_cast<size_t>(std::copy(begin, end, &runs_[size_]) - runs_.get());
    }
    void put(size_t i, Run run) { runs_[i] = run; }

  private:
    std::unique_ptr<Run[], Freed> runs_;
    size_t size_ = 0, room_ = 0;
};

// Memory that one sequence after the other is paired in: the system clears it once.
class PairingRoom {
  public:
    RunBuffer sequence, replaced;

    // So many zeros. Who writes others puts zeros back.
    uint32_t* zeros(size_t count);

  private:
    Zeros zeros_;
    size_t count_ = 0;
};

}  // namespace kingpair::syzygy
