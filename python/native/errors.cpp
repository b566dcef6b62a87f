// Errors of the model level as exceptions of Python.
#include "native/native.h"

#include <poplar/exceptions.hpp>
#include "base/check_handler.h"
#include "pando/broken_invariant.hpp"
#include "pando/model_error.hpp"

namespace pando::python {

namespace {

PyObject* class_of(ModelError::Class kind, PyObject* popart) {
  switch (kind) {
    case ModelError::Class::popart: return popart;
    case ModelError::Class::value: return PyExc_ValueError;
    case ModelError::Class::type: return PyExc_TypeError;
    case ModelError::Class::index: return PyExc_IndexError;
    case ModelError::Class::key: return PyExc_KeyError;
    case ModelError::Class::runtime: return PyExc_RuntimeError;
    case ModelError::Class::not_implemented: return PyExc_NotImplementedError;
  }
  return PyExc_RuntimeError;
}

void translate(const std::exception_ptr& p, void* popart) {
  try {
    std::rethrow_exception(p);
  } catch (const ModelError& e) { PyErr_SetString(class_of(e.kind(), static_cast<PyObject*>(popart)), e.what()); }
}

void translate_stop(const std::exception_ptr& p, void* stopped) {
  try {
    std::rethrow_exception(p);
  } catch (const poplar::application_runtime_error& e) { PyErr_SetString(static_cast<PyObject*>(stopped), e.what()); }
}

// A program in Python is not ended by a defect of ours: it gets an exception.
void raise_defect(const std::string& text) { throw std::logic_error("A defect of Pando, please report it: " + text); }

nb::object make_class(nb::module_& m, const char* name, const char* doc, PyObject* base) {
  const std::string full = std::string("popart.") + name;
  nb::object type = nb::steal(PyErr_NewExceptionWithDoc(full.c_str(), doc, base, nullptr));
  m.attr(name) = type;
  return type;
}

}  // namespace

void bind_errors(nb::module_& m) {
  set_check_handler(raise_defect);
  on_broken_invariant(raise_defect);
  nb::object popart =
      make_class(m, "popart_exception",
                 "A program that cannot be: shapes or types that do not fit, ambiguous in-place updates, gradients that do not exist.",
                 PyExc_RuntimeError);
  nb::object stopped = make_class(m, "poplar_application_runtime_error", "A program that stopped while it ran.", PyExc_RuntimeError);
  nb::register_exception_translator(translate_stop, stopped.release().ptr());
  nb::register_exception_translator(translate, popart.release().ptr());
}

}  // namespace pando::python
