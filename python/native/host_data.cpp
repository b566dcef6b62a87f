#include "native/native.h"

#include "ir/error.h"

#include <cstring>

namespace pando::python {

namespace {

struct View {
  explicit View(nb::handle object, int flags) {
    if (PyObject_GetBuffer(object.ptr(), &buffer, flags) != 0) throw nb::python_error();
  }
  ~View() {
    nb::gil_scoped_acquire held;
    PyBuffer_Release(&buffer);
  }
  View(const View&) = delete;
  Py_buffer buffer;
};

void check_bytes(std::size_t found, std::size_t wanted) {
  if (found != wanted) ir::reject(ir::ErrorClass::value, "data-size", "{} bytes of data where {} are wanted", found, wanted);
}

}  // namespace

ir::HostTensor host_tensor_from(nb::handle object, ir::DType dtype, ir::Shape shape) {
  const auto view = std::make_shared<View>(object, PyBUF_SIMPLE);
  const std::size_t wanted = static_cast<std::size_t>(ir::elements_of(shape)) * ir::size_of(dtype);
  check_bytes(static_cast<std::size_t>(view->buffer.len), wanted);
  // Blobs and inputs are never written to: who changes data copies a tensor, and with it the bytes.
  std::shared_ptr<std::byte> bytes(view, static_cast<std::byte*>(view->buffer.buf));
  return ir::HostTensor(dtype, std::move(shape), std::move(bytes));
}

void copy_to(nb::handle object, const ir::HostTensor& data) {
  View view(object, PyBUF_SIMPLE | PyBUF_WRITABLE);
  check_bytes(data.size_bytes(), static_cast<std::size_t>(view.buffer.len));
  if (view.buffer.len > 0) std::memcpy(view.buffer.buf, data.data(), static_cast<std::size_t>(view.buffer.len));
}

void bind_float8(nb::module_& m) {
  m.def(
      "float8_from_float",
      [](nb::handle floats, nb::handle bytes, int dtype, std::int64_t n, bool nan_on_overflow) {
        const View from(floats, PyBUF_SIMPLE);
        const View to(bytes, PyBUF_SIMPLE | PyBUF_WRITABLE);
        check_bytes(static_cast<std::size_t>(from.buffer.len), 4 * static_cast<std::size_t>(n));
        check_bytes(static_cast<std::size_t>(to.buffer.len), static_cast<std::size_t>(n));
        const auto* source = static_cast<const float*>(from.buffer.buf);
        auto* target = static_cast<std::uint8_t*>(to.buffer.buf);
        for (std::int64_t i = 0; i < n; ++i) target[i] = ir::float8_from_float(static_cast<ir::DType>(dtype), source[i], nan_on_overflow);
      },
      nb::arg("floats"), nb::arg("bytes"), nb::arg("dtype"), nb::arg("n"), nb::arg("nan_on_overflow"));
  m.def(
      "float_from_float8",
      [](nb::handle bytes, nb::handle floats, int dtype, std::int64_t n) {
        const View from(bytes, PyBUF_SIMPLE);
        const View to(floats, PyBUF_SIMPLE | PyBUF_WRITABLE);
        check_bytes(static_cast<std::size_t>(from.buffer.len), static_cast<std::size_t>(n));
        check_bytes(static_cast<std::size_t>(to.buffer.len), 4 * static_cast<std::size_t>(n));
        const auto* source = static_cast<const std::uint8_t*>(from.buffer.buf);
        auto* target = static_cast<float*>(to.buffer.buf);
        for (std::int64_t i = 0; i < n; ++i) target[i] = ir::float_from_float8(static_cast<ir::DType>(dtype), source[i]);
      },
      nb::arg("bytes"), nb::arg("floats"), nb::arg("dtype"), nb::arg("n"));
}

}  // namespace pando::python
