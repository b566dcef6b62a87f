#include "native/native.h"

NB_MODULE(_core, m) {
  using namespace pando::python;
  m.doc() = "The native part of popxl: modules of the model level, as integers. Private; use popxl.";
  // Programs that others keep until the interpreter ends (torch's compiled functions) are no leaks.
  nanobind::set_leak_warnings(false);
  bind_errors(m);
  bind_table(m);
  bind_float8(m);
  bind_grouping(m);
  bind_program(m);
  bind_interpreter(m);
  bind_instances(m);
  bind_session(m);
  bind_distribution(m);
  bind_tile_graphs(m);
}
