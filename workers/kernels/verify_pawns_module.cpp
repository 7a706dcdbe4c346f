// The binding of the verifier of tables with pawns: it checks shapes, finds columns and releases the GIL.

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "verify_module.hpp"
#include "verify_pawns.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kingpair::verify {

namespace {

#if defined(__x86_64__)
constexpr const StructureKernels* LEVELS[] = {&v2::STRUCTURE_KERNELS, &v3::STRUCTURE_KERNELS, &v4::STRUCTURE_KERNELS};
#else
constexpr const StructureKernels* LEVELS[] = {&generic::STRUCTURE_KERNELS};
#endif

const StructureKernels* kernels = LEVELS[0];

template <class Value>
const StructureSteps<Value>& steps() {
    if constexpr (sizeof(Value) == 1) return kernels->narrow;
    else return kernels->wide;
}

template <class T>
using Array = nb::ndarray<T, nb::numpy, nb::c_contig, nb::device::cpu, nb::ndim<1>>;
using Squares = nb::ndarray<const uint8_t, nb::numpy, nb::c_contig, nb::device::cpu, nb::ndim<2>>;
using Letters = std::vector<std::pair<std::string, int>>;
using TableArguments = std::tuple<Letters, std::pair<int, int>, Squares>;
using Name = std::tuple<int, int, int, int>;

void require(bool condition, const char* what) {
    if (!condition) throw nb::value_error(what);
}

std::vector<Man> pieces_of(const Letters& letters) {
    std::vector<Man> pieces;
    require(letters.size() <= MEN_MAX, "at most five pieces");
    for (const auto& [letter, side] : letters) {
        const size_t kind = std::string("QRBN").find(letter);
        require(letter.size() == 1 && kind != std::string::npos, "a piece is one of Q R B N");
        require(side == 0 || side == 1, "a side is 0 or 1");
        pieces.push_back({static_cast<Kind>(kind), static_cast<uint8_t>(side)});
    }
    return pieces;
}

std::vector<IndexedTable> tables_of(const std::vector<TableArguments>& arguments) {
    std::vector<IndexedTable> tables;
    for (const auto& [letters, pawns, squares] : arguments) {
        require(squares.shape(1) == static_cast<size_t>(pawns.first + pawns.second), "a square for each pawn");
        for (size_t i = 0; i < squares.size(); ++i)
            require(squares.data()[i] >= 8 && squares.data()[i] < 56, "a pawn stands on the ranks 2 to 7");
        tables.emplace_back(static_cast<int>(tables.size()), pieces_of(letters), pawns.first, pawns.second,
                            squares.data(), squares.shape(0));
    }
    require(!tables.empty() && tables[0].has_pawns(), "the table that is verified has pawns");
    return tables;
}

// The runs of a structure in a column, or in a part of one.
size_t runs_of(const IndexedTable& table, int part) {
    if (part == WHOLE) return table.has_pawns() ? FIXED_PAIRS : PAIRS;
    require(part >= 0 && part < 2 * WALKS, "no such part");
    return walks_of(table.has_pawns(), part % 2).pairs[static_cast<size_t>(part / 2)].size();
}

// The columns that a call is given: each array has the values of consecutive structures, or a part of those of one.
template <class Value>
class Columns {
  public:
    Columns(const Planner& planner, const std::vector<Name>& names, const std::vector<Array<const Value>>& arrays) {
        require(names.size() == arrays.size(), "a name for each array");
        for (size_t i = 0; i < names.size(); ++i) {
            const auto [table, side, first, part] = names[i];
            require(table >= 0 && static_cast<size_t>(table) < planner.size(), "no such table");
            const IndexedTable& of = planner.table(static_cast<size_t>(table));
            const size_t rows = of.slots() * runs_of(of, part);
            require(arrays[i].size() % rows == 0, "an array has whole structures");
            held_[{table, side, part, first}] = {arrays[i].data(), rows, static_cast<int>(arrays[i].size() / rows)};
        }
    }

    const void* find(const ColumnName& name) const {
        auto found = held_.upper_bound({name.table, name.side, name.part, name.structure});
        require(found != held_.begin(), "a column is not given");
        const auto& [table, side, part, first] = (--found)->first;
        const auto& [data, rows, count] = found->second;
        const int place = name.structure - first;
        require(table == name.table && side == name.side && part == name.part && place < count,
                "a column is not given");
        return data + static_cast<size_t>(place) * rows;
    }

  private:
    struct Held {
        const Value* data;
        size_t rows;
        int count;
    };
    std::map<std::tuple<int, int, int, int>, Held> held_;  // by table, side, part and first structure
};

class StructureVerifier {
  public:
    // A push ends the phase only where distances count plies, and then every exit does.
    StructureVerifier(const std::vector<TableArguments>& tables, bool carry_depth, bool push_ends_phase)
        : planner_(tables_of(tables)),
          rules_(push_ends_phase ? Rules{Rule::plies, Rule::zeroing, Rule::zeroing}
                                 : Rules{Rule::moves, Rule::moves, carry_depth ? Rule::moves : Rule::result}) {}

    // The chunks of columns that judging these structures takes, by their first structures; `together` has the
    // structures of a chunk of each table.
    std::vector<Name> needs(int first, int stop, int mover, int walk, const std::vector<int>& together) const {
        require_structures(first, stop, mover, walk);
        require(together.size() == planner_.size(), "a number of structures for each table");
        for (const int count : together) require(count > 0, "a chunk has structures");
        nb::gil_scoped_release release;
        std::set<Name> found;
        Name last{-1, 0, 0, 0};
        const FindColumn note = [&](const ColumnName& name) -> const void* {
            const int place = name.part == WHOLE ? name.structure % together[static_cast<size_t>(name.table)] : 0;
            const Name chunk{name.table, name.side, name.structure - place, name.part};
            if (chunk != last) found.insert(last = chunk);
            return nullptr;
        };
        for (int structure = first; structure < stop; ++structure) judged(structure, mover, walk, note);
        return {found.begin(), found.end()};
    }

    // The runs of a part of a table's columns.
    std::vector<int16_t> runs(int table, int part) const {
        require(table >= 0 && static_cast<size_t>(table) < planner_.size(), "no such table");
        require(part >= 0 && part < 2 * WALKS, "no such part");
        return walks_of(planner_.table(static_cast<size_t>(table)).has_pawns(), part % 2)
            .pairs[static_cast<size_t>(part / 2)];
    }

    template <class Value>
    nb::tuple check(int first, int stop, int mover, int walk, const std::vector<Name>& names,
                    const std::vector<Array<const Value>>& arrays, Array<uint64_t> counts) const {
        require_structures(first, stop, mover, walk);
        require(counts.size() == size_t{1} << 8 * sizeof(Value), "a count for each value");
        const Columns<Value> columns(planner_, names, arrays);
        Findings found;
        {
            nb::gil_scoped_release release;
            std::vector<Judged> all;
            for (int structure = first; structure < stop; ++structure)
                all.push_back(
                    judged(structure, mover, walk, [&](const ColumnName& name) { return columns.find(name); }));
            found = steps<Value>().check(planner_.table(), all, rules_, counts.data());
        }
        const Wrong& wrong = found.first;
        return nb::make_tuple(found.placed, found.legal, found.wrong, wrong.row, wrong.rank, wrong.value,
                              wrong.expected);
    }

    // Writes the values with `mover` to move into the rows of some structures. No column of theirs with that side to
    // move is given: an answer to a double step needs only to know that such a position is there.
    template <class Value>
    void derive(int first, int stop, int mover, const std::vector<Name>& names,
                const std::vector<Array<const Value>>& arrays, Array<Value> rows) const {
        require_structures(first, stop, mover, EVERY_WALK);
        const size_t size = planner_.table().slots() * FIXED_PAIRS;
        require(rows.size() == static_cast<size_t>(stop - first) * size, "the rows do not fit the structures");
        const Columns<Value> columns(planner_, names, arrays);
        nb::gil_scoped_release release;
        const std::vector<Value> draws(size);
        const FindColumn find = [&](const ColumnName& name) {
            return name.table == 0 && name.side == mover ? draws.data() : columns.find(name);
        };
        for (int structure = first; structure < stop; ++structure)
            steps<Value>().derive(planner_.table(), judged(structure, mover, EVERY_WALK, find), rules_,
                                  rows.data() + static_cast<size_t>(structure - first) * size);
    }

    // The first row of a structure with a value; the columns are the table's own with that side to move.
    template <class Value>
    int64_t find(int structure, int to_move, const std::vector<Name>& names,
                 const std::vector<Array<const Value>>& arrays, int value) const {
        require_structures(structure, structure + 1, to_move, EVERY_WALK);
        const Columns<Value> columns(planner_, names, arrays);
        nb::gil_scoped_release release;
        const auto one = judged(structure, to_move, EVERY_WALK, [&](const ColumnName& name) -> const void* {
            return name.table == 0 && name.side == to_move ? columns.find(name) : nullptr;
        });
        return steps<Value>().find(planner_.table(), one, value);
    }

  private:
    Judged judged(int structure, int mover, int walk, const FindColumn& find) const {
        Plan plan = planner_.plan(structure, mover, walk, find);
        const Location stated = planner_.locate(plan, plan.here, mover, find);
        return {std::move(plan), stated};
    }

    void require_structures(int first, int stop, int side, int walk) const {
        require(walk >= EVERY_WALK && walk < WALKS, "no such walk");
        const auto& [stronger, weaker] = planner_.table().pawns;
        require(walk == EVERY_WALK || !stronger || !weaker, "an answer to a double step is not of the walk");
        require(first >= 0 && stop >= first && static_cast<size_t>(stop) <= planner_.table().structures.size(),
                "no such structures");
        require(side == 0 || side == 1, "a side is 0 or 1");
    }

    const Planner planner_;
    const Rules rules_;
};

template <class Value>
void bind_values(nb::class_<StructureVerifier>& verifier) {
    verifier.def("check", &StructureVerifier::check<Value>)
        .def("derive", &StructureVerifier::derive<Value>, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
             nb::arg().noconvert())
        .def("find", &StructureVerifier::find<Value>);
}

}  // namespace

void use_structure_level(const std::string& name) {
    for (const StructureKernels* each : LEVELS)
        if (name == each->level) kernels = each;
}

void bind_structures(nb::module_& m) {
    nb::class_<StructureVerifier> verifier(m, "StructureVerifier");
    verifier
        .def(nb::init<const std::vector<TableArguments>&, bool, bool>(), "tables"_a, "carry_depth"_a,
             "push_ends_phase"_a = false)
        .def("needs", &StructureVerifier::needs)
        .def("runs", &StructureVerifier::runs);
    bind_values<int8_t>(verifier);
    bind_values<int16_t>(verifier);
}

}  // namespace kingpair::verify
