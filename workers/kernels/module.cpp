// The Python face of the kernels: it checks shapes, releases the GIL, and picks the instruction-set level.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "kernels.hpp"
#include "slots.hpp"
#include "verify_module.hpp"

namespace nb = nanobind;
using namespace nb::literals;

// Arrays that are written must not be converted: the result would go to a copy and be lost.
#define STRICT nb::arg().noconvert()
#define PLAIN nb::arg()
#define OPTIONAL nb::arg().none()

namespace kingpair {

#if defined(__x86_64__)
namespace v2 { extern const Kernels KERNELS; }
namespace v3 { extern const Kernels KERNELS; }
namespace v4 { extern const Kernels KERNELS; }
#else
namespace generic { extern const Kernels KERNELS; }
#endif

namespace {

std::vector<const Kernels*> levels_here() {
    std::vector<const Kernels*> here;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("x86-64-v2")) here.push_back(&v2::KERNELS);
    if (__builtin_cpu_supports("x86-64-v3")) here.push_back(&v3::KERNELS);
    if (__builtin_cpu_supports("x86-64-v4")) here.push_back(&v4::KERNELS);
#else
    here.push_back(&generic::KERNELS);
#endif
    return here;
}

const Kernels* kernels = nullptr;

void use(const Kernels* level) {
    kernels = level;
    verify::use_level(level->level);
}

template <class T, class... Extra>
using Array = nb::ndarray<T, nb::numpy, nb::c_contig, nb::device::cpu, Extra...>;
using Words = Array<uint64_t>;
using ConstWords = Array<const uint64_t>;

void require(bool condition, const char* what) {
    if (!condition) throw nb::value_error(what);
}

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 64 == 0; }

struct LayerArrays {
    Words words;
    Array<uint8_t> occupied;
    Array<uint32_t> live;

    // Of all partitions that the domain holds.
    Layer get(const Domain& d) const {
        for (int p = 0; p < d.pairs; ++p) require_place(d, p);
        return fitting(d);
    }

    // Of these partitions at least.
    Layer get(const Domain& d, const Parts& parts) const {
        for (size_t i = 0; i < parts.count; ++i) require_place(d, parts.pair[i]);
        return fitting(d);
    }

    Layer get(const Domain& d, int pair) const {
        require(pair >= 0 && pair < d.pairs && d.slot[pair] >= 0, "a partition that is not held here");
        require_place(d, pair);
        return fitting(d);
    }

  private:
    Layer fitting(const Domain& d) const {
        const size_t held = live.size();
        require(occupied.size() == held * d.rows() && words.size() == held * d.rows() * 64,
                "a layer's arrays do not fit the domain");
        require(aligned(words.data()), "a layer's words are not aligned to 64 bytes");
        return {words.data(), occupied.data(), live.data()};
    }

    void require_place(const Domain& d, int pair) const {
        require(d.slot[pair] < static_cast<int64_t>(live.size()), "a layer holds fewer partitions than the domain");
    }
};

// Three zeroed partitions and their marks.
class ScratchSpace {
  public:
    explicit ScratchSpace(const Domain& d) : rows_(d.rows()) {
        const size_t bytes = rows_ * 512;
        memory_.reset(static_cast<uint8_t*>(std::aligned_alloc(64, 3 * bytes + 3 * ((rows_ + 63) / 64 * 64))));
        if (!memory_) throw std::bad_alloc();
        std::memset(memory_.get(), 0, 3 * bytes + 3 * rows_);
    }
    Scratch get(const Domain& d) const {
        require(d.rows() == rows_, "scratch space of another domain");
        const size_t bytes = rows_ * 512;
        uint8_t* m = memory_.get();
        auto words = [&](size_t i) { return reinterpret_cast<uint64_t*>(m + i * bytes); };
        uint8_t* marks = m + 3 * bytes;
        return {words(0), words(1), words(2), marks, marks + rows_, marks + 2 * rows_};
    }

  private:
    struct Free {
        void operator()(uint8_t* p) const { std::free(p); }
    };
    size_t rows_;
    std::unique_ptr<uint8_t, Free> memory_;
};

using Men = std::vector<std::pair<std::string, int>>;

Kind kind_of(const std::string& letter) {
    static const std::string letters = "QRBN";
    const size_t at = letters.find(letter);
    require(letter.size() == 1 && at != std::string::npos, "a man is one of Q R B N");
    return static_cast<Kind>(at);
}

// steps: [side][pair][up to 8][pair, symmetry, square], padded with -1.
Domain make_domain(const Men& men, Array<const uint8_t, nb::ndim<2>> kings, Array<const int16_t, nb::ndim<4>> steps,
                   Array<const int16_t, nb::ndim<1>> slots) {
    Domain d{};
    require(men.size() <= MEN_AXES_MAX, "too many men");
    for (const auto& [letter, side] : men) {
        require(side == STRONGER || side == WEAKER, "a side is 0 or 1");
        d.man[d.men++] = {kind_of(letter), static_cast<uint8_t>(side)};
    }
    d.pairs = static_cast<int>(kings.shape(1));
    require(kings.shape(0) == 2 && d.pairs <= PAIRS_MAX, "kings: [2][pairs]");
    require(steps.shape(0) == 2 && steps.shape(1) == kings.shape(1) && steps.shape(2) == 8 && steps.shape(3) == 3,
            "steps: [2][pairs][8][3]");
    require(slots.shape(0) == kings.shape(1), "slots: [pairs]");
    for (int p = 0; p < d.pairs; ++p) {
        d.slot[p] = slots(p);
        require(slots(p) >= -1 && kings(0, p) < 64 && kings(1, p) < 64, "no such slot or square");
        for (int side = 0; side < 2; ++side) {
            d.king[side][p] = kings(side, p);
            Steps& out = d.steps[side][p];
            for (int i = 0; i < 8 && steps(side, p, i, 0) >= 0; ++i) {
                require(steps(side, p, i, 0) < d.pairs && steps(side, p, i, 1) >= 0 && steps(side, p, i, 1) < 8 &&
                            steps(side, p, i, 2) >= 0 && steps(side, p, i, 2) < 64,
                        "a step leads nowhere");
                out.step[out.count++] = {steps(side, p, i, 0), static_cast<uint8_t>(steps(side, p, i, 1)),
                                         static_cast<uint8_t>(steps(side, p, i, 2))};
            }
        }
    }
    return d;
}

Parts parts_of(const Domain& d, const Array<const int16_t, nb::ndim<1>>& pairs) {
    for (size_t i = 0; i < pairs.size(); ++i)
        require(pairs.data()[i] >= 0 && pairs.data()[i] < d.pairs && d.slot[pairs.data()[i]] >= 0,
                "a partition that is not held here");
    return {pairs.data(), pairs.size()};
}

using Smaller = std::vector<nb::object>;

// Per man an array, an array with marks of the partitions that hold anything, or None.
Exits exits_of(const Domain& d, const Smaller& smaller) {
    Exits exits{};
    require(smaller.empty() || smaller.size() == static_cast<size_t>(d.men), "one smaller set or None for each man");
    const size_t size = d.men - 1 < 2 ? 64 : size_t{1} << (6 * (d.men - 2));
    for (size_t i = 0; i < smaller.size(); ++i) {
        if (smaller[i].is_none()) continue;
        const bool marked = nb::isinstance<nb::tuple>(smaller[i]);
        auto words = nb::cast<ConstWords>(marked ? nb::object(smaller[i][0]) : smaller[i]);
        require(words.size() == size * d.pairs && aligned(words.data()), "a smaller set does not fit");
        exits.words[i] = words.data();
        if (!marked) continue;
        auto live = nb::cast<Array<const uint8_t, nb::ndim<1>>>(smaller[i][1]);
        require(live.size() == static_cast<size_t>(d.pairs), "a mark for each partition of a smaller set");
        exits.live[i] = live.data();
    }
    return exits;
}

const uint64_t* canonical_of(const Domain& d, const nb::object& masks) {
    if (masks.is_none()) return nullptr;
    auto words = nb::cast<ConstWords>(masks);
    require(words.size() == 2 * d.rows() * 64 && aligned(words.data()), "canonical masks do not fit");
    return words.data();
}

using Pairs = Array<const int16_t, nb::ndim<1>>;
using Counts = Array<uint64_t, nb::ndim<1>>;

using Stream = Array<const uint8_t, nb::ndim<1>>;
using Column8 = Array<int8_t, nb::ndim<1>>;
using Column16 = Array<int16_t, nb::ndim<1>>;

// One buffer with the streams of the partitions, and where each ends. The buffer is the thread's own, and good until it
// packs again.
nb::tuple packed(const Domain& d, const Pairs& pairs, const LayerArrays& layer) {
    auto parts = parts_of(d, pairs);
    auto l = layer.get(d, parts);
    // Kept from call to call: it is as large as a full layer would need.
    static thread_local std::vector<uint8_t> buffer;
    std::vector<size_t> ends;
    size_t end = 0;
    {
        nb::gil_scoped_release release;
        const size_t most = parts.count * packed_max(d.rows());
        if (buffer.size() < most) buffer.resize(most);
        for (size_t i = 0; i < parts.count; ++i) {
            end += kernels->pack(d, parts.pair[i], l, buffer.data() + end);
            ends.push_back(end);
        }
    }
    PyObject* const streams = PyMemoryView_FromMemory(reinterpret_cast<char*>(buffer.data()),
                                                      static_cast<Py_ssize_t>(end), PyBUF_READ);
    if (!streams) throw nb::python_error();
    return nb::make_tuple(nb::steal(streams), ends);
}

template <class T>
void require_column(const Domain& d, const T& column) {
    const size_t slots = d.men ? size_t{1} << (6 * d.men) : 1;
    require(column.size() == slots, "a column does not fit the domain");
}

template <class T>
nb::object owned(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

template <class T>
void bind_values(nb::module_& m) {
    using Column = Array<T, nb::ndim<1>>;
    using ConstColumn = Array<const T, nb::ndim<1>>;
    m.def("spread_values", [](const Domain& d, bool diagonal, ConstWords wanted, Column column) {
        require_column(d, column);
        require(64 * wanted.size() >= column.size(), "the wanted slots do not fit the domain");
        nb::gil_scoped_release release;
        spread_values(like_men(d), diagonal, wanted.data(), column.data());
    }, PLAIN, PLAIN, STRICT, STRICT);
    m.def("reframe_values", [](const Domain& d, int symmetry, const std::vector<uint8_t>& axis, ConstColumn in,
                               Column out) {
        require_column(d, in);
        require_column(d, out);
        require(axis.size() == static_cast<size_t>(d.men), "an axis for each man");
        for (uint8_t a : axis) require(a < d.men, "no such axis");
        nb::gil_scoped_release release;
        reframe_values(d.men, symmetry, axis.data(), in.data(), out.data());
    }, PLAIN, PLAIN, PLAIN, STRICT, STRICT);
}

struct Reader {
    Placements placements;

    // status, weaker side to move, material, slot: an array each.
    nb::tuple read(const nb::list& fens) const {
        const size_t n = fens.size();
        std::vector<uint8_t> status(n), side(n);
        std::vector<uint32_t> material(n);
        std::vector<int64_t> slot(n);
        for (size_t i = 0; i < n; ++i) {
            Py_ssize_t size = 0;
            const char* text = PyUnicode_AsUTF8AndSize(fens[i].ptr(), &size);
            if (!text) throw nb::python_error();
            const Read r = read_fen(placements, {text, static_cast<size_t>(size)});
            status[i] = static_cast<uint8_t>(r.status);
            side[i] = r.weaker_to_move;
            material[i] = r.material;
            slot[i] = r.slot;
        }
        return nb::make_tuple(owned(std::move(status)), owned(std::move(side)), owned(std::move(material)),
                              owned(std::move(slot)));
    }
};

uint64_t* counts_of(const Counts& counts, const Parts& parts) {
    require(counts.size() == parts.count, "a count per partition");
    return counts.data();
}

}  // namespace
}  // namespace kingpair

using namespace kingpair;

NB_MODULE(_kernels, m) {
    use(levels_here().back());
    verify::bind(m);

    m.def("levels", [] {
        std::vector<std::string> names;
        for (const Kernels* k : levels_here()) names.emplace_back(k->level);
        return names;
    });
    m.def("level", [] { return std::string(kernels->level); });
    m.def("use_level", [](const std::string& name) {
        for (const Kernels* k : levels_here())
            if (name == k->level) {
                use(k);
                return;
            }
        throw nb::value_error(("no kernels of level " + name + " run here").c_str());
    });

    nb::class_<Domain>(m, "Domain")
        .def("__init__", [](Domain* self, const Men& men, Array<const uint8_t, nb::ndim<2>> kings,
                            Array<const int16_t, nb::ndim<4>> steps, Array<const int16_t, nb::ndim<1>> slots) {
            new (self) Domain(make_domain(men, kings, steps, slots));
        }, "men"_a, "kings"_a, "steps"_a, "slots"_a)
        .def_ro("men", &Domain::men)
        .def_prop_ro("rows", [](const Domain& d) { return d.rows(); });

    nb::class_<LayerArrays>(m, "Layer")
        .def("__init__", [](LayerArrays* self, Words words, Array<uint8_t> occupied, Array<uint32_t> live) {
            new (self) LayerArrays{words, occupied, live};
        }, "words"_a.noconvert(), "occupied"_a.noconvert(), "live"_a.noconvert());

    nb::class_<ScratchSpace>(m, "Scratch").def(nb::init<const Domain&>());

    m.def("prepare", [](const Domain& d, Pairs pairs, int mover, const Smaller& escapes, const LayerArrays& open,
                        const ScratchSpace& s) {
        require(mover == STRONGER || mover == WEAKER, "a side is 0 or 1");
        auto parts = parts_of(d, pairs);
        auto exits = exits_of(d, escapes);
        auto o = open.get(d, parts);
        auto scratch = s.get(d);
        nb::gil_scoped_release release;
        kernels->prepare(d, parts, mover, exits, o, scratch);
    });
    m.def("lose_at_once", [](const Domain& d, Pairs pairs, int winner, const Smaller& won, const LayerArrays& open_w,
                             const LayerArrays& open_l, const LayerArrays& lost, const nb::object& canonical,
                             Counts counts, const ScratchSpace& s) {
        require(winner == STRONGER || winner == WEAKER, "a side is 0 or 1");
        auto parts = parts_of(d, pairs);
        auto exits = exits_of(d, won);
        auto ow = open_w.get(d), ol = open_l.get(d, parts), l = lost.get(d, parts);
        auto c = canonical_of(d, canonical);
        auto n = counts_of(counts, parts);
        auto scratch = s.get(d);
        nb::gil_scoped_release release;
        kernels->lose_at_once(d, parts, winner, exits, ow, ol, l, c, n, scratch);
    }, PLAIN, STRICT, PLAIN, PLAIN, PLAIN, PLAIN, PLAIN, OPTIONAL, STRICT, PLAIN);
    m.def("win", [](const Domain& d, Pairs pairs, int winner, const Smaller& lost_after, const LayerArrays& lost,
                    const LayerArrays& open_w, const LayerArrays& won, const nb::object& canonical, Counts counts,
                    const ScratchSpace& s) {
        require(winner == STRONGER || winner == WEAKER, "a side is 0 or 1");
        auto parts = parts_of(d, pairs);
        auto exits = exits_of(d, lost_after);
        auto l = lost.get(d), ow = open_w.get(d, parts), w = won.get(d, parts);
        auto c = canonical_of(d, canonical);
        auto n = counts_of(counts, parts);
        auto scratch = s.get(d);
        nb::gil_scoped_release release;
        kernels->win(d, parts, winner, exits, l, ow, w, c, n, scratch);
    }, PLAIN, STRICT, PLAIN, PLAIN, PLAIN, PLAIN, PLAIN, OPTIONAL, STRICT, PLAIN);
    m.def("lose", [](const Domain& d, Pairs pairs, int winner, const LayerArrays& won, const LayerArrays& open_w,
                     const LayerArrays& open_l, const LayerArrays& lost, const nb::object& canonical, Counts counts,
                     const ScratchSpace& s, const nb::object& freed) {
        require(winner == STRONGER || winner == WEAKER, "a side is 0 or 1");
        auto parts = parts_of(d, pairs);
        auto w = won.get(d), ow = open_w.get(d), ol = open_l.get(d, parts), l = lost.get(d, parts);
        const Layer f = freed.is_none() ? Layer{} : nb::cast<const LayerArrays&>(freed).get(d, parts);
        auto c = canonical_of(d, canonical);
        auto n = counts_of(counts, parts);
        auto scratch = s.get(d);
        nb::gil_scoped_release release;
        kernels->lose(d, parts, winner, w, f, ow, ol, l, c, n, scratch);
    }, PLAIN, STRICT, PLAIN, PLAIN, PLAIN, PLAIN, PLAIN, OPTIONAL, STRICT, PLAIN, OPTIONAL = nb::none());
    m.def("legal", [](const Domain& d, int pair, int to_move, Words out, const ScratchSpace& s) {
        require(pair >= 0 && pair < d.pairs && to_move >= -1 && to_move <= 1, "no such partition or side");
        require(out.size() == d.rows() * 64 && aligned(out.data()), "the set does not fit the domain");
        auto scratch = s.get(d);
        nb::gil_scoped_release release;
        kernels->legal(d, pair, to_move, out.data(), scratch);
    }, PLAIN, PLAIN, PLAIN, STRICT, PLAIN);
    m.def("pack", packed);
    m.def("take_out", [](const Domain& d, int pair, Stream stream, const LayerArrays& open) {
        auto l = open.get(d, pair);
        nb::gil_scoped_release release;
        return kernels->take_out(d, pair, stream.data(), stream.size(), l);
    });
    m.def("put_in", [](const Domain& d, int pair, Stream stream, const LayerArrays& open) {
        auto l = open.get(d, pair);
        nb::gil_scoped_release release;
        return kernels->put_in(d, pair, stream.data(), stream.size(), l);
    });
    m.def("restore", [](const Domain& d, int pair, Stream stream, const LayerArrays& layer, const nb::object& less) {
        auto l = layer.get(d, pair);
        const Layer o = less.is_none() ? Layer{} : nb::cast<const LayerArrays&>(less).get(d, pair);
        nb::gil_scoped_release release;
        return kernels->restore(d, pair, stream.data(), stream.size(), l, o);
    }, PLAIN, PLAIN, PLAIN, PLAIN, OPTIONAL = nb::none());
    m.def("refresh", [](const Domain& d, int pair, const LayerArrays& layer) {
        auto l = layer.get(d, pair);
        nb::gil_scoped_release release;
        kernels->refresh(d, pair, l);
    });
    m.def("paint", [](const Domain& d, Stream stream, int value, Column8 column) {
        require_column(d, column);
        nb::gil_scoped_release release;
        return kernels->paint8(d, stream.data(), stream.size(), value, column.data());
    }, PLAIN, STRICT, PLAIN, STRICT);
    m.def("paint", [](const Domain& d, Stream stream, int value, Column16 column) {
        require_column(d, column);
        nb::gil_scoped_release release;
        return kernels->paint16(d, stream.data(), stream.size(), value, column.data());
    }, PLAIN, STRICT, PLAIN, STRICT);
    m.def("fill", [](Column8 column, ConstWords counted) {
        require(column.size() == 64 * counted.size(), "a column does not fit its slots");
        nb::gil_scoped_release release;
        kernels->fill8(column.data(), counted.data(), counted.size());
    }, STRICT, STRICT);
    m.def("fill", [](Column16 column, ConstWords counted) {
        require(column.size() == 64 * counted.size(), "a column does not fit its slots");
        nb::gil_scoped_release release;
        kernels->fill16(column.data(), counted.data(), counted.size());
    }, STRICT, STRICT);
    m.def("equal", [](Array<const int8_t, nb::ndim<1>> column, int value, Words out) {
        require(column.size() == 64 * out.size(), "a column does not fit its slots");
        nb::gil_scoped_release release;
        kernels->equal8(column.data(), value, out.size(), out.data());
    }, STRICT, PLAIN, STRICT);
    m.def("equal", [](Array<const int16_t, nb::ndim<1>> column, int value, Words out) {
        require(column.size() == 64 * out.size(), "a column does not fit its slots");
        nb::gil_scoped_release release;
        kernels->equal16(column.data(), value, out.size(), out.data());
    }, STRICT, PLAIN, STRICT);
    m.def("signs", [](Array<const int8_t, nb::ndim<1>> column, Words won, Words lost) {
        require(column.size() == 64 * won.size() && won.size() == lost.size(), "a column does not fit its slots");
        nb::gil_scoped_release release;
        kernels->signs8(column.data(), won.size(), won.data(), lost.data());
    }, STRICT, STRICT, STRICT);
    m.def("signs", [](Array<const int16_t, nb::ndim<1>> column, Words won, Words lost) {
        require(column.size() == 64 * won.size() && won.size() == lost.size(), "a column does not fit its slots");
        nb::gil_scoped_release release;
        kernels->signs16(column.data(), won.size(), won.data(), lost.data());
    }, STRICT, STRICT, STRICT);

    m.def("canonical_mask", [](const Domain& d, bool diagonal, Words out) {
        require(out.size() == d.rows() * 64, "the mask does not fit the domain");
        nb::gil_scoped_release release;
        canonical_mask(like_men(d), diagonal, out.size(), out.data());
    }, PLAIN, PLAIN, STRICT);
    m.def("spread", [](const Domain& d, bool diagonal, ConstWords wanted, Words set) {
        require(set.size() == d.rows() * 64 && wanted.size() == set.size(), "the set does not fit the domain");
        nb::gil_scoped_release release;
        spread(like_men(d), diagonal, wanted.data(), set.data());
    }, PLAIN, PLAIN, STRICT, STRICT);
    m.def("reframe", [](const Domain& d, int symmetry, const std::vector<uint8_t>& axis, ConstWords in, Words out) {
        require(symmetry >= 0 && symmetry < 8, "no such symmetry");
        require(in.size() == d.rows() * 64 && out.size() == in.size(), "the set does not fit the domain");
        require(axis.size() == static_cast<size_t>(d.men), "an axis for each man");
        for (uint8_t a : axis) require(a < d.men, "no such axis");
        nb::gil_scoped_release release;
        reframe(d.men, symmetry, axis.data(), in.data(), out.data());
    }, PLAIN, PLAIN, PLAIN, STRICT, STRICT);

    bind_values<int8_t>(m);
    bind_values<int16_t>(m);

    nb::class_<Reader>(m, "Reader")
        .def("__init__", [](Reader* self, Array<const int16_t, nb::shape<64, 64>> pair,
                            Array<const uint8_t, nb::shape<64, 64>> symmetry, Array<const bool, nb::ndim<1>> diagonal) {
            require(diagonal.size() == PAIRS_MAX, "a mark for each partition");
            new (self) Reader();
            std::memcpy(self->placements.pair, pair.data(), sizeof self->placements.pair);
            std::memcpy(self->placements.symmetry, symmetry.data(), sizeof self->placements.symmetry);
            std::memcpy(self->placements.diagonal, diagonal.data(), sizeof self->placements.diagonal);
        }, "pair"_a, "symmetry"_a, "diagonal"_a)
        .def("read", &Reader::read, "fens"_a);
}
