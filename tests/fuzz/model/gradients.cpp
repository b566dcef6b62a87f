#include "model/gradients.h"

#include "pando/model_error.hpp"
#include "transform/gradient/autodiff.h"

#include <algorithm>

namespace pando::fuzz {

using namespace pando::ir;
using transform::ConnectionKind;
using transform::GradientInfo;

namespace {

class Caller {
 public:
  Caller(Builder& b, Random& random) : b_(b), random_(random) {}

  // The results of both calls.
  std::vector<TensorId> call(GraphId graph, const std::vector<TensorId>& operands, int orders) {
    const GradientInfo info = transform::autodiff(b_, graph, options());
    const std::vector<TensorId> results = b_.op(main(), "call", operands, {}, std::array{graph});
    std::vector<TensorId> given;
    for (const transform::Connection& c : info.inputs)
      given.push_back(c.kind == ConnectionKind::fwd_grad ? gradient_of(c.value) : at_call(graph, c.value, operands, results));
    std::vector<TensorId> all = results;
    std::vector<TensorId> gradients;
    if (orders > 1) {
      try {
        gradients = call(info.gradient, given, orders - 1);
      } catch (const ModelError&) { gradients.clear(); }
    }
    if (gradients.empty()) gradients = b_.op(main(), "call", given, {}, std::array{info.gradient});
    all.insert(all.end(), gradients.begin(), gradients.end());
    return all;
  }

 private:
  GraphId main() const { return b_.module().main_graph(); }

  transform::AutodiffOptions options() {
    transform::AutodiffOptions o;
    o.recompute = random_.chance(25);
    return o;
  }

  TensorId gradient_of(ValueId v) {
    const Type type = b_.module().type_of(v);
    HostTensor data(type.dtype, type.shape);
    for (std::int64_t i = 0; i < data.elements(); ++i) data.set_integer(i, static_cast<std::int64_t>(random_.below(5)) - 2);
    return b_.add_constant(main(), std::move(data), "g");
  }

  // What a forward value is where the graph was called.
  TensorId at_call(GraphId graph, ValueId v, const std::vector<TensorId>& operands, const std::vector<TensorId>& results) const {
    const Graph& g = b_.module().graph(graph);
    const auto input = std::find(g.inputs.begin(), g.inputs.end(), v);
    if (input != g.inputs.end()) return operands[static_cast<std::size_t>(input - g.inputs.begin())];
    const auto output = std::find(g.outputs.begin(), g.outputs.end(), v);
    return results.at(static_cast<std::size_t>(output - g.outputs.begin()));
  }

  Builder& b_;
  Random& random_;
};

}  // namespace

std::vector<TensorId> call_with_gradient(Builder& builder, Random& random, GraphId graph, const std::vector<TensorId>& operands) {
  try {
    return Caller(builder, random).call(graph, operands, random.chance(20) ? 2 : 1);
  } catch (const ModelError&) { return {}; }
}

}  // namespace pando::fuzz
