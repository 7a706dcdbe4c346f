// The binding of the dense codec: blocks of a column in groups, as deploy/docs/format.md describes them.

#include <nanobind/stl/string.h>

#include <algorithm>
#include <mutex>
#include <optional>

#include "binding.hpp"
#include "dense.hpp"

namespace kingpair {

namespace {

using dense::BLOCK;
using Men = std::vector<std::pair<std::string, int>>;
using Column = Array<const int16_t, nb::ndim<1>>;

dense::Geometry geometry_of(const Men& men, int to_move) {
    require(men.size() >= 2 && men.size() <= 4, "from two men to four");
    require_side(to_move);
    dense::Geometry geometry{};
    geometry.to_move = to_move;
    for (const auto& [letter, side] : men) {
        const size_t kind = std::string("QRBN").find(letter);
        require(letter.size() == 1 && kind != std::string::npos, "a man is one of Q R B N");
        require_side(side);
        geometry.men.man[geometry.men.count++] = {static_cast<verify::Kind>(kind), static_cast<uint8_t>(side)};
    }
    return geometry;
}

void require_blocks(const dense::Geometry& g, size_t first, size_t count) {
    require(first <= g.blocks() && count <= g.blocks() - first, "no such blocks");
}

nb::bytes bytes_of(const std::string& s) { return nb::bytes(s.data(), s.size()); }

class DenseTraining {
  public:
    DenseTraining(const Men& men, int to_move) : geometry_(geometry_of(men, to_move)), training_(geometry_) {}

    void learn(size_t block, Column values) {
        require_blocks(geometry_, block, 1);
        require(values.size() == BLOCK, "a block has 4,096 values");
        nb::gil_scoped_release release;
        training_.learn(geometry_, block, values.data());
    }
    nb::bytes model() const { return bytes_of(training_.model(geometry_).bytes()); }

  private:
    dense::Geometry geometry_;
    dense::Training training_;
};

// A group: the value before it, the length of each block, the blocks.
class DenseCodec {
  public:
    DenseCodec(const Men& men, int to_move, nb::bytes model) : geometry_(geometry_of(men, to_move)) {
        dense::Model read(geometry_);
        require(read.read(reinterpret_cast<const uint8_t*>(model.c_str()), model.size()), "a model of another size");
        chances_.emplace(read);
    }

    nb::bytes encode(size_t first, int before, Column values) {
        const size_t count = values.size() / BLOCK;
        require_blocks(geometry_, first, count);
        require(values.size() % BLOCK == 0, "whole blocks");
        std::string lengths, blocks;
        {
            nb::gil_scoped_release release;
            const std::lock_guard<std::mutex> lock(mutex_);
            for (size_t i = 0; i < count; ++i) {
                const size_t begin = blocks.size();
                if (!dense::encode(geometry_, *chances_, first + i, values.data() + i * BLOCK, blocks))
                    throw nb::value_error("a value that cannot be coded");
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
        std::fill_n(out.data(), out.size(), int16_t{0});
        uint64_t held[64];
        const auto [bytes, size] = parsed.block[at];
        dense::decode(geometry_, *chances_, first + at, bytes, size, out.data(), held,
                      static_cast<int>(out.size() / 64));
    }

    // All values of a group.
    void decode(size_t first, nb::bytes group, Array<int16_t, nb::ndim<1>> out) {
        const size_t count = out.size() / BLOCK;
        require_blocks(geometry_, first, count);
        require(out.size() % BLOCK == 0, "whole blocks");
        const Group parsed(group, count);
        nb::gil_scoped_release release;
        const std::lock_guard<std::mutex> lock(mutex_);
        int16_t before = parsed.before;
        for (size_t i = 0; i < count; ++i) {
            if ((first + i) % geometry_.blocks_of_pair() == 0) before = 0;
            uint64_t held[64];
            int16_t* const values = out.data() + i * BLOCK;
            dense::decode(geometry_, *chances_, first + i, parsed.block[i].first, parsed.block[i].second, values, held);
            for (size_t at = 0; at < BLOCK; ++at) {
                if (held[at / 64] >> at % 64 & 1) before = values[at];
                else values[at] = before;
            }
        }
    }

  private:
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

    dense::Geometry geometry_;
    std::optional<dense::Chances> chances_;
    std::mutex mutex_;
};

}  // namespace

void bind_dense(nb::module_& m) {
    m.attr("DENSE_VERSION") = dense::VERSION;
    nb::class_<DenseTraining>(m, "DenseTraining")
        .def(nb::init<const Men&, int>(), "men"_a, "to_move"_a)
        .def("learn", &DenseTraining::learn)
        .def("model", &DenseTraining::model);
    nb::class_<DenseCodec>(m, "DenseCodec")
        .def(nb::init<const Men&, int, nb::bytes>(), "men"_a, "to_move"_a, "model"_a)
        .def("encode", &DenseCodec::encode)
        .def("decode", &DenseCodec::decode, PLAIN, PLAIN, STRICT)
        .def("decode_block", &DenseCodec::decode_block, PLAIN, PLAIN, PLAIN, PLAIN, STRICT);
}

}  // namespace kingpair
