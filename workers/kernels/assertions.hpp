// Invariants that are checked where kernels begin, in a build with the option KINGPAIR_ASSERT. Other builds skip them.
//
// A binding refuses wrong arguments in every build. A broken invariant is a mistake in a kernel or in its caller.

#pragma once

namespace kingpair {

#ifdef KINGPAIR_ASSERT
inline constexpr bool ASSERTED = true;
#else
inline constexpr bool ASSERTED = false;
#endif

// Throws; Python sees a RuntimeError.
[[noreturn]] void invariant_is_broken(const char* invariant);

}  // namespace kingpair

// A macro, so that nothing is evaluated where nothing is checked.
#define KINGPAIR_INVARIANT(holds, invariant)                          \
    do {                                                              \
        if constexpr (::kingpair::ASSERTED)                           \
            if (!(holds)) ::kingpair::invariant_is_broken(invariant); \
    } while (false)
