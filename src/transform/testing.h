// For tests: graphs in few words.
#pragma once

#include "ir/construction/builder.h"
#include "ir/error.h"

#include <functional>
#include <string>
#include <vector>

namespace pando::transform::testing {

inline const ir::Type kMatrix = ir::tensor_type(ir::DType::float64, {3, 3}, {ir::Device::numbered(0), ir::TileSet::compute});

// A graph in the making.
struct Made {
  ir::Builder& b;
  ir::GraphId graph;

  Made(ir::Builder& builder, std::string name) : b(builder), graph(builder.create_graph(std::move(name))) {}
  Made(ir::Builder& builder, ir::GraphId existing) : b(builder), graph(existing) {}
  ir::TensorId in(std::string_view name, const ir::Type& type = kMatrix, bool by_ref = false) {
    return b.add_input(graph, type, name, by_ref);
  }
  ir::TensorId op(std::string_view name, std::vector<ir::TensorId> operands, const ir::Attributes& attributes = {},
                  std::vector<ir::GraphId> graphs = {}, bool in_place = false) {
    return ops(name, std::move(operands), attributes, std::move(graphs), in_place)[0];
  }
  std::vector<ir::TensorId> ops(std::string_view name, std::vector<ir::TensorId> operands, const ir::Attributes& attributes = {},
                                std::vector<ir::GraphId> graphs = {}, bool in_place = false) {
    return b.op(graph, name, operands, attributes, graphs, in_place);
  }
  void out(ir::TensorId t) { b.add_output(graph, t); }
};

inline ir::ValueId value(const ir::Builder& b, ir::TensorId t) { return b.tensor(t).value; }

// What an error says; the class must be `kind`.
std::string message_of(const std::function<void()>& f, ir::ErrorClass kind = ir::ErrorClass::popart);

// Data for a graph's inputs, -1 to 1.
std::vector<ir::HostTensor> inputs_for(const ir::Module& module, ir::GraphId graph);

}  // namespace pando::transform::testing
