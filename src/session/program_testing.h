// For tests: programs that run on machines and in the reference interpreter.
#pragma once

#include "ir/semantics/interpreter.h"
#include "session/session.h"

#include <gtest/gtest.h>

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace pando::session::testing {

using namespace ir;

// Builds a program that ends in stores; each machine must store what the interpreter stores, and leave the same variables, in two runs.
struct Program {
  Builder b;
  std::vector<HostStreamId> outs;

  explicit Program(std::int64_t replicas = 1) : b(replicas) { b.push_sequence(SequenceMode::ordered); }
  GraphId main() { return b.module().main_graph(); }
  TensorId variable(HostTensor data, ReplicaGrouping grouping = ReplicaGrouping(1), Retrieval retrieval = Retrieval::one_per_group) {
    State s;
    const std::int64_t groups = grouping.groups();
    Shape shape = data.shape();
    if (groups > 1) shape.erase(shape.begin());
    s.type = b.module().type(tensor_type(data.dtype(), shape));
    s.grouping = grouping;
    s.retrieval = retrieval;
    return b.add_variable(s, std::move(data), "v");
  }
  TensorId op(GraphId g, std::string_view name, std::vector<TensorId> operands, Attributes a = {}, std::vector<GraphId> graphs = {},
              bool in_place = false) {
    return b.op(g, name, operands, a, graphs, in_place)[0];
  }
  TensorId constant(GraphId g, HostTensor data) { return b.add_constant(g, std::move(data), "c"); }
  void store(TensorId t) {
    const Type type = b.type_of(t);
    outs.push_back(b.module().add_stream({"out", HostStream::Direction::device_to_host, type.dtype, type.shape}));
    b.op(main(), "host_store", std::vector{t}, {{"stream", outs.back()}});
  }
};

inline HostTensor counting(Shape shape, double first = 1, DType dtype = DType::float32) {
  HostTensor t(dtype, shape);
  for (std::int64_t i = 0; i < t.elements(); ++i) t.set(i, first + static_cast<double>(i));
  return t;
}

inline void expect_same(Program& p, const Options& options) {
  Module& m = p.b.module();
  p.b.finish();
  Interpreter reference(m);
  Session session(p.b, options);
  session.attach();
  session.weights_from_host();
  reference.run(Context::weights_from_host);
  for (int run = 0; run < 2; ++run) {
    reference.run();
    std::vector<HostTensor> found;
    std::vector<OutputData> outputs;
    for (HostStreamId id : p.outs) {
      Shape shape{1, m.replicas()};
      shape.insert(shape.end(), m.stream(id).shape.begin(), m.stream(id).shape.end());
      found.emplace_back(m.stream(id).dtype, shape);
      outputs.push_back({id, found.back().writable(), 1});
    }
    session.run({}, outputs);
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_EQ(found[i], reference.output(p.outs[i], 1)) << options.device << ", run " << run << ", output " << i;
  }
  if (m.replicas() > 1) return;
  reference.run(Context::weights_to_host);
  for (std::size_t s = 0; s < m.state_count(); ++s) {
    const StateId id(static_cast<StateId::rep>(s));
    EXPECT_EQ(session.data(id), reference.state(id, 0)) << options.device << ", variable " << s;
  }
}

inline void on_machines(const std::function<void(Program&)>& build, std::int64_t replicas = 1) {
  for (const bool cpu : {true, false}) {
    for (const bool fuse : {true, false}) {
      Program p(replicas);
      build(p);
      Options options;
      options.device = cpu ? "cpu" : "ipu_model";
      options.tiles_per_ipu = cpu ? 0 : 4;
      options.settings.set("check_ambiguity", false);
      options.settings.set("fuse", fuse);
      expect_same(p, options);
    }
  }
}

}  // namespace pando::session::testing
