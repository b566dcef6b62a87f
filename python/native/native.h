// The native part of popxl. No semantics of its own: modules as Python sees them are integers (dense ids) into one Program.
#pragma once

#include "ir/construction/builder.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pando::python {

namespace nb = nanobind;

using Index = std::uint32_t;
using Indices = std::vector<Index>;

inline ir::GraphId graph_id(Index i) { return ir::GraphId(i); }
inline ir::TensorId tensor_id(Index i) { return ir::TensorId(i); }
inline ir::OpId op_id(Index i) { return ir::OpId(i); }

// What one popxl.Ir holds.
struct Program {
  explicit Program(std::int64_t replicas) : builder(replicas) {}
  ir::Builder builder;
  ir::Module& module() { return builder.module(); }
};

template <class I>
Indices numbers_of(const std::vector<I>& ids) {
  Indices out;
  out.reserve(ids.size());
  for (I id : ids) out.push_back(id.value);
  return out;
}

// Each adds its part to the module.
void bind_errors(nb::module_& m);
void bind_table(nb::module_& m);
void bind_float8(nb::module_& m);
void bind_grouping(nb::module_& m);
void bind_program(nb::module_& m);
void bind_program_views(nb::class_<Program>& c);
void bind_rewriting(nb::class_<Program>& c);
void bind_gradients(nb::class_<Program>& c);
void bind_compositions(nb::module_& m, nb::class_<Program>& c);
void bind_interpreter(nb::module_& m);
void bind_instances(nb::module_& m);
void bind_session(nb::module_& m);
void bind_distribution(nb::module_& m);
void bind_tile_graphs(nb::module_& m);

// Attributes from a dict, each as the row wants it; None is absent. Rejects (type) what cannot be one.
ir::Attributes attributes_from(const ir::OpRow& row, const nb::dict& values);
nb::object attribute_to_python(const ir::AttributeValue& value);

// Shares the memory of an object with the buffer protocol (C-contiguous).
ir::HostTensor host_tensor_from(nb::handle buffer, ir::DType dtype, ir::Shape shape);
// Copies into the memory of an object with the buffer protocol, which has as many bytes.
void copy_to(nb::handle buffer, const ir::HostTensor& data);

// The user's line: the innermost frame outside the packages' own files, or what a package says that it is.
class Locations {
 public:
  // Files below this folder are a package's own.
  static void add_package(std::string folder);
  // What find() gives from now on, where a package knows the line from elsewhere (a traced graph); none: the frames again.
  static void give(std::optional<ir::Location> location);
  // (file, line, function), or an empty file where there is no frame.
  static ir::Location find();
};

}  // namespace pando::python
