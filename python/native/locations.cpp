#include "native/native.h"

#include <unordered_map>

namespace pando::python {

namespace {

std::string& package() {
  static std::string folder;
  return folder;
}

// Whether a file is the package's own, by the string object that its code objects share. The objects are kept.
bool is_own(PyObject* file) {
  static std::unordered_map<PyObject*, bool> known;
  const auto it = known.find(file);
  if (it != known.end()) return it->second;
  const char* text = PyUnicode_AsUTF8(file);
  const bool own = text != nullptr && !package().empty() && std::string_view(text).starts_with(package());
  known.emplace(Py_NewRef(file), own);
  return own;
}

}  // namespace

void Locations::set_package(std::string folder) { package() = std::move(folder); }

ir::Location Locations::find() {
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  while (frame != nullptr) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    if (!is_own(code->co_filename)) {
      const char* file = PyUnicode_AsUTF8(code->co_filename);
      const char* function = PyUnicode_AsUTF8(code->co_qualname);
      ir::Location at{file ? file : "", function ? function : "", static_cast<std::uint32_t>(PyFrame_GetLineNumber(frame))};
      Py_DECREF(code);
      Py_DECREF(frame);
      return at;
    }
    Py_DECREF(code);
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  return {};
}

}  // namespace pando::python
