// Shared by the bindings: array types, checks of arguments, and the kernels of the level in use.
//
// A binding checks what Python gives it, releases the GIL and calls a kernel. One file binds one family:
//
//     sets_module.cpp      domains, layers, scratch space      streams_module.cpp   layers to and from streams
//     steps_module.cpp     the steps of the analysis           values_module.cpp    columns of values
//     slots_module.cpp     slots, frames                       verify_module.cpp    verification
//     fen_module.cpp       reading FENs                        syzygy_module.cpp    Syzygy files
//     xiangqi_module.cpp   frames of Chinese chess          child_view_module.cpp  values of children
//     zstd_module.cpp      blocks of tables, compressed

#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kingpair {

// The kernels of the instruction-set level in use, for chess and for the game of a domain.
const Kernels& kernels();
const Kernels& kernels_of(const Domain&);

void bind_sets(nb::module_&);
void bind_steps(nb::module_&);
void bind_streams(nb::module_&);
void bind_values(nb::module_&);
void bind_slots(nb::module_&);
void bind_child_views(nb::module_&);
void bind_dense(nb::module_&);
void bind_fen(nb::module_&);
void bind_zstd(nb::module_&);
void bind_xiangqi(nb::module_&);

namespace syzygy { void bind(nb::module_&); }

// How arguments are taken. An array that is written must not be converted: the result would go to a copy and be lost.
inline const auto PLAIN = nb::arg();
inline const auto STRICT = nb::arg().noconvert();
inline const auto OPTIONAL = nb::arg().none();

inline void require(bool condition, const char* message) {
    if (!condition) throw nb::value_error(message);
}

inline bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 64 == 0; }

template <class T, class... Extra>
using Array = nb::ndarray<T, nb::numpy, nb::c_contig, nb::device::cpu, Extra...>;
using Words = Array<uint64_t>;
using ConstWords = Array<const uint64_t>;
using Pairs = Array<const int16_t, nb::ndim<1>>;
using Counts = Array<uint64_t, nb::ndim<1>>;
using Stream = Array<const uint8_t, nb::ndim<1>>;

template <class T>
nb::object owned(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

// The arrays of a layer, in which a domain's partitions have their places.
struct LayerArrays {
    Words words;
    Array<uint8_t> occupied;
    Array<uint32_t> live;

    // The layer, once it holds all partitions of the domain, those given, or the one given.
    Layer get(const Domain&) const;
    Layer get(const Domain&, const Parts&) const;
    Layer get(const Domain&, int pair) const;

  private:
    Layer fitting(const Domain&) const;
    void require_place(const Domain&, int pair) const;
};

// The layer, or an empty one for None.
template <class... Held>
Layer layer_or_none(const nb::object& layer, const Domain& d, const Held&... held) {
    return layer.is_none() ? Layer{} : nb::cast<const LayerArrays&>(layer).get(d, held...);
}

// Three zeroed partitions and their marks.
class ScratchSpace {
  public:
    explicit ScratchSpace(const Domain&);
    Scratch get(const Domain&) const;

  private:
    struct Free {
        void operator()(uint8_t* p) const { std::free(p); }
    };
    size_t rows_;
    std::unique_ptr<uint8_t, Free> memory_;
};

// The partitions, once the domain holds them all.
Parts parts_of(const Domain&, const Pairs&);

// The two masks of canonical slots, the second one for halved partitions; null for None, where that is allowed.
const uint64_t* canonical_of(const Domain&, const ConstWords& masks);
const uint64_t* canonical_of(const Domain&, const nb::object& masks);

// Every axis is that of a man.
void require_axes(const Domain&, const std::vector<uint8_t>& axis);

inline void require_side(int side) { require(side == STRONGER || side == WEAKER, "a side is 0 or 1"); }

template <class T>
void require_column(const Domain& d, const T& column) {
    require(column.size() == d.slots(), "a column does not fit the domain");
}

}  // namespace kingpair
