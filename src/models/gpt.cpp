#include "models/gpt.h"

#include "base/sizes.h"
#include "ir/error.h"
#include "models/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace pando::models {

namespace {

using ir::Attributes;
using ir::Ints;
using ir::Shape;
using ir::ValueId;

class Builder {
 public:
  explicit Builder(const Gpt& o) : o_(o), inner_(o.inner > 0 ? o.inner : 4 * o.width) {}

  transform::Program run() {
    const ValueId tokens = b_.input("tokens", ir::DType::int32, {o_.batch, o_.sequence}, 0, 1),
                  labels = b_.input("labels", ir::DType::int32, {o_.batch, o_.sequence}, 0, 1);
    declare();
    ValueId x = embed(tokens);
    const ValueId mask = causal_mask();
    for (std::int64_t i = 0; i < o_.layers; ++i) {
      b_.layer = static_cast<std::uint32_t>(i + 1);
      x = block(x, mask, i);
    }
    b_.layer = static_cast<std::uint32_t>(o_.layers + 1);
    const ValueId loss = head(x, labels);
    b_.output(loss);
    const std::vector<ValueId> gradients = b_.gradients(loss, weights_);
    add_updates(b_, o_.optimizer, weights_, gradients, names_);
    return b_.finish();
  }

 private:
  bool has_experts(std::int64_t layer) const { return o_.experts > 0 && layer % 2 == 1; }

  void weight(const std::string& name, Shape shape, std::int32_t sequence_dim = -1, std::int32_t expert_dim = -1) {
    weights_.push_back(b_.input(name, o_.dtype, std::move(shape), -1, sequence_dim, expert_dim));
    names_.push_back(name);
  }
  // Inputs come before ops, in the order of use.
  ValueId next() { return weights_[used_++]; }

  void normal_weights(const std::string& name) {
    weight(name + ".scale", {o_.width});
    weight(name + ".bias", {o_.width});
  }

  void declare() {
    weight("embedding", {o_.vocabulary, o_.width});
    weight("positions", {o_.sequence, o_.width}, 0);
    for (std::int64_t i = 0; i < o_.layers; ++i) {
      const std::string at = fmt::format("block{}.", i);
      normal_weights(at + "normal1");
      for (const char* w : {"q", "k", "v"}) {
        weight(at + w, {o_.width, o_.width});
        weight(at + w + ".bias", {o_.width});
      }
      weight(at + "out", {o_.width, o_.width});
      weight(at + "out.bias", {o_.width});
      normal_weights(at + "normal2");
      if (has_experts(i)) {
        weight(at + "gate", {o_.width, o_.experts});
        weight(at + "up", {o_.experts, o_.width, inner_}, -1, 0);
        weight(at + "down", {o_.experts, inner_, o_.width}, -1, 0);
        continue;
      }
      weight(at + "up", {o_.width, inner_});
      weight(at + "up.bias", {inner_});
      weight(at + "down", {inner_, o_.width});
      weight(at + "down.bias", {o_.width});
    }
    normal_weights("normal");
    weight("head", {o_.width, o_.vocabulary});
  }

  ValueId embed(ValueId tokens) {
    const ValueId table = next(), positions = next();
    return b_.op("add", {b_.op("gather", {table, tokens}, {{"axis", std::int64_t{0}}}), positions}, {}, "x");
  }

  ValueId causal_mask() {
    ir::HostTensor mask(o_.dtype, {o_.sequence, o_.sequence});
    for (std::int64_t i = 0; i < o_.sequence; ++i) {
      for (std::int64_t k = i + 1; k < o_.sequence; ++k) mask.set(i * o_.sequence + k, -1e4);
    }
    return b_.constant(std::move(mask), "mask");
  }

  ValueId normal(ValueId x) {
    const ValueId scale = next(), bias = next();
    const Shape shape = b_.shape(x);
    const ValueId rows = b_.reshape(x, {shape[0] * shape[1], shape[2]});
    return b_.reshape(b_.op("layer_norm", {rows, scale, bias}, {{"eps", 1e-5}}), shape);
  }

  ValueId linear(ValueId x, std::string_view name) {
    const ValueId w = next(), bias = next();
    return b_.op("add", {b_.op("matmul", {x, w}), bias}, {}, name);
  }

  ValueId block(ValueId x, ValueId mask, std::int64_t layer) {
    x = b_.op("add", {x, attention(normal(x), mask)}, {}, "x");
    const ValueId h = normal(x);
    return b_.op("add", {x, has_experts(layer) ? experts(h) : dense(h)}, {}, "x");
  }

  ValueId dense(ValueId h) {
    const ValueId up = b_.op("gelu", {linear(h, "up")});
    return linear(up, "down");
  }

  ValueId attention(ValueId h, ValueId mask) {
    const std::int64_t per_head = o_.width / o_.heads;
    const Shape by_head{o_.batch, o_.sequence, o_.heads, per_head};
    const ValueId q = b_.transpose(b_.reshape(linear(h, "q"), by_head), {0, 2, 1, 3}),
                  k = b_.transpose(b_.reshape(linear(h, "k"), by_head), {0, 2, 3, 1}),
                  v = b_.transpose(b_.reshape(linear(h, "v"), by_head), {0, 2, 1, 3});
    const ValueId scores =
        b_.op("mul", {b_.op("matmul", {q, k}), b_.scalar(o_.dtype, 1 / std::sqrt(static_cast<double>(per_head)))}, {}, "scores");
    const ValueId p = b_.op("softmax", {b_.op("add", {scores, mask})}, {{"axis", std::int64_t{3}}}, "attention");
    const ValueId sum = b_.transpose(b_.op("matmul", {p, v}), {0, 2, 1, 3});
    return linear(b_.reshape(sum, {o_.batch, o_.sequence, o_.width}), "out");
  }

  // One expert for each token, the likeliest. Tokens of a sequence take places in the order in which they stand.
  ValueId experts(ValueId h) {
    const std::int64_t n = o_.batch, s = o_.sequence, e = o_.experts, c = o_.capacity, d = o_.width;
    const auto cast = [&](ValueId v, ir::DType t) { return b_.op("cast", {v}, {{"data_type", t}}); };
    const ValueId gates = b_.op("softmax", {b_.op("matmul", {h, next()})}, {{"axis", std::int64_t{2}}}, "gates");
    const ValueId best = b_.op("argmax", {gates}, {{"dim", std::int64_t{2}}, {"keepdim", false}});
    const ValueId chosen = b_.op("detach", {one_hot(best, e)}, {}, "chosen");
    // Which place of its expert a token takes; a token too many gets one that is not there.
    const ValueId place = b_.op("sub", {b_.op("cumsum", {chosen}, {{"dim", std::int64_t{1}}}), b_.scalar(o_.dtype, 1)});
    const ValueId fits = b_.op("mul", {chosen, cast(b_.op("less", {place, b_.scalar(o_.dtype, static_cast<double>(c))}), o_.dtype)});
    const ValueId places = one_hot(cast(b_.op("mul", {place, fits}), ir::DType::int32), c);
    const ValueId dispatch = b_.reshape(b_.op("mul", {places, b_.reshape(fits, {n, s, e, 1})}), {n, s, e * c});
    const ValueId routes = b_.op("detach", {dispatch}, {}, "routes");
    const ValueId sent = b_.op("matmul", {b_.transpose(routes, {0, 2, 1}), h});
    const ValueId by_expert = b_.reshape(b_.transpose(b_.reshape(sent, {n, e, c, d}), {1, 0, 2, 3}), {e, n * c, d});
    const ValueId up = b_.op("gelu", {b_.op("matmul", {by_expert, next()})}, {}, "up");
    const ValueId down = b_.op("matmul", {up, next()}, {}, "down");
    const ValueId back = b_.reshape(b_.transpose(b_.reshape(down, {e, n, c, d}), {1, 0, 2, 3}), {n, e * c, d});
    const ValueId weight = b_.op("sum", {b_.op("mul", {gates, chosen})}, {{"axis", Ints{2}}, {"keepdims", true}});
    return b_.op("mul", {b_.op("matmul", {routes, back}), weight}, {}, "experts");
  }

  // Along a new last dimension.
  ValueId one_hot(ValueId indices, std::int64_t classes) {
    ir::HostTensor all(ir::DType::int32, {classes});
    for (std::int64_t i = 0; i < classes; ++i) all.set_integer(i, i);
    Shape shape = b_.shape(indices);
    shape.push_back(1);
    const ValueId same =
        b_.op("equal", {b_.reshape(b_.op("cast", {indices}, {{"data_type", ir::DType::int32}}), shape), b_.constant(std::move(all))});
    return b_.op("cast", {same}, {{"data_type", o_.dtype}});
  }

  ValueId head(ValueId x, ValueId labels) {
    const ValueId logits = b_.op("matmul", {normal(x), next()}, {}, "logits");
    const ValueId probs = b_.op("softmax", {logits}, {{"axis", std::int64_t{2}}}, "probs");
    Attributes mean{{"reduction", std::string("mean")}};
    if (o_.ignored_label) mean.set("ignore_index", *o_.ignored_label);
    return b_.op("nll_loss", {probs, labels}, mean, "loss");
  }

  const Gpt& o_;
  std::int64_t inner_;
  StepBuilder b_;
  std::vector<ValueId> weights_;
  std::vector<std::string> names_;
  std::size_t used_ = 0;
};

}  // namespace

namespace {

constexpr std::string_view kShape = "gpt-shape";

void check_numbers(const Gpt& o) {
  const std::pair<std::string_view, std::int64_t> positive[] = {{"layers", o.layers},         {"heads", o.heads},       {"width", o.width},
                                                                {"vocabulary", o.vocabulary}, {"sequence", o.sequence}, {"batch", o.batch},
                                                                {"capacity", o.capacity}};
  for (const auto& [what, n] : positive) check_least(kShape, what, n, 1);
  check_least(kShape, "inner", o.inner, 0);
  check_least(kShape, "experts", o.experts, 0);
  if (o.width % o.heads != 0)
    ir::reject(ir::ErrorClass::value, kShape, "heads is {}; it must divide the width, which is {}", o.heads, o.width);
  check_rate(kShape, o.optimizer.learning_rate);
}

// Each tensor that two or more arguments multiply to, then what the module holds: constants, and ops.
void check_sizes(const Gpt& o) {
  check_tensor(kShape, "width", {4, o.width});
  const std::int64_t inner = o.inner > 0 ? o.inner : 4 * o.width, experts = std::max<std::int64_t>(1, o.experts);
  check_tensor(kShape, "vocabulary and width", {o.vocabulary, o.width});
  check_tensor(kShape, "experts, width and inner", {experts, o.width, inner});
  check_tensor(kShape, "width and width", {o.width, o.width});
  check_tensor(kShape, "batch, sequence and width", {o.batch, o.sequence, o.width});
  check_tensor(kShape, "batch, sequence and inner", {o.batch, o.sequence, inner});
  check_tensor(kShape, "batch, sequence and vocabulary", {o.batch, o.sequence, o.vocabulary});
  check_tensor(kShape, "batch, heads, sequence and sequence", {o.batch, o.heads, o.sequence, o.sequence});
  check_host_memory(bytes_of_constant({o.sequence, o.sequence}), ErrorKind::poplar_error,
                    fmt::format("the mask of a sequence of {}", o.sequence));
  constexpr std::uint64_t kLayer = 1 << 17;
  check_host_memory(saturating_mul(static_cast<std::uint64_t>(o.layers), kLayer), ErrorKind::poplar_error,
                    fmt::format("{} layers", o.layers));
  if (o.experts == 0) return;
  check_tensor(kShape, "batch, sequence, experts and capacity", {o.batch, o.sequence, o.experts, o.capacity});
  const std::uint64_t numbers = saturating_add(bytes_of_constant({o.experts}), bytes_of_constant({o.capacity}));
  check_host_memory(saturating_mul(numbers, static_cast<std::uint64_t>(o.layers + 1) / 2), ErrorKind::poplar_error,
                    fmt::format("the numbers of {} experts and of {} places in each, in {} layers", o.experts, o.capacity, o.layers));
}

}  // namespace

transform::Program build_gpt(const Gpt& o) {
  check_numbers(o);
  check_sizes(o);
  return Builder(o).run();
}

}  // namespace pando::models
