// The binding of what finds values in blocks of tables.

#include <nanobind/stl/tuple.h>
#include <sys/uio.h>

#include <cstring>

#include "binding.hpp"
#include "piece_digest.hpp"
#include "zstd.hpp"

namespace kingpair {

namespace {

// Where the values of a column of a record batch are: the open file, the place and the length of the batch, its digest;
// the place of the list of buffers in it, the number of the column, its bytes of values, and the bytes of each value.
using BatchPlace = std::tuple<int, int64_t, size_t, uint64_t, size_t, size_t, size_t, size_t>;
using Question = std::pair<BatchPlace, std::vector<uint32_t>>;

constexpr size_t BATCH_MAX = 1 << 20;  // more than two columns of 64 Ki values can have

// Reads a batch. Returns false if the read fails, or if it needs the disk and the caller does not wait.
bool read_batch(const BatchPlace& place, bool wait, std::vector<uint8_t>& batch) {
    const auto& [file, at, length, digest, buffers, column, size, width] = place;
    if (length < DIGEST_LEAST || length > BATCH_MAX) return false;
    if (batch.size() < length) batch.resize(length);
    const iovec whole{batch.data(), length};
    if (preadv2(file, &whole, 1, at, wait ? 0 : RWF_NOWAIT) != static_cast<ssize_t>(length)) return false;
    return piece_digest({batch.data(), length}) == digest;
}

// The frame of a column in a record batch: the metadata say from a place on where each buffer lies in the body, and a
// column has two, of which the second holds its values. False if the batch does not look like that.
bool frame_of(zstd::Bytes batch, size_t buffers, size_t column, size_t size, zstd::Bytes& frame) {
    constexpr size_t HEAD = 8, BUFFER = 16, SIZE = 8;
    const size_t entry = buffers + BUFFER * (2 * column + 1);
    if (entry + BUFFER > batch.size || batch.size < HEAD) return false;
    const size_t body = HEAD + zstd::number(batch.at + 4, 4);
    const uint64_t offset = zstd::number(batch.at + entry, 8), length = zstd::number(batch.at + entry + 8, 8);
    zstd::Bytes before, stated;
    if (body > batch.size || offset > batch.size - body || !batch.take(body + offset, before)) return false;
    return length >= SIZE && batch.take(SIZE, stated) && zstd::number(stated.at, SIZE) == size &&
           batch.take(length - SIZE, frame);
}

// The bytes of the values that are asked for; none if they are not found.
std::vector<uint8_t> answer(const Question& question, bool wait) {
    static thread_local std::vector<uint8_t> batch;
    const auto& [place, rows] = question;
    const auto& [file, at, length, digest, buffers, column, size, width] = place;
    zstd::Bytes frame;
    if (!read_batch(place, wait, batch) || !frame_of({batch.data(), length}, buffers, column, size, frame)) return {};
    std::vector<uint32_t> places;
    places.reserve(rows.size() * width);
    for (const uint32_t row : rows)
        for (size_t i = 0; i < width; ++i) places.push_back(static_cast<uint32_t>(row * width + i));
    std::vector<uint8_t> found(places.size());
    if (!zstd::find_bytes(frame, size, places, found.data())) return {};
    return found;
}

nb::object values_of(const std::vector<uint8_t>& found, size_t width) {
    if (found.empty()) return nb::none();
    nb::list values;
    for (size_t i = 0; i < found.size(); i += width)
        values.append(width == 1 ? static_cast<int8_t>(found[i]) : static_cast<int16_t>(found[i] | found[i + 1] << 8));
    return values;
}

// The frames of a column in consecutive record batches, one behind the other, as zstd decodes them at once. The batches
// lie between `places` of a file, and `data` are the bytes of all of them. The column has `size` bytes in each batch,
// and `last` in the last one. None if a batch does not look like that. It keeps the GIL: to hand it over takes as long.
nb::object frames_of(nb::bytes data, const Array<const int64_t, nb::ndim<1>>& places, size_t buffers, size_t column,
                     size_t size, size_t last) {
    require(places.size() > 1 && buffers <= data.size() && column < 2, "no such batches");
    const size_t count = places.size() - 1;
    const zstd::Bytes all{static_cast<const uint8_t*>(data.data()), data.size()};
    std::vector<zstd::Bytes> frames(count);
    size_t bytes = 0;
    for (size_t i = 0; i < count; ++i) {
        const auto at = static_cast<uint64_t>(places(i) - places(0)),
                   end = static_cast<uint64_t>(places(i + 1) - places(0));
        if (at > end || end > all.size) return nb::none();
        if (!frame_of({all.at + at, end - at}, buffers, column, i + 1 < count ? size : last, frames[i]))
            return nb::none();
        bytes += frames[i].size;
    }
    nb::object joined = nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(bytes)));
    if (!joined.is_valid()) throw nb::python_error();
    char* out = PyBytes_AS_STRING(joined.ptr());
    for (const zstd::Bytes& frame : frames) {
        std::memcpy(out, frame.at, frame.size);
        out += frame.size;
    }
    return joined;
}

// The values at some rows of each of some batches, whose bytes agree with their digests. None for a batch that is not
// read. It keeps the GIL if it does not wait: to get it back may take longer than to find the values.
nb::list find_values(const std::vector<Question>& questions, bool wait) {
    for (const auto& [place, rows] : questions) {
        const auto& [file, at, length, digest, buffers, column, size, width] = place;
        require(width == 1 || width == 2, "values of one byte or two");
        require(buffers <= length && column < 2, "no such column");
        require(!rows.empty(), "no rows");
        for (const uint32_t row : rows) require(row < size / width, "no such row");
    }
    std::vector<std::vector<uint8_t>> found;
    const auto answer_all = [&] {
        for (const Question& each : questions) found.push_back(answer(each, wait));
    };
    if (wait) {
        nb::gil_scoped_release released;
        answer_all();
    } else {
        answer_all();
    }
    nb::list answers;
    for (size_t i = 0; i < questions.size(); ++i) answers.append(values_of(found[i], std::get<7>(questions[i].first)));
    return answers;
}

}  // namespace

void bind_zstd(nb::module_& m) {
    m.def("find_values", find_values);
    m.def("frames_of", frames_of);
}

}  // namespace kingpair
