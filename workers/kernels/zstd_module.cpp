// The binding of what finds values in blocks of tables.

#include <cstring>

#include "binding.hpp"
#include "zstd.hpp"

namespace kingpair {

namespace {

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

// The values at some rows of a column of a record batch, which has `size` bytes of them, one or two each. None if it is
// not read. It keeps the GIL: to hand it over takes longer than to find the values.
nb::object find_values(nb::bytearray bytes, size_t buffers, size_t column, size_t size, size_t width,
                       const std::vector<uint32_t>& rows) {
    require(width == 1 || width == 2, "values of one byte or two");
    require(buffers <= bytes.size() && column < 2, "no such column");
    std::vector<uint32_t> places;
    for (const uint32_t row : rows) {
        require(row < size / width, "no such row");
        for (size_t i = 0; i < width; ++i) places.push_back(static_cast<uint32_t>(row * width + i));
    }
    std::vector<uint8_t> found(places.size());
    const zstd::Bytes batch{static_cast<const uint8_t*>(bytes.data()), bytes.size()};
    zstd::Bytes frame;
    if (!frame_of(batch, buffers, column, size, frame)) return nb::none();
    if (!zstd::find_bytes(frame, size, places, found.data())) return nb::none();
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

}  // namespace

void bind_zstd(nb::module_& m) {
    m.def("find_values", find_values);
    m.def("frames_of", frames_of);
}

}  // namespace kingpair
