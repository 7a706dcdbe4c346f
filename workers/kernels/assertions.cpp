#include "assertions.hpp"

#include <stdexcept>
#include <string>

namespace kingpair {

void invariant_is_broken(const char* invariant) {
    throw std::logic_error(std::string("a kernel's invariant is broken: ") + invariant);
}

}  // namespace kingpair
