// Compositions on the tensors of a builder.
#pragma once

#include "ir/construction/builder.h"
#include "ir/construction/composition.h"

namespace pando::ir {

// Appends ops to a graph of a builder, as a user would: they have the place, scopes and order that are set there.
class BuilderWriter : public Writer {
 public:
  BuilderWriter(Builder& builder, GraphId graph) : builder_(builder), graph_(graph) {}

  const Type& type_of(ValueId v) const override { return builder_.module().type_of(v); }
  Values ops(std::string_view name, std::span<const ValueId> operands, const Attributes& attributes = {}) override;
  ValueId constant(HostTensor data) override;

 private:
  Builder& builder_;
  GraphId graph_;
};

// A composition of tensors; its results. Invalid ids stand for optional operands that are not given.
std::vector<TensorId> compose(Builder& builder, GraphId graph, std::string_view name, std::span<const TensorId> operands,
                              const Attributes& attributes);

}  // namespace pando::ir
