// The exception classes of the API for the kinds of errors: base and what stands on it know the kinds alone. A library of its own
// (pando_errors), because programs that hold only lower modules throw, too.
#include "base/error.h"

#include "base/check.h"
#include "poplar/exceptions.hpp"

namespace pando {
namespace {

template <class E>
[[noreturn]] void throw_as(const std::string& text) {
  throw E(text);
}

}  // namespace

void throw_error(ErrorKind kind, std::string_view id, const std::string& message) {
  const std::string text = fmt::format("{} [{}]", message, id);
  switch (kind) {
    case ErrorKind::poplar_error: throw_as<poplar::poplar_error>(text);
    case ErrorKind::control_program_error: throw_as<poplar::control_program_error>(text);
    case ErrorKind::file_load_error: throw_as<poplar::file_load_error>(text);
    case ErrorKind::graph_connection_error: throw_as<poplar::graph_connection_error>(text);
    case ErrorKind::graph_cycle_error: throw_as<poplar::graph_cycle_error>(text);
    case ErrorKind::graph_memory_allocation_error: throw_as<poplar::graph_memory_allocation_error>(text);
    case ErrorKind::graph_object_creation_error: throw_as<poplar::graph_object_creation_error>(text);
    case ErrorKind::graph_object_load_error: throw_as<poplar::graph_object_load_error>(text);
    case ErrorKind::graph_program_compilation_error: throw_as<poplar::graph_program_compilation_error>(text);
    case ErrorKind::graph_recursion_error: throw_as<poplar::graph_recursion_error>(text);
    case ErrorKind::graph_replication_error: throw_as<poplar::graph_replication_error>(text);
    case ErrorKind::index_error: throw_as<poplar::index_error>(text);
    case ErrorKind::invalid_machine_model: throw_as<poplar::invalid_machine_model>(text);
    case ErrorKind::invalid_option: throw_as<poplar::invalid_option>(text);
    case ErrorKind::invalid_tile_mapping: throw_as<poplar::invalid_tile_mapping>(text);
    case ErrorKind::link_error: throw_as<poplar::link_error>(text);
    case ErrorKind::memory_elem_constraints_error: throw_as<poplar::memory_elem_constraints_error>(text);
    case ErrorKind::missing_cycle_estimate: throw_as<poplar::missing_cycle_estimate>(text);
    case ErrorKind::no_environment: throw_as<poplar::no_environment>(text);
    case ErrorKind::no_size_specified: throw_as<poplar::no_size_specified>(text);
    case ErrorKind::overflow_error: throw_as<poplar::overflow_error>(text);
    case ErrorKind::parse_error: throw_as<poplar::parse_error>(text);
    case ErrorKind::profiling_disabled: throw_as<poplar::profiling_disabled>(text);
    case ErrorKind::stream_connection_error: throw_as<poplar::stream_connection_error>(text);
    case ErrorKind::stream_memory_allocation_error: throw_as<poplar::stream_memory_allocation_error>(text);
    case ErrorKind::symbol_error: throw_as<poplar::symbol_error>(text);
    case ErrorKind::tensor_creation_error: throw_as<poplar::tensor_creation_error>(text);
    case ErrorKind::tensor_io_state_error: throw_as<poplar::tensor_io_state_error>(text);
    case ErrorKind::type_error: throw_as<poplar::type_error>(text);
    case ErrorKind::undefined_vertex_error: throw_as<poplar::undefined_vertex_error>(text);
    case ErrorKind::unknown_field: throw_as<poplar::unknown_field>(text);
    case ErrorKind::unknown_vertex_type: throw_as<poplar::unknown_vertex_type>(text);
    case ErrorKind::application_runtime_error: throw_as<poplar::application_runtime_error>(text);
  }
  PANDO_CHECK(!"unknown error kind");
  __builtin_unreachable();
}

}  // namespace pando
