// The binding of the dense codec: blocks of a column in groups, as deploy/docs/format.md describes them.

#include <nanobind/stl/string.h>

#include <algorithm>
#include <mutex>
#include <optional>

#include "binding.hpp"
#include "dense_pawns.hpp"

namespace kingpair {

namespace {

using dense::BLOCK;
using Men = std::vector<std::pair<std::string, int>>;
using Column = Array<const int16_t, nb::ndim<1>>;
using Squares = Array<const uint8_t, nb::ndim<2>>;

verify::Men men_of(const Men& men, int to_move) {
    require_side(to_move);
    verify::Men found{};
    for (const auto& [letter, side] : men) {
        const size_t kind = std::string("QRBN").find(letter);
        require(letter.size() == 1 && kind != std::string::npos, "a man is one of Q R B N");
        require_side(side);
        found.man[found.count++] = {static_cast<verify::Kind>(kind), static_cast<uint8_t>(side)};
    }
    return found;
}

dense::Geometry geometry_of(const Men& men, int to_move) {
    require(men.size() >= 2 && men.size() <= 4, "from two men to four");
    return {men_of(men, to_move), to_move};
}

// `squares` has the pawns of each structure, first those of the stronger side.
dense::PawnGeometry pawn_geometry_of(const Men& pieces, int to_move, std::pair<int, int> pawns, Squares squares) {
    const auto [stronger, weaker] = pawns;
    require(stronger >= 0 && weaker >= 0 && stronger <= 4 && weaker <= 4, "from no pawn to four");
    const size_t of_structure = static_cast<size_t>(stronger + weaker);
    require(of_structure >= 1 && pieces.size() + of_structure <= 4, "from one man to four, and a pawn among them");
    require(squares.shape(1) == of_structure && squares.shape(0) >= 1, "a square for each pawn");
    for (size_t i = 0; i < squares.size(); ++i)
        require(squares.data()[i] >= 8 && squares.data()[i] < 56, "a pawn stands on the ranks 2 to 7");
    return {men_of(pieces, to_move), to_move, stronger, weaker, squares.data(), squares.shape(0)};
}

template <class Geometry>
void require_blocks(const Geometry& g, size_t first, size_t count) {
    require(first <= g.blocks() && count <= g.blocks() - first, "no such blocks");
}

// The blocks that so many values fill, from one on; the last one of a table may be shorter.
template <class Geometry>
size_t blocks_of(const Geometry& g, size_t first, size_t values) {
    const size_t count = (values + BLOCK - 1) / BLOCK;
    require_blocks(g, first, count);
    require(!count || values == (count - 1) * BLOCK + g.rows_of(first + count - 1), "whole blocks");
    return count;
}

nb::bytes bytes_of(const std::string& s) { return nb::bytes(s.data(), s.size()); }

template <class Geometry, class Training>
class Trainer {
  public:
    explicit Trainer(Geometry&& geometry) : geometry_(std::move(geometry)), training_(geometry_) {}

    void learn(size_t block, Column values) {
        require_whole(block, values);
        nb::gil_scoped_release release;
        training_.learn(geometry_, block, values.data());
    }
    void weigh(size_t block, Column values) {
        require_whole(block, values);
        nb::gil_scoped_release release;
        training_.weigh(geometry_, block, values.data());
    }
    nb::bytes model() const { return bytes_of(training_.model(geometry_).bytes()); }

  private:
    void require_whole(size_t block, const Column& values) const {
        require_blocks(geometry_, block, 1);
        require(values.size() == geometry_.rows_of(block), "a block has 4,096 values");
    }

    Geometry geometry_;
    Training training_;
};

using DenseTraining = Trainer<dense::Geometry, dense::Training>;
using DensePawnTraining = Trainer<dense::PawnGeometry, dense::PawnTraining>;

dense::Model empty_model(const dense::Geometry& g) { return dense::Model(g); }
using dense::empty_model;

// A group: the value before it, the length of each block, the blocks.
template <class Geometry>
class Codec {
  public:
    Codec(Geometry&& geometry, nb::bytes model) : geometry_(std::move(geometry)) {
        dense::Model read = empty_model(geometry_);
        require(read.read(reinterpret_cast<const uint8_t*>(model.c_str()), model.size()), "a model of another size");
        chances_.emplace(read);
    }

    nb::bytes encode(size_t first, int before, Column values) {
        const size_t count = blocks_of(geometry_, first, values.size());
        std::string lengths, blocks;
        {
            nb::gil_scoped_release release;
            const std::lock_guard<std::mutex> lock(mutex_);
            auto filling = static_cast<int16_t>(before);
            for (size_t i = 0; i < count; ++i) {
                const size_t begin = blocks.size();
                const int16_t* const of_block = values.data() + i * BLOCK;
                uint64_t held[64];
                if (!dense::encode(geometry_, *chances_, first + i, of_block, held, blocks))
                    throw nb::value_error("a value that cannot be coded");
                for_others(first + i, held, of_block, filling, [](int16_t value, int16_t filled) {
                    if (value != filled) throw nb::value_error("a row without a position that differs from the last");
                });
                append(lengths, blocks.size() - begin);
            }
        }
        const char head[2] = {static_cast<char>(before & 255), static_cast<char>(before >> 8)};
        return bytes_of(std::string(head, 2) + lengths + blocks);
    }

    // The first values of one block among `count` of a group whose first block is `first`. Those of rows without a
    // position are 0.
    void decode_block(size_t first, nb::bytes group, size_t count, size_t at, Array<int16_t, nb::ndim<1>> out) {
        require_blocks(geometry_, first, count);
        require(at < count, "no such block in the group");
        require(out.size() <= BLOCK && out.size() % 64 == 0, "a block has 64 x 64 values");
        const Group parsed(group, count);
        nb::gil_scoped_release release;
        const std::lock_guard<std::mutex> lock(mutex_);
        int16_t values[BLOCK] = {};
        uint64_t held[64];
        const auto [bytes, size] = parsed.block[at];
        dense::decode(geometry_, *chances_, first + at, bytes, size, values, held, out.size());
        std::copy_n(values, out.size(), out.data());
    }

    // All values of a group.
    void decode(size_t first, nb::bytes group, Array<int16_t, nb::ndim<1>> out) {
        const size_t count = blocks_of(geometry_, first, out.size());
        const Group parsed(group, count);
        nb::gil_scoped_release release;
        const std::lock_guard<std::mutex> lock(mutex_);
        int16_t before = parsed.before;
        for (size_t i = 0; i < count; ++i) {
            uint64_t held[64];
            int16_t* const values = out.data() + i * BLOCK;
            dense::decode(geometry_, *chances_, first + i, parsed.block[i].first, parsed.block[i].second, values, held);
            for_others(first + i, held, values, before, [](int16_t& value, int16_t filled) { value = filled; });
        }
    }

  private:
    // Calls back with the value of each row without a position, and the value that it repeats: that of the row before,
    // or 0 where a king pair, or with pawns a structure, begins.
    template <class Value, class Function>
    void for_others(size_t block, const uint64_t* held, Value* values, int16_t& before, Function&& function) const {
        size_t until = block * BLOCK % geometry_.rows_filled();
        until = until ? geometry_.rows_filled() - until : 0;
        for (size_t at = 0; at < geometry_.rows_of(block); ++at) {
            if (at == until) {
                before = 0;
                until += geometry_.rows_filled();
            }
            if (held[at / 64] >> at % 64 & 1) before = values[at];
            else function(values[at], before);
        }
    }

    struct Group {
        int16_t before = 0;
        std::vector<std::pair<const uint8_t*, size_t>> block;

        Group(const nb::bytes& group, size_t count) {
            const auto* at = reinterpret_cast<const uint8_t*>(group.c_str());
            const uint8_t* const end = at + group.size();
            require(group.size() >= 2, "a group is too short");
            before = static_cast<int16_t>(at[0] | at[1] << 8);
            at += 2;
            std::vector<size_t> lengths;
            for (size_t i = 0; i < count; ++i) {
                size_t length = 0;
                for (int shift = 0;; shift += 7) {
                    require(at < end && shift <= 21, "a length in a group is wrong");
                    length |= static_cast<size_t>(*at & 127) << shift;
                    if (!(*at++ & 128)) break;
                }
                lengths.push_back(length);
            }
            for (size_t length : lengths) {
                require(length <= static_cast<size_t>(end - at), "a block in a group is too long");
                block.emplace_back(at, length);
                at += length;
            }
            require(at == end, "a group is too long");
        }
    };

    static void append(std::string& out, size_t number) {
        for (; number > 127; number >>= 7) out += static_cast<char>(number | 128);
        out += static_cast<char>(number);
    }

    Geometry geometry_;
    std::optional<dense::Chances> chances_;
    std::mutex mutex_;
};

using DenseCodec = Codec<dense::Geometry>;
using DensePawnCodec = Codec<dense::PawnGeometry>;

template <class Bound>
void bind_codec(nb::class_<Bound>& bound) {
    bound.def("encode", &Bound::encode)
        .def("decode", &Bound::decode, PLAIN, PLAIN, STRICT)
        .def("decode_block", &Bound::decode_block, PLAIN, PLAIN, PLAIN, PLAIN, STRICT);
}

}  // namespace

void bind_dense(nb::module_& m) {
    m.attr("DENSE_VERSION") = dense::VERSION;
    m.attr("DENSE_PAWNS_VERSION") = dense::PAWNS_VERSION;
    nb::class_<DenseTraining>(m, "DenseTraining")
        .def("__init__", [](DenseTraining* self, const Men& men,
                            int to_move) { new (self) DenseTraining(geometry_of(men, to_move)); })
        .def("learn", &DenseTraining::learn)
        .def("model", &DenseTraining::model);
    nb::class_<DensePawnTraining>(m, "DensePawnTraining")
        .def("__init__",
             [](DensePawnTraining* self, const Men& pieces, int to_move, std::pair<int, int> pawns, Squares squares) {
                 new (self) DensePawnTraining(pawn_geometry_of(pieces, to_move, pawns, squares));
             })
        .def("learn", &DensePawnTraining::learn)
        .def("weigh", &DensePawnTraining::weigh)
        .def("model", &DensePawnTraining::model);
    nb::class_<DenseCodec> codec(m, "DenseCodec");
    codec.def("__init__", [](DenseCodec* self, const Men& men, int to_move, nb::bytes model) {
        new (self) DenseCodec(geometry_of(men, to_move), model);
    });
    bind_codec(codec);
    nb::class_<DensePawnCodec> with_pawns(m, "DensePawnCodec");
    with_pawns.def("__init__", [](DensePawnCodec* self, const Men& pieces, int to_move, std::pair<int, int> pawns,
                                  Squares squares, nb::bytes model) {
        new (self) DensePawnCodec(pawn_geometry_of(pieces, to_move, pawns, squares), model);
    });
    bind_codec(with_pawns);
}

}  // namespace kingpair
