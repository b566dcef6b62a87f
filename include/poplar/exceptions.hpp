#ifndef poplar_exceptions_hpp
#define poplar_exceptions_hpp

// The exceptions of the API. All derive from poplar_error; what() ends with a short id in brackets, "[copy-shape]", that can be
// searched for in the documentation.

#include <poplar/Export.hpp>
#include <poplar/ProfileValue.hpp>

#include <iosfwd>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>

namespace poplar {

/// The base of all errors of this library.
struct POPLAR_EXPORT poplar_error : std::runtime_error {
  explicit poplar_error(const std::string& text) : std::runtime_error(text) {}
  explicit poplar_error(const char* text) : std::runtime_error(text) {}
};

/// A control program is malformed, or a program number is out of range.
struct POPLAR_EXPORT control_program_error : poplar_error {
  explicit control_program_error(const std::string& text) : poplar_error(text) {}
  explicit control_program_error(const char* text) : poplar_error(text) {}
};

/// A file cannot be read.
struct POPLAR_EXPORT file_load_error : poplar_error {
  explicit file_load_error(const std::string& text) : poplar_error(text) {}
  explicit file_load_error(const char* text) : poplar_error(text) {}
};

/// A vertex field is connected to something that it cannot take, or not at all; or a tensor, stream, function, compute set or
/// vertex of another graph is used ("foreign").
struct POPLAR_EXPORT graph_connection_error : poplar_error {
  explicit graph_connection_error(const std::string& text) : poplar_error(text) {}
  explicit graph_connection_error(const char* text) : poplar_error(text) {}
};

/// An element is written twice, or written and read, in one compute set.
struct POPLAR_EXPORT graph_cycle_error : poplar_error {
  explicit graph_cycle_error(const std::string& text) : poplar_error(text) {}
  explicit graph_cycle_error(const char* text) : poplar_error(text) {}
};

/// The program needs more tile memory than there is. The report was still written if it was asked for.
struct POPLAR_EXPORT graph_memory_allocation_error : poplar_error {
  explicit graph_memory_allocation_error(const std::string& text) : poplar_error(text), profilePath() {}
  explicit graph_memory_allocation_error(const char* text) : poplar_error(text), profilePath() {}
  graph_memory_allocation_error(const std::string& text, const std::string& path, ProfileValue profile = {})
      : poplar_error(text), profilePath(path), graphProfile(std::move(profile)) {}
  /// Where the memory report is; empty if none was asked for.
  std::string profilePath;
  /// What Engine::getGraphProfile would give: a map; a number if nothing could be placed.
  ProfileValue graphProfile;
};

/// A codelet object cannot be created.
struct POPLAR_EXPORT graph_object_creation_error : poplar_error {
  explicit graph_object_creation_error(const std::string& text) : poplar_error(text) {}
  explicit graph_object_creation_error(const char* text) : poplar_error(text) {}
};

/// A codelet object or an executable is corrupt, foreign, or of another version.
struct POPLAR_EXPORT graph_object_load_error : poplar_error {
  explicit graph_object_load_error(const std::string& text) : poplar_error(text) {}
  explicit graph_object_load_error(const char* text) : poplar_error(text) {}
  graph_object_load_error(const std::string& path, const std::string& reason) : poplar_error(path + ": " + reason) {}
};

/// A codelet does not compile; the text holds the compiler's diagnostics.
struct POPLAR_EXPORT graph_program_compilation_error : poplar_error {
  explicit graph_program_compilation_error(const std::string& text) : poplar_error(text) {}
  explicit graph_program_compilation_error(const char* text) : poplar_error(text) {}
};

/// A function calls itself, directly or through others.
struct POPLAR_EXPORT graph_recursion_error : poplar_error {
  explicit graph_recursion_error(const std::string& text) : poplar_error(text) {}
  explicit graph_recursion_error(const char* text) : poplar_error(text) {}
};

/// A replication factor does not fit the target, or a replica does not exist.
struct POPLAR_EXPORT graph_replication_error : poplar_error {
  explicit graph_replication_error(const std::string& text) : poplar_error(text) {}
  explicit graph_replication_error(const char* text) : poplar_error(text) {}
};

/// An index, dimension or tile is out of range.
struct POPLAR_EXPORT index_error : poplar_error {
  explicit index_error(const std::string& text) : poplar_error(text) {}
  explicit index_error(const char* text) : poplar_error(text) {}
};

/// A machine description makes no sense, or no machine has that name.
struct POPLAR_EXPORT invalid_machine_model : poplar_error {
  explicit invalid_machine_model(const std::string& text) : poplar_error(text) {}
  explicit invalid_machine_model(const char* text) : poplar_error(text) {}
};

/// An option is unknown, or its value is not allowed.
struct POPLAR_EXPORT invalid_option : poplar_error {
  explicit invalid_option(const std::string& text) : poplar_error(text) {}
  explicit invalid_option(const char* text) : poplar_error(text) {}
};

/// A variable or vertex has no tile, or one that does not exist.
struct POPLAR_EXPORT invalid_tile_mapping : poplar_error {
  explicit invalid_tile_mapping(const std::string& text) : poplar_error(text) {}
  explicit invalid_tile_mapping(const char* text) : poplar_error(text) {}
};

/// Codelets refer to a symbol that no codelet file defines.
struct POPLAR_EXPORT link_error : poplar_error {
  explicit link_error(const std::string& text) : poplar_error(text) {}
  explicit link_error(const char* text) : poplar_error(text) {}
};

/// Memory element constraints cannot be met.
struct POPLAR_EXPORT memory_elem_constraints_error : poplar_error {
  explicit memory_elem_constraints_error(const std::string& text) : poplar_error(text) {}
  explicit memory_elem_constraints_error(const char* text) : poplar_error(text) {}
};

/// A vertex has no cycle estimate where one is required.
struct POPLAR_EXPORT missing_cycle_estimate : poplar_error {
  explicit missing_cycle_estimate(const std::string& text) : poplar_error(text) {}
  explicit missing_cycle_estimate(const char* text) : poplar_error(text) {}
};

/// Something that the environment must provide is missing.
struct POPLAR_EXPORT no_environment : poplar_error {
  explicit no_environment(const std::string& text) : poplar_error(text) {}
  explicit no_environment(const char* text) : poplar_error(text) {}
};

/// A field's size is needed and was not given.
struct POPLAR_EXPORT no_size_specified : poplar_error {
  explicit no_size_specified(const std::string& text) : poplar_error(text) {}
  explicit no_size_specified(const char* text) : poplar_error(text) {}
};

/// A value does not fit its type.
struct POPLAR_EXPORT overflow_error : poplar_error {
  explicit overflow_error(const std::string& text) : poplar_error(text) {}
  explicit overflow_error(const char* text) : poplar_error(text) {}
};

/// Text (JSON ...) cannot be parsed.
struct POPLAR_EXPORT parse_error : poplar_error {
  explicit parse_error(const std::string& text) : poplar_error(text) {}
  explicit parse_error(const char* text) : poplar_error(text) {}
};

/// A profile was asked for that was not collected.
struct POPLAR_EXPORT profiling_disabled : poplar_error {
  explicit profiling_disabled(const std::string& text) : poplar_error(text) {}
  explicit profiling_disabled(const char* text) : poplar_error(text) {}
};

/// A stream is unknown, unconnected, or connected to a block of a wrong size.
struct POPLAR_EXPORT stream_connection_error : poplar_error {
  explicit stream_connection_error(const std::string& text) : poplar_error(text) {}
  explicit stream_connection_error(const char* text) : poplar_error(text) {}
};

/// The host has no memory for streams or tiles.
struct POPLAR_EXPORT stream_memory_allocation_error : poplar_error {
  explicit stream_memory_allocation_error(const std::string& text) : poplar_error(text) {}
  explicit stream_memory_allocation_error(const char* text) : poplar_error(text) {}
};

/// A symbol of an executable does not exist.
struct POPLAR_EXPORT symbol_error : poplar_error {
  explicit symbol_error(const std::string& text) : poplar_error(text) {}
  explicit symbol_error(const char* text) : poplar_error(text) {}
};

/// A tensor cannot be created with these arguments.
struct POPLAR_EXPORT tensor_creation_error : poplar_error {
  explicit tensor_creation_error(const std::string& text) : poplar_error(text) {}
  explicit tensor_creation_error(const char* text) : poplar_error(text) {}
};

/// A tensor is read or written through a handle that does not allow it.
struct POPLAR_EXPORT tensor_io_state_error : poplar_error {
  explicit tensor_io_state_error(const std::string& text) : poplar_error(text) {}
  explicit tensor_io_state_error(const char* text) : poplar_error(text) {}
};

/// Element types do not agree.
struct POPLAR_EXPORT type_error : poplar_error {
  explicit type_error(const std::string& text) : poplar_error(text) {}
  explicit type_error(const char* text) : poplar_error(text) {}
};

/// A vertex that does not exist is used.
struct POPLAR_EXPORT undefined_vertex_error : poplar_error {
  explicit undefined_vertex_error(const std::string& text) : poplar_error(text) {}
  explicit undefined_vertex_error(const char* text) : poplar_error(text) {}
};

/// A vertex type has no field of that name.
struct POPLAR_EXPORT unknown_field : poplar_error {
  explicit unknown_field(const std::string& text) : poplar_error(text) {}
  explicit unknown_field(const char* text) : poplar_error(text) {}
};

/// No codelet has that name.
struct POPLAR_EXPORT unknown_vertex_type : poplar_error {
  explicit unknown_vertex_type(const std::string& text) : poplar_error(text) {}
  explicit unknown_vertex_type(const char* text) : poplar_error(text) {}
};

/// A defect of the library itself.
struct POPLAR_EXPORT internal_error : poplar_error {
  explicit internal_error(const std::string& text) : poplar_error(text) {}
  explicit internal_error(const char* text) : poplar_error(text) {}
};

/// Something went wrong while a program ran.
struct POPLAR_EXPORT runtime_error : poplar_error {
  explicit runtime_error(const std::string& text) : poplar_error(text) {}
  explicit runtime_error(const char* text) : poplar_error(text) {}
};
/// The program stopped itself (ErrorProgram, Abort), or one of its codelets or callbacks failed.
struct POPLAR_EXPORT application_runtime_error : runtime_error {
  explicit application_runtime_error(const std::string& text) : runtime_error(text) {}
  explicit application_runtime_error(const char* text) : runtime_error(text) {}
};
/// The system that runs the program failed.
struct POPLAR_EXPORT system_runtime_error : runtime_error {
  explicit system_runtime_error(const std::string& text) : runtime_error(text) {}
  explicit system_runtime_error(const char* text) : runtime_error(text) {}
};

/// What has to be reset before the program can run again.
enum class RecoveryAction { IPU_RESET, LINK_RESET, PARTITION_RESET, FULL_RESET };
POPLAR_EXPORT std::string toString(RecoveryAction action);
POPLAR_EXPORT std::ostream& operator<<(std::ostream& out, RecoveryAction action);

/// A system failure after which a reset helps.
struct POPLAR_EXPORT recoverable_runtime_error : system_runtime_error {
  explicit recoverable_runtime_error(const std::string& text, RecoveryAction action = RecoveryAction::IPU_RESET)
      : system_runtime_error(text), action_(action) {}
  RecoveryAction getRecoveryAction() const { return action_; }

 private:
  RecoveryAction action_;
};
/// A system failure after which no reset helps.
struct POPLAR_EXPORT unrecoverable_runtime_error : system_runtime_error {
  explicit unrecoverable_runtime_error(const std::string& text) : system_runtime_error(text) {}
  explicit unrecoverable_runtime_error(const char* text) : system_runtime_error(text) {}
};
/// A failure of unknown cause.
struct POPLAR_EXPORT unknown_runtime_error : system_runtime_error {
  explicit unknown_runtime_error(const std::string& text) : system_runtime_error(text) {}
  explicit unknown_runtime_error(const char* text) : system_runtime_error(text) {}
};

}  // namespace poplar

#endif
