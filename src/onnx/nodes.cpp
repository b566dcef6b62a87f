#include "onnx/nodes.h"

#include "ir/infer.h"
#include "ir/refuse_at.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>

namespace pando::onnx {

using ir::Attributes;
using ir::DType;
using ir::HostTensor;
using ir::Ints;
using ir::Shape;
using ir::ValueId;

ValueId Context::operand(std::size_t i) {
  if (!has(i)) refuse(fmt::format("operand {} is missing", i));
  if (!values[i].valid()) values[i] = make(i);
  return values[i];
}

Ints Context::integers(std::size_t i) const {
  if (!has(i)) refuse(fmt::format("operand {} is missing", i));
  if (!known[i]) refuse(fmt::format("operand {} ('{}') must be known when the model is read", i, node.inputs[i]));
  Ints all;
  for (std::int64_t k = 0; k < known[i]->elements(); ++k) all.push_back(known[i]->integer(k));
  return all;
}

std::optional<Ints> Context::axes(std::string_view attribute, std::size_t i) const {
  if (const auto* list = node.integers(std::string(attribute))) return Ints(*list);
  if (has(i)) return integers(i);
  return std::nullopt;
}

std::int64_t Context::axis(std::int64_t otherwise, std::size_t rank) const {
  const std::int64_t a = node.integer("axis", otherwise), n = static_cast<std::int64_t>(rank);
  if (a < -n || a > n) refuse(fmt::format("axis {} of {} dimensions", a, rank));
  return a < 0 ? a + n : a;
}

std::vector<ValueId> Context::ops(std::string_view name, std::span<const ValueId> operands, const Attributes& attributes) {
  const std::string base = node.outputs.empty() || node.outputs[0].empty() ? std::string(name) : node.outputs[0];
  const ir::OpId o = ir::infer_and_add(module_, graph_, name, operands, attributes, {}, false, {}, base);
  return {module_.results(o).begin(), module_.results(o).end()};
}

ValueId Context::constant(HostTensor data) {
  const ir::BlobId blob = module_.add_blob(std::move(data));
  return op("constant", {}, {{"data", blob}});
}

SourceLocation location_of(const std::string& source, const Node& node) {
  return {source, 0, 0, fmt::format("{} '{}'", node.op, node.name.empty() && !node.outputs.empty() ? node.outputs[0] : node.name)};
}

void Context::refuse(const std::string& message) const {
  ir::refuse_at(ir::ErrorClass::value, "onnx-node", location_of(source_, node), "{}", message);
}

namespace {

template <const char* name>
void unary(Context& c) {
  c.give(c.op(name, {c.operand(0)}));
}
template <const char* name>
void binary(Context& c) {
  c.give(c.op(name, {c.operand(0), c.operand(1)}));
}
// Any number of operands, two by two.
template <const char* name>
void fold(Context& c) {
  ValueId v = c.operand(0);
  for (std::size_t i = 1; i < c.operands(); ++i) v = c.op(name, {v, c.operand(i)});
  c.give(v);
}

template <const char* name>
void reduce(Context& c) {
  const std::size_t rank = c.shape(0).size();
  Ints axes = c.axes("axes", 1).value_or(Ints{});
  if (axes.empty()) {
    if (c.node.integer("noop_with_empty_axes", 0)) return c.give(c.op("identity", {c.operand(0)}));
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
  }
  for (std::int64_t& a : axes) a += a < 0 ? static_cast<std::int64_t>(rank) : 0;
  c.give(c.op(name, {c.operand(0)}, {{"axis", axes}, {"keepdims", c.node.integer("keepdims", 1) != 0}}));
}

#define NAME(x) constexpr char k_##x[] = #x
NAME(abs);
NAME(add);
NAME(ceil);
NAME(cos);
NAME(div);
NAME(equal);
NAME(erf);
NAME(exp);
NAME(floor);
NAME(greater);
NAME(identity);
NAME(less);
NAME(log);
NAME(logical_and);
NAME(logical_not);
NAME(logical_or);
NAME(max);
NAME(maximum);
NAME(mean);
NAME(min);
NAME(minimum);
NAME(mul);
NAME(negate);
NAME(prod);
NAME(reciprocal);
NAME(relu);
NAME(sigmoid);
NAME(sign);
NAME(sin);
NAME(sqrt);
NAME(sub);
NAME(sum);
NAME(tanh);
NAME(matmul);
#undef NAME

DType element_type(const Context& c, std::int64_t number) {
  switch (number) {
    case 1: return DType::float32;
    case 6: return DType::int32;
    case 7: return DType::int64;
    case 9: return DType::boolean;
    case 10: return DType::float16;
    case 11: return DType::float64;
    case 2: return DType::uint8;
    case 3: return DType::int8;
    default: c.refuse(fmt::format("the element type {} is not known here", number));
  }
}

void cast(Context& c) { c.give(c.op("cast", {c.operand(0)}, {{"data_type", element_type(c, c.node.integer("to", 1))}})); }

void gemm(Context& c) {
  const auto turned = [&](std::size_t i, const char* flag) {
    return c.node.integer(flag, 0) ? c.op("transpose", {c.operand(i)}, {{"permutation", Ints{1, 0}}}) : c.operand(i);
  };
  const auto scaled = [&](ValueId v, double by) { return by == 1 ? v : c.op("mul", {v, c.scalar(c.type(v).dtype, by)}); };
  ValueId y = scaled(c.op("matmul", {turned(0, "transA"), turned(1, "transB")}), c.node.real("alpha", 1));
  if (c.has(2)) y = c.op("add", {y, scaled(c.operand(2), c.node.real("beta", 1))});
  c.give(y);
}

void transpose(Context& c) {
  Ints order;
  if (const auto* perm = c.node.integers("perm")) {
    order = *perm;
  } else {
    for (std::size_t d = c.shape(0).size(); d-- > 0;) order.push_back(static_cast<std::int64_t>(d));
  }
  c.give(c.op("transpose", {c.operand(0)}, {{"permutation", order}}));
}

void reshape(Context& c) {
  Ints shape = c.integers(1);
  const Shape& in = c.shape(0);
  std::int64_t rest = ir::elements_of(in), open = -1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0 && !c.node.integer("allowzero", 0)) {
      if (d >= in.size()) c.refuse("0 stands for a dimension that is not there");
      shape[d] = in[d];
    }
    if (shape[d] == -1) {
      open = static_cast<std::int64_t>(d);
    } else if (shape[d] > 0) {
      rest /= shape[d];
    }
  }
  if (open >= 0) shape[static_cast<std::size_t>(open)] = rest;
  c.give(c.reshape(c.operand(0), shape));
}

void flatten(Context& c) {
  const Shape& in = c.shape(0);
  const auto axis = static_cast<std::ptrdiff_t>(c.axis(1, in.size()));
  const std::int64_t rows = ir::elements_of(Shape(in.begin(), in.begin() + axis));
  c.give(c.reshape(c.operand(0), {rows, ir::elements_of(Shape(in.begin() + axis, in.end()))}));
}

void squeeze(Context& c) {
  const auto rank = static_cast<std::int64_t>(c.shape(0).size());
  const std::optional<Ints> axes = c.axes("axes", 1);
  Shape out;
  for (std::int64_t d = 0; d < rank; ++d) {
    const std::int64_t size = c.shape(0)[static_cast<std::size_t>(d)];
    const bool gone =
        axes ? std::any_of(axes->begin(), axes->end(), [&](std::int64_t a) { return (a < 0 ? a + rank : a) == d; }) : size == 1;
    if (!gone) out.push_back(size);
  }
  c.give(c.reshape(c.operand(0), out));
}

void unsqueeze(Context& c) {
  Ints axes = c.axes("axes", 1).value_or(Ints{});
  const auto rank = static_cast<std::int64_t>(c.shape(0).size() + axes.size());
  for (std::int64_t& a : axes) a += a < 0 ? rank : 0;
  std::sort(axes.begin(), axes.end());
  Shape out = c.shape(0);
  for (std::int64_t a : axes) out.insert(out.begin() + a, 1);
  c.give(c.reshape(c.operand(0), out));
}

void concat(Context& c) {
  std::vector<ValueId> all;
  for (std::size_t i = 0; i < c.operands(); ++i) all.push_back(c.operand(i));
  c.give(c.ops("concat", all, {{"axis", c.axis(0, c.shape(0).size())}})[0]);
}

void split(Context& c) {
  const std::int64_t axis = c.axis(0, c.shape(0).size()), size = c.shape(0)[static_cast<std::size_t>(axis)];
  std::optional<Ints> pieces = c.axes("split", 1);
  if (!pieces) {
    const auto n = static_cast<std::int64_t>(c.node.outputs.size()), each = (size + n - 1) / n;
    pieces.emplace();
    for (std::int64_t left = size; left > 0; left -= each) pieces->push_back(std::min(each, left));
  }
  c.results = c.ops("split", {{c.operand(0)}}, {{"splits", *pieces}, {"axis", axis}});
}

void slice(Context& c) {
  const auto& in = c.shape(0);
  const auto rank = static_cast<std::int64_t>(in.size());
  const std::optional<Ints> starts = c.axes("starts", 1), ends = c.axes("ends", 2);
  if (!starts || !ends || starts->size() != ends->size()) c.refuse("starts and ends do not fit");
  Ints axes = c.axes("axes", 3).value_or(Ints{}), steps = c.has(4) ? c.integers(4) : Ints(starts->size(), 1);
  for (std::size_t i = axes.size(); i < starts->size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  Ints start, stop;
  for (std::size_t i = 0; i < starts->size(); ++i) {
    axes[i] += axes[i] < 0 ? rank : 0;
    const std::int64_t n = in[static_cast<std::size_t>(axes[i])];
    if (steps[i] < 1) c.refuse("a step backwards");
    const auto clamped = [n](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + n : at, 0, n); };
    start.push_back(clamped((*starts)[i]));
    stop.push_back(clamped((*ends)[i]));
  }
  c.give(c.op("slice", {c.operand(0)}, {{"start", start}, {"stop", stop}, {"step", steps}, {"axis", axes}}));
}

void gather(Context& c) {
  const std::int64_t axis = c.axis(0, c.shape(0).size());
  ValueId indices = c.operand(1);
  // Negative indices count from the end.
  if (c.known[1]) {
    HostTensor at = *c.known[1];
    for (std::int64_t i = 0; i < at.elements(); ++i) {
      if (at.integer(i) < 0) at.set_integer(i, at.integer(i) + c.shape(0)[static_cast<std::size_t>(axis)]);
    }
    indices = c.constant(at.converted(DType::int32));
  } else if (c.type(indices).dtype == DType::int64) {
    indices = c.op("cast", {indices}, {{"data_type", DType::int32}});
  }
  c.give(c.op("gather", {c.operand(0), indices}, {{"axis", axis}}));
}

void expand(Context& c) {
  Shape to = c.integers(1);
  const Shape& in = c.shape(0);
  while (to.size() < in.size()) to.insert(to.begin(), 1);
  for (std::size_t d = 0; d < in.size(); ++d) {
    std::int64_t& t = to[to.size() - in.size() + d];
    t = std::max(t, in[d]);
  }
  c.give(c.op("expand", {c.operand(0)}, {{"shape", Ints(to)}}));
}

void constant_of_shape(Context& c) {
  const auto it = c.node.attributes.find("value");
  const bool given = it != c.node.attributes.end() && it->second.tensor;
  const DType dtype = given ? it->second.tensor->dtype() : DType::float32;
  c.give(c.constant(HostTensor::filled(dtype, c.integers(0), given ? it->second.tensor->number(0) : 0)));
}

void range(Context& c) {
  const Ints from = c.integers(0), to = c.integers(1), by = c.integers(2);
  Ints all;
  for (std::int64_t i = from[0]; by[0] > 0 ? i < to[0] : i > to[0]; i += by[0]) all.push_back(i);
  c.give(c.constant(HostTensor::of_ints(c.type(c.operand(0)).dtype, {static_cast<std::int64_t>(all.size())}, all)));
}

void softmax(Context& c) {
  const Shape in = c.shape(0);
  if (c.opset >= 13) return c.give(c.op("softmax", {c.operand(0)}, {{"axis", c.axis(-1, in.size())}}));
  // Earlier, all dimensions from the axis on are one.
  const auto axis = static_cast<std::ptrdiff_t>(c.axis(1, in.size()));
  const std::int64_t rows = ir::elements_of(Shape(in.begin(), in.begin() + axis)),
                     columns = ir::elements_of(Shape(in.begin() + axis, in.end()));
  c.give(c.reshape(c.op("softmax", {c.reshape(c.operand(0), {rows, columns})}, {{"axis", std::int64_t{1}}}), in));
}

void clip(Context& c) {
  double low = c.node.real("min", -std::numeric_limits<double>::infinity()),
         high = c.node.real("max", std::numeric_limits<double>::infinity());
  for (std::size_t i : {1u, 2u}) {
    if (!c.has(i)) continue;
    if (!c.known[i]) c.refuse("its bounds must be known when the model is read");
    (i == 1 ? low : high) = c.known[i]->number(0);
  }
  c.give(c.op("clip", {c.operand(0)}, {{"min", low}, {"max", high}}));
}

void argmax(Context& c) {
  const ValueId at =
      c.op("argmax", {c.operand(0)}, {{"dim", c.axis(0, c.shape(0).size())}, {"keepdim", c.node.integer("keepdims", 1) != 0}});
  c.give(c.op("cast", {at}, {{"data_type", DType::int64}}));
}

void where(Context& c) { c.give(c.op("where", {c.operand(0), c.operand(1), c.operand(2)})); }

void dropout(Context& c) { c.give(c.op("identity", {c.operand(0)})); }

void gelu(Context& c) { c.give(c.op(c.node.text("approximate", "none") == "tanh" ? "gelu" : "geluerf", {c.operand(0)})); }

// Over the last dimensions, from `axis` on.
void layer_normalization(Context& c) {
  const ValueId x = c.operand(0);
  const auto rank = static_cast<std::int64_t>(c.shape(0).size());
  Ints axes;
  for (std::int64_t d = c.axis(-1, c.shape(0).size()); d < rank; ++d) axes.push_back(d);
  const Attributes over{{"axis", axes}, {"keepdims", true}};
  const ValueId centred = c.op("sub", {x, c.op("mean", {x}, over)});
  const ValueId variance = c.op("mean", {c.op("mul", {centred, centred})}, over);
  const ValueId scale = c.op("rsqrt", {c.op("add", {variance, c.scalar(c.type(x).dtype, c.node.real("epsilon", 1e-5))})});
  ValueId y = c.op("mul", {c.op("mul", {centred, scale}), c.operand(1)});
  if (c.has(2)) y = c.op("add", {y, c.operand(2)});
  c.give(y);
}

// Of inference: channels are dimension 1.
void batch_normalization(Context& c) {
  if (c.node.integer("training_mode", 0)) c.refuse("training statistics");
  Shape by_channel(c.shape(0).size(), 1);
  if (by_channel.size() < 2) c.refuse("an operand of less than two dimensions");
  by_channel[1] = c.shape(0)[1];
  const auto channels = [&](std::size_t i) { return c.reshape(c.operand(i), by_channel); };
  const ValueId deviation = c.op("rsqrt", {c.op("add", {channels(4), c.scalar(c.type(c.operand(4)).dtype, c.node.real("epsilon", 1e-5))})});
  const ValueId normal = c.op("mul", {c.op("sub", {c.operand(0), channels(3)}), deviation});
  c.give(c.op("add", {c.op("mul", {normal, channels(1)}), channels(2)}));
}

// Attributes of windows, as they are called here.
Attributes windows(const Context& c) {
  if (c.node.text("auto_pad", "NOTSET") != "NOTSET") c.refuse("padding that is not said in numbers (auto_pad)");
  Attributes a;
  for (const auto& [theirs, ours] :
       {std::pair{"strides", "stride"}, {"pads", "padding"}, {"dilations", "dilation"}, {"kernel_shape", "kernel_size"}}) {
    if (const auto* list = c.node.integers(theirs)) a.set(ours, Ints(*list));
  }
  return a;
}

void conv(Context& c) {
  Attributes a = windows(c), own;
  for (const auto& [name, value] : a.items()) {
    if (name != "kernel_size") own.set(name, value);
  }
  own.set("groups", c.node.integer("group", 1));
  ValueId y = c.op("conv", {c.operand(0), c.operand(1)}, own);
  if (c.has(2)) {
    Shape by_channel(c.type(y).shape.size(), 1);
    by_channel[1] = c.shape(2)[0];
    y = c.op("add", {y, c.reshape(c.operand(2), by_channel)});
  }
  c.give(y);
}

template <const char* name>
void pool(Context& c) {
  Attributes a = windows(c);
  a.set("ceil_mode", c.node.integer("ceil_mode", 0) != 0);
  const auto* pads = c.node.integers("pads");
  const bool padded = pads && std::any_of(pads->begin(), pads->end(), [](std::int64_t p) { return p != 0; });
  if (std::string_view(name) == "average_pool" && padded && c.node.integer("count_include_pad", 0)) c.refuse("averages that count padding");
  c.give(c.op(name, {c.operand(0)}, a));
}
constexpr char k_max_pool[] = "max_pool", k_average_pool[] = "average_pool";

void global_average_pool(Context& c) {
  Ints axes;
  for (std::size_t d = 2; d < c.shape(0).size(); ++d) axes.push_back(static_cast<std::int64_t>(d));
  c.give(c.op("mean", {c.operand(0)}, {{"axis", axes}, {"keepdims", true}}));
}

void power(Context& c) {
  const DType base = c.type(c.operand(0)).dtype;
  const ValueId e = c.type(c.operand(1)).dtype == base ? c.operand(1) : c.op("cast", {c.operand(1)}, {{"data_type", base}});
  c.give(c.op("pow", {c.operand(0), e}));
}

const std::unordered_map<std::string_view, Rule>& rules() {
  static const std::unordered_map<std::string_view, Rule> all = {
      {"Abs", unary<k_abs>},
      {"Add", binary<k_add>},
      {"And", binary<k_logical_and>},
      {"ArgMax", argmax},
      {"AveragePool", pool<k_average_pool>},
      {"BatchNormalization", batch_normalization},
      {"Cast", cast},
      {"Ceil", unary<k_ceil>},
      {"Clip", clip},
      {"Concat", concat},
      {"ConstantOfShape", constant_of_shape},
      {"Conv", conv},
      {"Cos", unary<k_cos>},
      {"Div", binary<k_div>},
      {"Dropout", dropout},
      {"Equal", binary<k_equal>},
      {"Erf", unary<k_erf>},
      {"Exp", unary<k_exp>},
      {"Expand", expand},
      {"Flatten", flatten},
      {"Floor", unary<k_floor>},
      {"Gather", gather},
      {"Gelu", gelu},
      {"Gemm", gemm},
      {"GlobalAveragePool", global_average_pool},
      {"Greater", binary<k_greater>},
      {"Identity", unary<k_identity>},
      {"LayerNormalization", layer_normalization},
      {"Less", binary<k_less>},
      {"Log", unary<k_log>},
      {"MatMul", binary<k_matmul>},
      {"Max", fold<k_maximum>},
      {"MaxPool", pool<k_max_pool>},
      {"Min", fold<k_minimum>},
      {"Mul", binary<k_mul>},
      {"Neg", unary<k_negate>},
      {"Not", unary<k_logical_not>},
      {"Or", binary<k_logical_or>},
      {"Pow", power},
      {"Range", range},
      {"Reciprocal", unary<k_reciprocal>},
      {"ReduceMax", reduce<k_max>},
      {"ReduceMean", reduce<k_mean>},
      {"ReduceMin", reduce<k_min>},
      {"ReduceProd", reduce<k_prod>},
      {"ReduceSum", reduce<k_sum>},
      {"Relu", unary<k_relu>},
      {"Reshape", reshape},
      {"Sigmoid", unary<k_sigmoid>},
      {"Sign", unary<k_sign>},
      {"Sin", unary<k_sin>},
      {"Slice", slice},
      {"Softmax", softmax},
      {"Split", split},
      {"Sqrt", unary<k_sqrt>},
      {"Squeeze", squeeze},
      {"Sub", binary<k_sub>},
      {"Sum", fold<k_add>},
      {"Tanh", unary<k_tanh>},
      {"Transpose", transpose},
      {"Unsqueeze", unsqueeze},
      {"Where", where},
  };
  return all;
}

}  // namespace

Rule rule_of(std::string_view op) {
  const auto it = rules().find(op);
  return it == rules().end() ? nullptr : it->second;
}

}  // namespace pando::onnx
