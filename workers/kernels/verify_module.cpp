// The Python face of the verifier: it checks shapes and releases the GIL.

#include "verify_module.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "verify.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kingpair::verify {

namespace {

#if defined(__x86_64__)
constexpr const Kernels* LEVELS[] = {&v2::KERNELS, &v3::KERNELS, &v4::KERNELS};
#else
constexpr const Kernels* LEVELS[] = {&generic::KERNELS};
#endif

const Kernels* kernels = LEVELS[0];

template <class Value>
using Key = std::make_unsigned_t<Value>;

template <class Value>
const Steps<Key<Value>, Value>& steps() {
    if constexpr (sizeof(Value) == 1) return kernels->narrow;
    else return kernels->wide;
}

template <class T>
using Array = nb::ndarray<T, nb::numpy, nb::c_contig, nb::device::cpu, nb::ndim<1>>;

void require(bool condition, const char* what) {
    if (!condition) throw nb::value_error(what);
}

class Verifier {
  public:
    Verifier(const std::vector<std::pair<std::string, int>>& men, bool carry_depth)
        : men_(men_of(men)), carry_depth_(carry_depth), standing_{standing_for(men_, false), standing_for(men_, true)} {}

    template <class Value>
    void quiet(int pair, int to_move, Array<const Value> values, Array<Key<Value>> out) const {
        require_place(pair, to_move);
        require(values.size() == men_.slots() && out.size() == men_.slots(), "a column does not fit the men");
        nb::gil_scoped_release release;
        steps<Value>().quiet(men_, pair, to_move, values.data(), standing(pair), out.data());
    }

    template <class Value>
    void taken(int captive, int pair, Array<const Value> column, Array<Key<Value>> out) const {
        require_place(pair, 0);
        require(captive >= 0 && captive < men_.count && men_.count > 1, "no such man, or none is left");
        const size_t slots = men_.slots() / 64;
        require(column.size() == PAIRS * slots && out.size() == slots, "a column does not fit the men");
        nb::gil_scoped_release release;
        steps<Value>().taken(Smaller(men_, captive), pair, men_.man[captive].side, carry_depth_, column.data(),
                             out.data());
    }

    template <class Value>
    nb::tuple check(int pair, int mover, Array<const Value> values, Array<const Key<Value>> quiet,
                    Array<const int16_t> place, const std::vector<std::optional<Array<const Key<Value>>>>& taken,
                    Array<uint64_t> counts) const {
        require_place(pair, mover);
        require(values.size() == men_.slots(), "a column does not fit the men");
        require(counts.size() == size_t{1} << 8 * sizeof(Value), "a count for each value");
        require_held(pair, mover, place, quiet.size() / men_.slots());
        const Key<Value>* captures[MEN_MAX] = {};
        require(taken.size() == static_cast<size_t>(men_.count), "one array or None for each man");
        for (int i = 0; i < men_.count; ++i) {
            require(taken[i].has_value() == (men_.man[i].side != mover), "an array for each man of the other side");
            if (!taken[i]) continue;
            require(taken[i]->size() == PAIRS * men_.slots() / 64, "captures do not fit the men");
            captures[i] = taken[i]->data();
        }
        Findings found;
        {
            nb::gil_scoped_release release;
            found = steps<Value>().check(men_, pair, mover, values.data(), standing(pair), quiet.data(),
                                         place.data(), captures, counts.data());
        }
        const Wrong& first = found.first;
        return nb::make_tuple(found.placed, found.legal, found.wrong, first.slot, first.rank, first.value,
                              first.expected);
    }

    template <class Value>
    int64_t find(int pair, int to_move, Array<const Value> values, int value) const {
        require_place(pair, to_move);
        require(values.size() == men_.slots(), "a column does not fit the men");
        nb::gil_scoped_release release;
        return steps<Value>().find(men_, pair, to_move, values.data(), standing(pair), value);
    }

  private:
    static Men men_of(const std::vector<std::pair<std::string, int>>& men) {
        require(!men.empty() && men.size() <= MEN_MAX, "from one man to five");
        Men out{};
        for (const auto& [letter, side] : men) {
            const size_t kind = std::string("QRBN").find(letter);
            require(letter.size() == 1 && kind != std::string::npos, "a man is one of Q R B N");
            require(side == 0 || side == 1, "a side is 0 or 1");
            out.man[out.count++] = {static_cast<Kind>(kind), static_cast<uint8_t>(side)};
        }
        return out;
    }

    const Standing& standing(int pair) const { return standing_[kings().diagonal[pair]]; }

    static void require_place(int pair, int side) {
        require(pair >= 0 && pair < PAIRS, "no such partition");
        require(side == 0 || side == 1, "a side is 0 or 1");
    }

    // Whether all that a move can enter is held.
    static void require_held(int pair, int mover, const Array<const int16_t>& place, size_t held) {
        require(place.size() == PAIRS, "a place or -1 for each partition");
        const auto holds = [&](int p) { return place.data()[p] >= 0 && static_cast<size_t>(place.data()[p]) < held; };
        require(holds(pair), "the partition itself is not held");
        const int king = kings().square[mover][pair], still = kings().square[1 - mover][pair];
        for (int d = 0; d < 8; ++d) {
            const Ray& ray = board().ray[d][king];
            if (!ray.length) continue;
            const int to = ray.square[0];
            const int entered = mover == 0 ? kings().pair[to][still] : kings().pair[still][to];
            require(entered < 0 || holds(entered), "a partition that the king enters is not held");
        }
    }

    Men men_;
    bool carry_depth_;
    Standing standing_[2];
};

template <class Value>
void bind_values(nb::class_<Verifier>& verifier) {
    verifier.def("quiet", &Verifier::quiet<Value>)
        .def("taken", &Verifier::taken<Value>)
        .def("check", &Verifier::check<Value>, "pair"_a, "mover"_a, "values"_a, "quiet"_a, "place"_a, "taken"_a,
             "counts"_a)
        .def("find", &Verifier::find<Value>);
}

}  // namespace

void use_level(const std::string& name) {
    for (const Kernels* each : LEVELS)
        if (name == each->level) kernels = each;
}

void bind(nb::module_& m) {
    nb::class_<Verifier> verifier(m, "Verifier");
    verifier.def(nb::init<const std::vector<std::pair<std::string, int>>&, bool>(), "men"_a, "carry_depth"_a)
        .def_static("walks", [](int side) {
            require(side == 0 || side == 1, "a side is 0 or 1");
            return walks(side);
        })
        .def_static("draw", [](int bytes) { return 1 << (8 * bytes - 1); });
    bind_values<int8_t>(verifier);
    bind_values<int16_t>(verifier);
}

}  // namespace kingpair::verify
