// The module: it picks an instruction-set level when it is loaded, and binds each family of kernels.

#include <string>
#include <vector>

#include "assertions.hpp"
#include "binding.hpp"
#include "verify_module.hpp"

namespace kingpair {

#if defined(__x86_64__)
namespace v2 { extern const Kernels KERNELS, XIANGQI_KERNELS; }
namespace v3 { extern const Kernels KERNELS, XIANGQI_KERNELS; }
namespace v4 { extern const Kernels KERNELS, XIANGQI_KERNELS; }
#else
namespace generic { extern const Kernels KERNELS, XIANGQI_KERNELS; }
#endif

namespace {

// An instruction-set level, with the kernels of both games.
struct Level {
    const Kernels *chess, *xiangqi;
};

// The levels that this machine can run, the lowest first.
std::vector<Level> levels_here() {
    std::vector<Level> here;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("x86-64-v2")) here.push_back({&v2::KERNELS, &v2::XIANGQI_KERNELS});
    if (__builtin_cpu_supports("x86-64-v3")) here.push_back({&v3::KERNELS, &v3::XIANGQI_KERNELS});
    if (__builtin_cpu_supports("x86-64-v4")) here.push_back({&v4::KERNELS, &v4::XIANGQI_KERNELS});
#else
    here.push_back({&generic::KERNELS, &generic::XIANGQI_KERNELS});
#endif
    return here;
}

Level in_use{};

void use(Level level) {
    in_use = level;
    verify::use_level(level.chess->level);
    verify::use_structure_level(level.chess->level);
}

void use_level(const std::string& name) {
    for (Level each : levels_here())
        if (name == each.chess->level) return use(each);
    throw nb::value_error(("no kernels of level " + name + " run here").c_str());
}

std::vector<std::string> level_names() {
    std::vector<std::string> names;
    for (Level each : levels_here()) names.emplace_back(each.chess->level);
    return names;
}

}  // namespace

const Kernels& kernels() { return *in_use.chess; }

const Kernels& kernels_of(const Domain& d) { return d.frame ? *in_use.xiangqi : *in_use.chess; }

}  // namespace kingpair

NB_MODULE(_kernels, m) {
    using namespace kingpair;
    use(levels_here().back());
    m.attr("ASSERTED") = ASSERTED;
    // A command exits without a search for garbage, in which objects of the kernels may be: the system frees them.
    nb::set_leak_warnings(ASSERTED);
    m.def("levels", level_names);
    m.def("level", [] { return std::string(kernels().level); });
    m.def("use_level", use_level);
    bind_sets(m);
    bind_steps(m);
    bind_streams(m);
    bind_values(m);
    bind_slots(m);
    bind_child_views(m);
    bind_dense(m);
    bind_fen(m);
    bind_zstd(m);
    bind_xiangqi(m);
    verify::bind(m);
    verify::bind_structures(m);
    verify::bind_xiangqi_verifier(m);
    syzygy::bind(m);
}
