// The reference interpreter, for tests: what a session computes, without a machine.
#include "native/native.h"

#include "ir/semantics/interpreter.h"

namespace pando::python {

namespace {

struct Interpreted {
  // Keeps the program alive: the interpreter reads its module.
  std::shared_ptr<void> owner;
  Program& program;
  ir::Interpreter interpreter;
};

std::shared_ptr<void> keep(nb::object o) {
  return std::shared_ptr<void>(o.release().ptr(), [](void* p) {
    nb::gil_scoped_acquire held;
    Py_DECREF(static_cast<PyObject*>(p));
  });
}

}  // namespace

void bind_interpreter(nb::module_& m) {
  nb::class_<Interpreted> c(m, "Interpreter");
  c.def(
      "__init__",
      [](Interpreted* self, nb::object program) {
        Program& p = nb::cast<Program&>(program);
        p.builder.finish();
        new (self) Interpreted{keep(program), p, ir::Interpreter(p.module())};
      },
      nb::arg("program"));
  c.def(
      "set_input",
      [](Interpreted& s, Index stream, nb::handle data, ir::Shape shape) {
        const ir::DType dtype = s.program.module().stream(ir::HostStreamId(stream)).dtype;
        s.interpreter.set_input(ir::HostStreamId(stream), host_tensor_from(data, dtype, std::move(shape)));
      },
      nb::arg("stream"), nb::arg("data"), nb::arg("shape"));
  c.def(
      "run",
      [](Interpreted& s, int context) {
        nb::gil_scoped_release released;
        s.interpreter.run(static_cast<ir::Context>(context));
      },
      nb::arg("context") = 0);
  c.def(
      "output",
      [](Interpreted& s, Index stream, nb::handle into, std::int64_t stores) {
        copy_to(into, s.interpreter.output(ir::HostStreamId(stream), stores));
      },
      nb::arg("stream"), nb::arg("into"), nb::arg("stores"));
  c.def(
      "state",
      [](Interpreted& s, Index state, std::int64_t replica, nb::handle into) {
        copy_to(into, s.interpreter.state(ir::StateId(state), replica));
      },
      nb::arg("state"), nb::arg("replica"), nb::arg("into"));
  c.def(
      "set_state",
      [](Interpreted& s, Index state, std::int64_t replica, nb::handle data) {
        const ir::Type& type = s.program.module().type(s.program.module().state(ir::StateId(state)).type);
        // The caller's array may change later.
        ir::HostTensor copy = host_tensor_from(data, type.dtype, type.shape);
        const ir::HostTensor shared = copy;
        copy.writable();
        s.interpreter.set_state(ir::StateId(state), replica, std::move(copy));
      },
      nb::arg("state"), nb::arg("replica"), nb::arg("data"));
}

}  // namespace pando::python
