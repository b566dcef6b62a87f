#include "native/native.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace pando::python {

namespace {

std::vector<std::string>& packages() {
  static std::vector<std::string> folders;
  return folders;
}

std::optional<ir::Location>& given() {
  static std::optional<ir::Location> location;
  return location;
}

std::string_view text_of(PyObject* text) {
  Py_ssize_t size = 0;
  const char* const bytes = text != nullptr ? PyUnicode_AsUTF8AndSize(text, &size) : nullptr;
  return bytes != nullptr ? std::string_view(bytes, static_cast<std::size_t>(size)) : std::string_view();
}

// What a frame runs: its file, the function's name, the frame that called it. The stable ABI knows them as attributes alone.
#ifdef Py_LIMITED_API
nb::object attribute(void* object, const char* name) { return nb::steal(PyObject_GetAttrString(static_cast<PyObject*>(object), name)); }
nb::object file_of(PyCodeObject* code) { return attribute(code, "co_filename"); }
nb::object function_of(PyCodeObject* code) { return attribute(code, "co_qualname"); }
PyFrameObject* caller_of(PyFrameObject* frame) {
  const nb::object back = attribute(frame, "f_back");
  return back.is_none() ? nullptr : reinterpret_cast<PyFrameObject*>(back.inc_ref().ptr());
}
#else
nb::object file_of(PyCodeObject* code) { return nb::borrow(code->co_filename); }
#if PY_VERSION_HEX >= 0x030B0000
nb::object function_of(PyCodeObject* code) { return nb::borrow(code->co_qualname); }
#else
nb::object function_of(PyCodeObject* code) { return nb::borrow(code->co_name); }
#endif
PyFrameObject* caller_of(PyFrameObject* frame) { return PyFrame_GetBack(frame); }
#endif

std::unordered_map<PyObject*, bool>& known_files() {
  static std::unordered_map<PyObject*, bool> known;
  return known;
}

// Whether a file is a package's own, by the string object that its code objects share. The objects are kept.
bool is_own(PyObject* file) {
  std::unordered_map<PyObject*, bool>& known = known_files();
  const auto it = known.find(file);
  if (it != known.end()) return it->second;
  const std::string_view name = text_of(file);
  const bool own = std::any_of(packages().begin(), packages().end(), [&](const std::string& folder) { return name.starts_with(folder); });
  Py_INCREF(file);
  known.emplace(file, own);
  return own;
}

}  // namespace

void Locations::add_package(std::string folder) {
  if (std::find(packages().begin(), packages().end(), folder) != packages().end()) return;
  packages().push_back(std::move(folder));
  for (auto& [file, own] : known_files()) own = own || text_of(file).starts_with(packages().back());
}

void Locations::give(std::optional<ir::Location> location) { given() = std::move(location); }

ir::Location Locations::find() {
  if (given()) return *given();
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  while (frame != nullptr) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    const nb::object file = file_of(code);
    if (!is_own(file.ptr())) {
      const nb::object function = function_of(code);
      ir::Location at{std::string(text_of(file.ptr())), std::string(text_of(function.ptr())),
                      static_cast<std::uint32_t>(PyFrame_GetLineNumber(frame))};
      Py_DECREF(code);
      Py_DECREF(frame);
      return at;
    }
    Py_DECREF(code);
    PyFrameObject* back = caller_of(frame);
    Py_DECREF(frame);
    frame = back;
  }
  return {};
}

}  // namespace pando::python
