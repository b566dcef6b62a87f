// The user's errors: one thrower. Each has a kind (the exception class that the public API documents for it), a short textual
// id that tests and users can search for, and a message that says what was found, what was expected and where.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace pando {

// One enumerator per exception class of include/poplar/exceptions.hpp, in the order of that header.
enum class ErrorKind {
  poplar_error,
  control_program_error,
  file_load_error,
  graph_connection_error,
  graph_cycle_error,
  graph_memory_allocation_error,
  graph_object_creation_error,
  graph_object_load_error,
  graph_program_compilation_error,
  graph_recursion_error,
  graph_replication_error,
  index_error,
  invalid_machine_model,
  invalid_option,
  invalid_tile_mapping,
  link_error,
  memory_elem_constraints_error,
  missing_cycle_estimate,
  no_environment,
  no_size_specified,
  overflow_error,
  parse_error,
  profiling_disabled,
  stream_connection_error,
  stream_memory_allocation_error,
  symbol_error,
  tensor_creation_error,
  tensor_io_state_error,
  type_error,
  undefined_vertex_error,
  unknown_field,
  unknown_vertex_type,
  application_runtime_error,
};

// Throws the exception class named by `kind` with the text "<message> [<id>]".
[[noreturn]] void throw_error(ErrorKind kind, std::string_view id, const std::string& message);

template <class... Args>
[[noreturn]] void fail(ErrorKind kind, std::string_view id, fmt::format_string<Args...> format, Args&&... args) {
  throw_error(kind, id, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace pando
