// The binding of the Syzygy kernels: it checks shapes and releases the GIL. Coding is in syzygy_coding_module.cpp.

#include <algorithm>
#include <deque>

#include "binding.hpp"
#include "syzygy_leading_pawns.hpp"
#include "syzygy_numbering.hpp"
#include "syzygy_positions.hpp"
#include "syzygy_tiles.hpp"

namespace kingpair::syzygy {

void bind_coding(nb::module_&);

namespace {

using Squares = Array<const uint8_t, nb::ndim<2>>;

class Numbering {
  public:
    // Groups are given as (kind, men), with the place of each digit in the order of weights.
    Numbering(const std::vector<std::pair<int, int>>& groups, const std::vector<int>& order, int file) : file_(file) {
        require(file >= 0 && file < 4, "a file is 0 to 3");
        require(groups.size() == order.size(), "a weight for each group");
        for (const auto& [kind, men] : groups) {
            require(kind >= 0 && kind <= static_cast<int>(GroupKind::LIKE), "no such group");
            require(men >= 1 && men_ + men <= MEN_MAX, "from one man to seven");
            groups_.push_back({static_cast<GroupKind>(kind), static_cast<uint8_t>(men_), static_cast<uint8_t>(men), 0});
            men_ += men;
        }
        for (const int each : order) {
            require(each >= 0 && static_cast<size_t>(each) < groups_.size(), "no such group");
            Group& group = groups_[each];
            require(group.factor == 0, "a group has one weight");
            group.factor = size_;
            size_ *= placings(group.kind, group.men, group.first, file);
        }
    }

    uint64_t size() const { return size_; }
    const std::vector<Group>& groups() const { return groups_; }
    int file() const { return file_; }

    nb::object numbers(const Squares& squares) const {
        require(squares.shape(1) == static_cast<size_t>(men_), "a square for each man");
        std::vector<int64_t> out(squares.shape(0));
        {
            nb::gil_scoped_release release;
            for (size_t i = 0; i < out.size(); ++i) {
                uint8_t placed[MEN_MAX];
                std::copy_n(squares.data() + i * men_, men_, placed);
                require(std::all_of(placed, placed + men_, [](int s) { return s < 64; }), "a square is 0 to 63");
                out[i] = static_cast<int64_t>(number_of(groups_, men_, placed));
            }
        }
        return owned(std::move(out));
    }

    void squares(uint64_t first, Array<uint8_t, nb::ndim<2>> out) const {
        require(out.shape(1) == static_cast<size_t>(men_), "a square for each man");
        require(first <= size_ && out.shape(0) <= size_ - first, "there are fewer positions");
        nb::gil_scoped_release release;
        for (size_t i = 0; i < out.shape(0); ++i) squares_of(groups_, file_, first + i, out.data() + i * men_);
    }

  private:
    std::vector<Group> groups_;
    int men_ = 0, file_;
    uint64_t size_ = 1;
};

// Reads whole positions from tables of ours.

template <class T>
using Rows = Array<const T, nb::ndim<1>>;

class TableLookup {
  public:
    // `kings` has the king pairs and symmetries of all pairs of squares; `structures` what placings of pawns are,
    // with the mirror images of the structures.
    TableLookup(Rows<int16_t> pair, Rows<uint8_t> symmetry, Rows<uint8_t> turned, int pairs, std::vector<uint8_t> like,
                std::pair<Rows<int32_t>, std::pair<Rows<uint8_t>, Rows<int32_t>>> structures, int pawns,
                std::pair<Rows<uint8_t>, Rows<uint8_t>> results, bool are_plies, std::vector<uint8_t> order,
                bool swapped)
        : pair_(pair),
          symmetry_(symmetry),
          turned_(turned),
          structure_(structures.first),
          own_mirror_(structures.second.first),
          mirror_(structures.second.second),
          results_{results.first, results.second} {
        require(pair.size() == 4096 && symmetry.size() == 4096 && turned.size() == 512, "tables of kings");
        require(pawns >= 0 && order.size() == 2 + pawns + like.size() && order.size() <= MEN_MAX, "places of men");
        require(!pawns || structure_.size() == size_t{1} << 6 * pawns, "a structure for each placing");
        const int axes = static_cast<int>(like.size());
        lookup_ = {{pair.data(), symmetry.data(), turned.data(), pawns ? structure_.data() : nullptr,
                    own_mirror_.data(), mirror_.data(), pairs, pawns, axes, std::move(like)},
                   {of_side(0), of_side(1)},
                   std::move(order),
                   swapped,
                   are_plies ? &RESULTS_OF_PLIES : &RESULTS_THEMSELVES};
    }

    const Lookup& lookup() const { return lookup_; }
    size_t rows() const { return results_[0].size(); }
    bool are_plies() const { return lookup_.meaning == &RESULTS_OF_PLIES; }

  private:
    const uint8_t* of_side(int side) const { return results_[side].size() ? results_[side].data() : nullptr; }

    Rows<int16_t> pair_;
    Rows<uint8_t> symmetry_, turned_;
    Rows<int32_t> structure_;
    Rows<uint8_t> own_mirror_;
    Rows<int32_t> mirror_;
    Rows<uint8_t> results_[2];
    Lookup lookup_;
};

class Positions {
  public:
    using Tables = std::vector<std::vector<const TableLookup*>>;

    // `taken` has a table for each captive, `promoted` four for each pawn, `taken_promoted` four for each of both.
    Positions(std::vector<uint8_t> men, const Numbering& numbering, const TableLookup& own,
              const std::vector<Rows<int16_t>>& plies, const std::vector<const TableLookup*>& taken,
              const Tables& promoted, const std::vector<Tables>& taken_promoted)
        : plies_(plies), has_plies_(own.are_plies() || !plies.empty()), size_(numbering.size()) {
        require(plies.empty() || plies.size() == 2, "plies of both sides, or none");
        require(men.size() == taken.size() && men.size() == promoted.size() && men.size() == taken_promoted.size(),
                "tables for each man");
        for (const auto& each : plies) require(each.size() == own.rows(), "a number for each row");
        source_ = {std::move(men), numbering.groups(), numbering.file(), kept(&own), {}, {}, {}, {}};
        for (size_t side = 0; side < plies.size(); ++side) source_.plies[side] = plies_[side].data();
        for (const auto* each : taken) source_.taken.push_back(kept(each));
        for (const auto& each : promoted) source_.promoted.push_back(lookups(each));
        for (const auto& pawn : taken_promoted) {
            source_.taken_promoted.emplace_back();
            for (const auto& each : pawn) source_.taken_promoted.back().push_back(lookups(each));
        }
    }

    void read(int to_move, uint64_t first, Array<uint16_t, nb::ndim<1>> results,
              Array<uint16_t, nb::ndim<1>> distances) const {
        require(distances.size() == 0 || has_plies_, "no plies");
        require(distances.size() == 0 || results.size() == 0 || distances.size() == results.size(), "equal lengths");
        nb::gil_scoped_release release;
        read_positions(source_, to_move, first, {results.data(), results.size()}, {distances.data(), distances.size()});
    }

    // Either array may be empty; else it has room for all values.
    void read_part(int to_move, uint64_t part, uint64_t parts, Array<uint16_t, nb::ndim<1>> results,
                   Array<uint16_t, nb::ndim<1>> distances) const {
        require(part < parts && parts <= size_, "no such part");
        require(distances.size() == 0 || has_plies_, "no plies");
        require(std::max(results.size(), distances.size()) == size_, "a value for each position");
        require(distances.size() == 0 || results.size() == 0 || distances.size() == results.size(), "equal lengths");
        nb::gil_scoped_release release;
        syzygy::read_part(source_, to_move, part, parts, {results.data(), results.size()},
                          {distances.data(), distances.size()});
    }

  private:
    // A copy that keeps the arrays alive.
    const Lookup* kept(const TableLookup* table) {
        if (!table) return nullptr;
        kept_.push_back(*table);
        return &kept_.back().lookup();
    }

    std::vector<const Lookup*> lookups(const std::vector<const TableLookup*>& tables) {
        std::vector<const Lookup*> found;
        for (const auto* each : tables) found.push_back(kept(each));
        return found;
    }

    std::vector<Rows<int16_t>> plies_;
    bool has_plies_;
    uint64_t size_;
    std::deque<TableLookup> kept_;
    PositionSource source_;
};

}  // namespace

void bind(nb::module_& m) {
    nb::class_<Numbering>(m, "SyzygyNumbering")
        .def(nb::init<const std::vector<std::pair<int, int>>&, const std::vector<int>&, int>())
        .def_prop_ro("size", &Numbering::size)
        .def("numbers", &Numbering::numbers)
        .def("squares", &Numbering::squares, PLAIN, STRICT);
    nb::class_<TableLookup>(m, "SyzygyLookup")
        .def(nb::init<Rows<int16_t>, Rows<uint8_t>, Rows<uint8_t>, int, std::vector<uint8_t>,
                      std::pair<Rows<int32_t>, std::pair<Rows<uint8_t>, Rows<int32_t>>>, int,
                      std::pair<Rows<uint8_t>, Rows<uint8_t>>, bool, std::vector<uint8_t>, bool>());
    nb::class_<Positions>(m, "SyzygyPositions")
        .def(nb::init<std::vector<uint8_t>, const Numbering&, const TableLookup&, const std::vector<Rows<int16_t>>&,
                      const std::vector<const TableLookup*>&, const Positions::Tables&,
                      const std::vector<Positions::Tables>&>())
        .def("read", &Positions::read, PLAIN, PLAIN, STRICT, STRICT)
        .def("read_part", &Positions::read_part, PLAIN, PLAIN, PLAIN, STRICT, STRICT);
    bind_coding(m);
    m.def(
        "syzygy_results",
        [](Rows<int16_t> plies, Array<uint8_t, nb::ndim<1>> out) {
            require(plies.size() == out.size(), "a result for each");
            nb::gil_scoped_release release;
            find_results({plies.data(), plies.size()}, {out.data(), out.size()});
        },
        PLAIN, STRICT);
    m.def("syzygy_leading_file", [](const std::vector<uint8_t>& pawns) {
        require(!pawns.empty() && std::all_of(pawns.begin(), pawns.end(), [](int s) { return s >= 8 && s < 56; }),
                "a pawn stands on ranks 2 to 7");
        return leading_file(pawns.data(), static_cast<int>(pawns.size()));
    });
}

}  // namespace kingpair::syzygy
