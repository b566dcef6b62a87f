// A transform that is rejected leaves the program as it was, and the next one works: every transform that changes a program in place, with
// inputs that it rejects at the beginning and at the end.
#include "ir/text/print.h"
#include "transform/gradient/autodiff.h"
#include "transform/testing.h"

#include <gtest/gtest.h>

namespace pando::transform::testing {

using namespace ir;

namespace {

struct Rejected {
  std::string name;
  // Makes a program, and gives the transform that is rejected.
  std::function<std::function<void()>(Builder&)> make;
};

// y = tanh(x w): its gradient takes the product, which becomes an output.
GraphId layer(Builder& b, const std::string& name) {
  Made g(b, name);
  const TensorId x = g.in("x"), w = g.in("w");
  g.out(g.op("tanh", {g.op("gelu", {g.op("matmul", {x, w})})}));
  return g.graph;
}

// A graph that calls the layer, and what `last` makes of its result.
GraphId calling(Builder& b, const std::function<TensorId(Made&, TensorId)>& last) {
  const GraphId inner = layer(b, "layer");
  Made g(b, "f");
  const TensorId x = g.in("x"), w = g.in("w");
  g.in("unused");
  g.out(last(g, g.op("call", {x, w}, {}, {inner})));
  return g.graph;
}

TensorId itself(Made&, TensorId t) { return t; }

std::vector<Rejected> rejected() {
  std::vector<Rejected> all;
  const auto add = [&](std::string name, std::function<TensorId(Made&, TensorId)> last,
                       std::function<AutodiffOptions(const Builder&, GraphId)> options) {
    all.push_back({std::move(name), [=](Builder& b) -> std::function<void()> {
                     const GraphId g = calling(b, last);
                     const AutodiffOptions o = options(b, g);
                     return [&b, g, o] { autodiff(b, g, o); };
                   }});
  };
  const auto none = [](const Builder&, GraphId) { return AutodiffOptions(); };
  add("a required gradient that no path gives", itself, none);
  add("no gradient is required", itself, [](const Builder&, GraphId) { return AutodiffOptions{.required = std::vector<ValueId>()}; });
  add("a tensor of another graph", itself,
      [](const Builder& b, GraphId) { return AutodiffOptions{.required = b.module().graph(*b.module().graph_named("layer")).inputs}; });
  add(
      "a modifying op", [](Made& g, TensorId t) { return g.op("add", {t, t}, {}, {}, true); },
      [](const Builder& b, GraphId g) { return AutodiffOptions{.required = std::vector{b.module().graph(g).inputs[0]}}; });
  add("an unsafe graph", itself, [](const Builder& b, GraphId g) {
    AutodiffOptions o{.required = std::vector{b.module().graph(g).inputs[0]}};
    o.unsafe.insert(*b.module().graph_named("layer"));
    return o;
  });
  return all;
}

// What anybody can see of a program.
std::string all_of(Builder& b) {
  b.finish();
  std::string text = print(b.module()) + "\n" + std::to_string(b.tensor_count());
  for (std::size_t t = 0; t < b.tensor_count(); ++t) {
    const Builder::Tensor& tensor = b.tensor(TensorId(static_cast<TensorId::rep>(t)));
    text += "\n" + b.id_of(TensorId(static_cast<TensorId::rep>(t))) + " " + std::to_string(tensor.value.value) + " " +
            std::to_string(tensor.version);
  }
  return text;
}

}  // namespace

TEST(rejections, leave_the_program_as_it_was) {
  for (const Rejected& one : rejected()) {
    SCOPED_TRACE(one.name);
    Builder b;
    const std::function<void()> transform = one.make(b);
    const std::string before = all_of(b);
    EXPECT_THROW(transform(), std::exception);
    EXPECT_EQ(all_of(b), before);
    EXPECT_THROW(transform(), std::exception);
    const GraphId good = layer(b, "good");
    EXPECT_EQ(autodiff(b, good).outputs.size(), 2u);
  }
}

}  // namespace pando::transform::testing
