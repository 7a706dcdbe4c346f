// The binding of the verifier: it checks shapes and releases the GIL.

#include "verify_module.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
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

// The keys after taking each man, in the order of the rows.
template <class Value>
using Taken = std::vector<Array<const Key<Value>>>;

void require(bool condition, const char* what) {
    if (!condition) throw nb::value_error(what);
}

class Verifier {
  public:
    Verifier(const std::vector<std::pair<std::string, int>>& men, bool carry_depth, std::optional<int> last, int deeper)
        : men_(men_of(men)), carry_depth_(carry_depth), deeper_(deeper) {
        require(deeper == 1 || deeper == 2, "distances count moves or plies");
        require(!last || (*last >= 0 && *last < men_.count), "no such man");
        if (last) men_ = with_last(men_, *last);
        for (int diagonal : {0, 1}) standing_[diagonal] = standing_for(men_, diagonal);
        for (int man = 0; men_.count > 1 && man < men_.count; ++man) smaller_.emplace_back(men_, man);
    }

    template <class Value>
    void arrange(int pair, const std::vector<Array<const Value>>& pieces, Array<Value> out) const {
        require_place(pair, 0);
        require(out.size() == men_.slots(), "a column does not fit the men");
        require(!pieces.empty() && pieces.size() * pieces[0].size() == men_.slots(), "pieces do not make a partition");
        std::vector<const Value*> rows;
        for (const auto& piece : pieces) {
            require(piece.size() == pieces[0].size(), "pieces of different sizes");
            rows.push_back(piece.data());
        }
        nb::gil_scoped_release release;
        steps<Value>().arrange(men_, {rows.data(), pieces[0].size()}, standing(pair), out.data());
    }

    template <class Value>
    void quiet(int pair, int to_move, Array<const Value> values, Array<Key<Value>> out,
               const Taken<Value>& taken) const {
        require_place(pair, to_move);
        require(values.size() == men_.slots() && out.size() == men_.slots(), "a column does not fit the men");
        const auto captures = this->captures<Value>(taken);
        nb::gil_scoped_release release;
        steps<Value>().quiet(men_, pair, to_move, values.data(), standing(pair),
                             taken.empty() ? nullptr : captures.data(), deeper_, out.data());
    }

    template <class Value>
    void taken(int captive, int pair, Array<const Value> column, Array<Key<Value>> out) const {
        require_place(pair, 0);
        require(captive >= 0 && captive < men_.count && men_.count > 1, "no such man, or none is left");
        const int man = place_of(captive);
        const size_t slots = men_.slots() / 64;
        require(column.size() == PAIRS * slots && out.size() == slots, "a column does not fit the men");
        nb::gil_scoped_release release;
        steps<Value>().taken(smaller_[static_cast<size_t>(man)], pair, men_.man[man].side, carry_depth_, column.data(),
                             out.data());
    }

    template <class Value>
    nb::tuple check(int pair, int mover, Array<const Value> values, Array<const Key<Value>> quiet,
                    Array<const int16_t> place, Array<uint64_t> counts) const {
        require_place(pair, mover);
        require(values.size() == men_.slots(), "a column does not fit the men");
        require(counts.size() == size_t{1} << 8 * sizeof(Value), "a count for each value");
        require_held(pair, mover, place, quiet.size() / men_.slots());
        Findings found;
        {
            nb::gil_scoped_release release;
            found = steps<Value>().check(men_, pair, mover, values.data(), standing(pair), quiet.data(), place.data(),
                                         counts.data());
        }
        const Wrong& first = found.first;
        return nb::make_tuple(found.placed, found.legal, found.wrong, first.row, first.rank, first.value,
                              first.expected);
    }

    template <class Value>
    void derive(int pair, int mover, Array<const Key<Value>> quiet, Array<const int16_t> place,
                Array<Value> rows) const {
        require_place(pair, mover);
        require(rows.size() == men_.slots(), "a column does not fit the men");
        require_held(pair, mover, place, quiet.size() / men_.slots());
        nb::gil_scoped_release release;
        steps<Value>().derive(men_, pair, mover, standing(pair), quiet.data(), place.data(), rows.data());
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

    // The keys after taking each man, in the order of slots; null where none are given.
    template <class Value>
    std::array<const Key<Value>*, MEN_MAX> captures(const Taken<Value>& taken) const {
        std::array<const Key<Value>*, MEN_MAX> captures{};
        require(taken.empty() || taken.size() == static_cast<size_t>(men_.count), "an array for each man");
        for (size_t i = 0; i < taken.size(); ++i) {
            require(taken[i].size() == PAIRS * men_.slots() / 64, "captures do not fit the men");
            captures[static_cast<size_t>(place_of(static_cast<int>(i)))] = taken[i].data();
        }
        return captures;
    }

    // The place of a man in the order of slots, from his place in the rows.
    int place_of(int man) const {
        const int last = men_.outer() - men_.behind;
        return man < last ? man : man == last ? men_.outer() : man - 1;
    }

    // The same men with that one last.
    static Men with_last(Men men, int man) {
        std::rotate(men.man + man, men.man + man + 1, men.man + men.count);
        men.behind = men.outer() - man;
        return men;
    }

    const Standing& standing(int pair) const { return standing_[kings().diagonal[pair]]; }

    static void require_place(int pair, int side) {
        require(pair >= 0 && pair < PAIRS, "no such partition");
        require(side == 0 || side == 1, "a side is 0 or 1");
    }

    // Requires all partitions that a move can enter.
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
    int deeper_;
    Standing standing_[2];          // by whether both kings are on the diagonal
    std::vector<Smaller> smaller_;  // without each man
};

template <class Value>
void bind_values(nb::class_<Verifier>& verifier) {
    verifier.def("arrange", &Verifier::arrange<Value>)
        .def("quiet", &Verifier::quiet<Value>, "pair"_a, "to_move"_a, "values"_a, "out"_a, "taken"_a = Taken<Value>())
        .def("taken", &Verifier::taken<Value>)
        .def("check", &Verifier::check<Value>, "pair"_a, "mover"_a, "values"_a, "quiet"_a, "place"_a, "counts"_a)
        .def("derive", &Verifier::derive<Value>, "pair"_a, "mover"_a, "quiet"_a, "place"_a, "rows"_a.noconvert())
        .def("find", &Verifier::find<Value>);
}

}  // namespace

void use_level(const std::string& name) {
    for (const Kernels* each : LEVELS)
        if (name == each->level) kernels = each;
}

void bind(nb::module_& m) {
    nb::class_<Verifier> verifier(m, "Verifier");
    verifier
        .def(nb::init<const std::vector<std::pair<std::string, int>>&, bool, std::optional<int>, int>(), "men"_a,
             "carry_depth"_a, "last"_a = nb::none(), "deeper"_a = 1)
        .def_static("walks",
                    [](int side) {
                        require(side == 0 || side == 1, "a side is 0 or 1");
                        return walks(side);
                    })
        .def_static("draw", [](int bytes) { return 1 << (8 * bytes - 1); });
    bind_values<int8_t>(verifier);
    bind_values<int16_t>(verifier);
}

}  // namespace kingpair::verify
