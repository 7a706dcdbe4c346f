// The Python face of the verifier.

#pragma once

#include <nanobind/nanobind.h>

namespace kingpair::verify {

// Defines `Verifier`.
void bind(nanobind::module_&);

}  // namespace kingpair::verify
