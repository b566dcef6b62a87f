// Running one op in tests, through the builder and the interpreter.
#pragma once

#include "ir/construction/builder.h"
#include "ir/semantics/interpreter.h"
#include "pando/model_error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pando::ir::op_testing {

using Tensors = std::vector<HostTensor>;

inline HostTensor floats(Shape shape, const std::vector<double>& values, DType t = DType::float32) {
  return HostTensor::of_floats(t, std::move(shape), values);
}
inline HostTensor ints(Shape shape, const std::vector<std::int64_t>& values, DType t = DType::int32) {
  return HostTensor::of_ints(t, std::move(shape), values);
}
// 0, 1, 2 ...
inline HostTensor counted(Shape shape, double first = 0) {
  HostTensor t(DType::float32, std::move(shape));
  for (std::int64_t i = 0; i < t.elements(); ++i) t.set(i, first + static_cast<double>(i));
  return t;
}

inline std::vector<double> numbers(const HostTensor& t) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < t.elements(); ++i) all.push_back(t.number(i));
  return all;
}

inline void expect_numbers(const HostTensor& t, const std::vector<double>& want, double tolerance = 1e-6) {
  EXPECT_THAT(numbers(t), ::testing::Pointwise(::testing::DoubleNear(tolerance), want));
}

// Results of one op on one replica.
inline Tensors run(const std::string& op, const Tensors& operands, const Attributes& attributes = {}, bool in_place = false) {
  Builder b;
  const GraphId g = b.create_graph("g");
  std::vector<TensorId> inputs;
  std::vector<HostValue> values;
  for (const HostTensor& t : operands) {
    inputs.push_back(b.add_input(g, tensor_type(t.dtype(), t.shape()), "t"));
    values.push_back({t, {}});
  }
  for (TensorId t : b.op(g, op, inputs, attributes, {}, in_place)) b.add_output(g, t);
  b.finish();
  std::vector<HostValue> results = Interpreter(b.module()).run_graph(g, std::move(values));
  results.resize(b.outputs(g).size());
  Tensors out;
  for (HostValue& v : results) out.push_back(std::move(v.tensor));
  return out;
}

// Result 0 of one op for each replica; `operands`: of each operand, the replicas' tensors behind each other.
inline Tensors run_replicas(const std::string& op, std::int64_t replicas, const Tensors& operands, const Attributes& attributes = {},
                            bool in_place = false, const Shape& meta_shape = {}) {
  Builder b(replicas);
  const GraphId main = b.module().main_graph();
  std::vector<TensorId> inputs;
  for (const HostTensor& t : operands) {
    State s;
    Type type = tensor_type(t.dtype(), Shape(t.shape().begin() + 1, t.shape().end()));
    type.meta_shape = meta_shape;
    s.type = b.module().type(type);
    s.grouping = ReplicaGrouping(replicas, 1, 1);
    inputs.push_back(b.add_variable(s, replicas == 1 ? t.reshaped(type.shape) : t, "t"));
  }
  const TensorId result = b.op(main, op, inputs, attributes, {}, in_place)[0];
  const HostStreamId stream =
      b.module().add_stream({"out", HostStream::Direction::device_to_host, b.type_of(result).dtype, b.type_of(result).shape});
  b.op(main, "host_store", std::vector{result}, {{"stream", stream}});
  b.finish();
  Interpreter interpreter(b.module());
  interpreter.run();
  const HostTensor all = interpreter.output(stream, 1);
  Tensors out;
  for (std::int64_t r = 0; r < replicas; ++r) {
    HostTensor t(all.dtype(), b.type_of(result).shape);
    for (std::int64_t i = 0; i < t.elements(); ++i) t.set(i, all.number(r * t.elements() + i));
    out.push_back(t);
  }
  return out;
}

// The id of the error that f throws; "none".
template <class F>
std::string rejection(F f) {
  try {
    f();
  } catch (const ModelError& e) { return e.id(); }
  return "none";
}
inline std::string rejection_of(const std::string& op, const Tensors& operands, const Attributes& attributes = {}, bool in_place = false) {
  return rejection([&] { run(op, operands, attributes, in_place); });
}

}  // namespace pando::ir::op_testing
