// The Python face of the verifier.

#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace kingpair::verify {

// Defines `Verifier`.
void bind(nanobind::module_&);

// The instruction-set level whose kernels it runs from now on.
void use_level(const std::string&);

}  // namespace kingpair::verify
