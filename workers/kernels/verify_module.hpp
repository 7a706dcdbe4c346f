// The Python face of the verifiers.

#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace kingpair::verify {

// Define `Verifier`, `StructureVerifier` for tables with pawns, and `XiangqiVerifier`.
void bind(nanobind::module_&);
void bind_structures(nanobind::module_&);
void bind_xiangqi_verifier(nanobind::module_&);

// The instruction-set level whose kernels they run from now on.
void use_level(const std::string&);
void use_structure_level(const std::string&);

}  // namespace kingpair::verify
