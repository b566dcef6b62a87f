// Each kind of error is the class of the API that has its name, with the text and the id.
#include <gtest/gtest.h>

#include <string>
#include <typeinfo>

#include "base/error.h"
#include "poplar/exceptions.hpp"

namespace pando::facade {
namespace {

template <class E>
std::string thrown_as(ErrorKind kind) {
  try {
    fail(kind, "some-id", "found {}", 1);
  } catch (const E& e) { return typeid(e) == typeid(E) ? e.what() : typeid(e).name(); } catch (...) {
    return "another class";
  }
}

TEST(Errors, OfEachKindAreOfItsClass) {
#define EXPECT_CLASS(name) EXPECT_EQ(thrown_as<poplar::name>(ErrorKind::name), "found 1 [some-id]") << #name
  EXPECT_CLASS(poplar_error);
  EXPECT_CLASS(control_program_error);
  EXPECT_CLASS(file_load_error);
  EXPECT_CLASS(graph_connection_error);
  EXPECT_CLASS(graph_cycle_error);
  EXPECT_CLASS(graph_memory_allocation_error);
  EXPECT_CLASS(graph_object_creation_error);
  EXPECT_CLASS(graph_object_load_error);
  EXPECT_CLASS(graph_program_compilation_error);
  EXPECT_CLASS(graph_recursion_error);
  EXPECT_CLASS(graph_replication_error);
  EXPECT_CLASS(index_error);
  EXPECT_CLASS(invalid_machine_model);
  EXPECT_CLASS(invalid_option);
  EXPECT_CLASS(invalid_tile_mapping);
  EXPECT_CLASS(link_error);
  EXPECT_CLASS(memory_elem_constraints_error);
  EXPECT_CLASS(missing_cycle_estimate);
  EXPECT_CLASS(no_environment);
  EXPECT_CLASS(no_size_specified);
  EXPECT_CLASS(overflow_error);
  EXPECT_CLASS(parse_error);
  EXPECT_CLASS(profiling_disabled);
  EXPECT_CLASS(stream_connection_error);
  EXPECT_CLASS(stream_memory_allocation_error);
  EXPECT_CLASS(symbol_error);
  EXPECT_CLASS(tensor_creation_error);
  EXPECT_CLASS(tensor_io_state_error);
  EXPECT_CLASS(type_error);
  EXPECT_CLASS(undefined_vertex_error);
  EXPECT_CLASS(unknown_field);
  EXPECT_CLASS(unknown_vertex_type);
  EXPECT_CLASS(application_runtime_error);
#undef EXPECT_CLASS
}

}  // namespace
}  // namespace pando::facade
