// Reading FENs into the rows of tables (fen.hpp).

#include <nanobind/stl/string_view.h>

#include <cstring>
#include <vector>

#include "binding.hpp"
#include "fen.hpp"

namespace kingpair {
namespace {

struct RowColumns {
    std::vector<uint8_t> side;
    std::vector<uint64_t> material;
    std::vector<int64_t> row;

    explicit RowColumns(size_t n) : side(n), material(n), row(n) {}

    void put(size_t i, const TableRow& at) {
        side[i] = at.weaker_to_move;
        material[i] = at.material;
        row[i] = at.row;
    }

    void add(const TableRow& at) {
        side.push_back(at.weaker_to_move);
        material.push_back(at.material);
        row.push_back(at.row);
    }

    nb::tuple take() {
        return nb::make_tuple(owned(std::move(side)), owned(std::move(material)), owned(std::move(row)));
    }
};

constexpr uint8_t ONLY_MOVES = 4;

struct Reader {
    RowIndex index;

    void list_structures(int stronger, int weaker, Array<const int64_t, nb::ndim<1>> keys) {
        require(stronger >= 0 && weaker >= 0 && stronger + weaker <= TABLE_MEN_MAX, "too many pawns");
        index.structures[stronger][weaker].assign(keys.data(), keys.data() + keys.size());
    }

    // The status of each FEN; its row; the number of its captures en passant, with a bit if it has no other move; and
    // the rows after the captures of all FENs, one after another.
    nb::tuple read(const nb::list& fens) const {
        const size_t n = fens.size();
        std::vector<uint8_t> status(n), right(n);
        RowColumns rows(n), after(0);
        Read r;
        for (size_t i = 0; i < n; ++i) {
            Py_ssize_t size = 0;
            const char* text = PyUnicode_AsUTF8AndSize(fens[i].ptr(), &size);
            if (!text) throw nb::python_error();
            read_fen(index, {text, static_cast<size_t>(size)}, r);
            status[i] = static_cast<uint8_t>(r.status);
            rows.put(i, r.at);
            if (r.status != Reading::good) continue;
            right[i] = static_cast<uint8_t>(r.captures | (r.only_moves ? ONLY_MOVES : 0));
            for (int c = 0; c < r.captures; ++c) after.add(r.after[c]);
        }
        return nb::make_tuple(owned(std::move(status)), rows.take(), owned(std::move(right)), after.take());
    }
};

nb::tuple row_tuple(const TableRow& at) { return nb::make_tuple(at.material, at.weaker_to_move, at.row); }

// One FEN: its status, its row, whether it has no move but captures en passant, and the rows after these.
nb::tuple read_one(const Reader& reader, std::string_view fen) {
    Read r;
    read_fen(reader.index, fen, r);
    nb::list after;
    for (int c = 0; c < r.captures; ++c) after.append(row_tuple(r.after[c]));
    return nb::make_tuple(static_cast<int>(r.status), row_tuple(r.at), r.only_moves, after);
}

using PairOfKings = Array<const int16_t, nb::shape<64, 64>>;
using SymmetryOfKings = Array<const uint8_t, nb::shape<64, 64>>;

void new_reader(Reader* self, PairOfKings pair, SymmetryOfKings symmetry, Array<const bool, nb::ndim<1>> diagonal,
                PairOfKings fixed) {
    require(diagonal.size() == TURNED_PAIRS, "a mark for each partition");
    new (self) Reader();
    Placements& turned = self->index.turned;
    std::memcpy(turned.pair, pair.data(), sizeof turned.pair);
    std::memcpy(turned.symmetry, symmetry.data(), sizeof turned.symmetry);
    std::memcpy(turned.diagonal, diagonal.data(), sizeof turned.diagonal);
    std::memcpy(self->index.fixed, fixed.data(), sizeof self->index.fixed);
}

}  // namespace

void bind_fen(nb::module_& m) {
    nb::class_<Reader>(m, "Reader")
        .def("__init__", new_reader, "pair"_a, "symmetry"_a, "diagonal"_a, "fixed"_a)
        .def("list_structures", &Reader::list_structures, "stronger"_a, "weaker"_a, "keys"_a)
        .def("read", &Reader::read, "fens"_a)
        .def("read_one", read_one, "fen"_a);
}

}  // namespace kingpair
