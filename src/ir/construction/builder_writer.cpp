#include "ir/construction/builder_writer.h"

namespace pando::ir {

Values BuilderWriter::ops(std::string_view name, std::span<const ValueId> operands, const Attributes& attributes) {
  std::vector<TensorId> tensors;
  for (ValueId v : operands) tensors.push_back(builder_.tensor_for(v));
  Values results;
  for (TensorId t : builder_.op(graph_, name, tensors, attributes)) results.push_back(builder_.value_of(t));
  return results;
}

ValueId BuilderWriter::constant(HostTensor data) { return builder_.value_of(builder_.add_constant(graph_, std::move(data), "constant")); }

std::vector<TensorId> compose(Builder& builder, GraphId graph, std::string_view name, std::span<const TensorId> operands,
                              const Attributes& attributes) {
  BuilderWriter writer(builder, graph);
  Values values;
  for (TensorId t : operands) values.push_back(t.valid() ? builder.value_of(t) : ValueId());
  std::vector<TensorId> results;
  for (ValueId v : compose(writer, name, values, attributes)) results.push_back(builder.tensor_for(v));
  return results;
}

}  // namespace pando::ir
