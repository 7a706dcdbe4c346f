// Slots and frames (slots.hpp).

#include <vector>

#include "binding.hpp"
#include "slots.hpp"

namespace kingpair {
namespace {

void canonical_slots(const Domain& d, bool diagonal, Words out) {
    require(out.size() == d.rows() * 64, "the mask does not fit the domain");
    nb::gil_scoped_release release;
    canonical_mask(like_men(d), diagonal, out.size(), out.data());
}

void spread_set(const Domain& d, bool diagonal, ConstWords wanted, Words set) {
    require(set.size() == d.rows() * 64 && wanted.size() == set.size(), "the set does not fit the domain");
    nb::gil_scoped_release release;
    spread(like_men(d), diagonal, wanted.data(), set.data());
}

void reframe_set(const Domain& d, int symmetry, const std::vector<uint8_t>& axis, ConstWords in, Words out) {
    require(symmetry >= 0 && symmetry < 8, "no such symmetry");
    require(in.size() == d.rows() * 64 && out.size() == in.size(), "the set does not fit the domain");
    require_axes(d, axis);
    nb::gil_scoped_release release;
    reframe(d.men, symmetry, axis.data(), in.data(), out.data());
}

template <class T>
void spread_column(const Domain& d, bool diagonal, ConstWords wanted, Array<T, nb::ndim<1>> column) {
    require_column(d, column);
    require(64 * wanted.size() >= column.size(), "the wanted slots do not fit the domain");
    nb::gil_scoped_release release;
    spread_values(like_men(d), diagonal, wanted.data(), column.data());
}

template <class T>
void reframe_column(const Domain& d, int symmetry, const std::vector<uint8_t>& axis, Array<const T, nb::ndim<1>> in,
                    Array<T, nb::ndim<1>> out) {
    require(symmetry >= 0 && symmetry < 8, "no such symmetry");
    require_column(d, in);
    require_column(d, out);
    require_axes(d, axis);
    nb::gil_scoped_release release;
    reframe_values(d.men, symmetry, axis.data(), in.data(), out.data());
}

template <class T>
void bind_columns(nb::module_& m) {
    m.def("spread_values", spread_column<T>, PLAIN, PLAIN, STRICT, STRICT);
    m.def("reframe_values", reframe_column<T>, PLAIN, PLAIN, PLAIN, STRICT, STRICT);
}

}  // namespace

void bind_slots(nb::module_& m) {
    m.def("canonical_mask", canonical_slots, PLAIN, PLAIN, STRICT);
    m.def("spread", spread_set, PLAIN, PLAIN, STRICT, STRICT);
    m.def("reframe", reframe_set, PLAIN, PLAIN, PLAIN, STRICT, STRICT);
    bind_columns<int8_t>(m);
    bind_columns<int16_t>(m);
}

}  // namespace kingpair
