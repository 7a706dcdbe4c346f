// Memory for runs; the header says what for.

#include "syzygy_runs.hpp"

#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace kingpair::syzygy {

namespace {

constexpr size_t HUGE_PAGE = size_t{1} << 21;
constexpr size_t MANY_RUNS = size_t{1} << 20;

#ifdef __linux__
void ask_for_huge_pages(void* memory, size_t bytes) {
    const auto begin = (reinterpret_cast<uintptr_t>(memory) + 4095) & ~uintptr_t{4095};
    const auto end = (reinterpret_cast<uintptr_t>(memory) + bytes) & ~uintptr_t{4095};
    if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}
#endif

}  // namespace

void RunBuffer::clear(size_t room) {
    if (room > room_ || !runs_) {
        const size_t bytes = (room + 1) * sizeof(Run), align = bytes < HUGE_PAGE ? 64 : HUGE_PAGE;
        room_ = room;
        runs_.reset(static_cast<Run*>(std::aligned_alloc(align, (bytes + align - 1) / align * align)));
        if (!runs_) throw std::bad_alloc();
#ifdef __linux__
        if (align == HUGE_PAGE) ask_for_huge_pages(runs_.get(), bytes);
#endif
    }
    size_ = 0;
}

uint32_t* PairingRoom::zeros(size_t count) {
    if (count > count_) {
        count_ = 0;
        zeros_.reset(static_cast<uint32_t*>(std::calloc(count, sizeof(uint32_t))));
        if (!zeros_) throw std::bad_alloc();
        count_ = count;
#ifdef __linux__
        // A small sub-table touches few of these pages.
        if (sequence.size() > MANY_RUNS) ask_for_huge_pages(zeros_.get(), count * sizeof(uint32_t));
#endif
    }
    return zeros_.get();
}

}  // namespace kingpair::syzygy
