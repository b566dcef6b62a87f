#include "transform/distribute/layout/letters.h"

#include "ir/op_row.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

namespace pando::transform {

namespace {

using ir::Module;
using ir::OpId;
using ir::Shape;

struct View {
  const Module& m;
  OpId op;
  const Shape& operand(std::size_t i) const { return m.type_of(m.operand(op, i)).shape; }
  const Shape& result(std::size_t i = 0) const { return m.type_of(m.result(op, i)).shape; }
  std::size_t operands() const { return m.operands(op).size(); }
  std::size_t results() const { return m.results(op).size(); }
  const ir::Attributes& attributes() const { return m.attributes(op); }
};

using Rule = std::optional<Letters> (*)(const View&);

Letters blank(const View& v) {
  Letters l;
  l.operands.resize(v.operands());
  l.results.resize(v.results());
  return l;
}

void put(std::vector<Occurrence>& list, std::size_t dim, std::size_t letter, std::int64_t outer = -1) {
  if (letter < 64) list.push_back({static_cast<std::int8_t>(dim), static_cast<std::uint8_t>(letter), outer});
}

// Letter d is dimension d of the (largest) result; operands are aligned at their last dimension.
Letters elementwise(const View& v, Letters::Linear linear) {
  Letters l = blank(v);
  l.linear = linear;
  const Shape& out = v.result();
  for (std::size_t i = 0; i < v.operands(); ++i) {
    const Shape& in = v.operand(i);
    for (std::size_t d = 0; d < in.size(); ++d) {
      const std::size_t at = d + out.size() - in.size();
      if (in[d] == out[at]) put(l.operands[i], d, at);
    }
  }
  for (auto& r : l.results) {
    for (std::size_t d = 0; d < out.size(); ++d) put(r, d, d);
  }
  return l;
}

std::optional<Letters> plain(const View& v) { return elementwise(v, Letters::none); }
std::optional<Letters> sum_like(const View& v) { return elementwise(v, Letters::every); }
std::optional<Letters> scaled(const View& v) { return elementwise(v, Letters::first); }

// Batch letters from 3 on; m, k, n.
constexpr std::size_t kM = 0, kK = 1, kN = 2, kBatch = 3;

std::optional<Letters> matmul(const View& v) {
  const Shape &a = v.operand(0), &b = v.operand(1), &out = v.result();
  if (a.size() < 2 || b.size() < 2) return std::nullopt;
  Letters l = blank(v);
  l.linear = Letters::any_one;
  put(l.operands[0], a.size() - 2, kM);
  put(l.operands[0], a.size() - 1, kK);
  put(l.operands[1], b.size() - 2, kK);
  put(l.operands[1], b.size() - 1, kN);
  put(l.results[0], out.size() - 2, kM);
  put(l.results[0], out.size() - 1, kN);
  const auto leading = [&](const Shape& s, std::vector<Occurrence>& to) {
    for (std::size_t back = 3; back <= s.size(); ++back) {
      if (s[s.size() - back] == out[out.size() - back]) put(to, s.size() - back, kBatch + back);
    }
  };
  leading(a, l.operands[0]);
  leading(b, l.operands[1]);
  leading(out, l.results[0]);
  return l;
}

std::optional<Letters> matmul_grad(const View& v) {
  const std::size_t rank = v.operand(0).size();
  Letters l = blank(v);
  for (std::size_t d = 0; d + 1 < rank; ++d) {
    for (auto* list : {&l.operands[0], &l.operands[2], &l.results[0]}) put(*list, d, kBatch + d);
  }
  for (auto* list : {&l.operands[0], &l.results[0]}) put(*list, rank - 1, kK);
  put(l.operands[2], rank - 1, kN);
  for (auto* list : {&l.operands[1], &l.results[1]}) {
    put(*list, 0, kK);
    put(*list, 1, kN);
  }
  return l;
}

std::optional<Letters> transpose(const View& v) {
  Letters l = blank(v);
  l.linear = Letters::every;
  const ir::Ints& order = v.attributes().ints("permutation");
  for (std::size_t d = 0; d < order.size(); ++d) {
    put(l.operands[0], static_cast<std::size_t>(order[d]), d);
    put(l.results[0], d, d);
  }
  return l;
}

// A letter for each factor that begins a dimension before or behind: see Spec::outer.
std::optional<Letters> reshape(const View& v) {
  Letters l = blank(v);
  l.linear = Letters::every;
  const Shape &in = v.operand(0), &out = v.result();
  struct Begin {
    std::size_t dim;
    std::int64_t before;
  };
  const auto begins = [](const Shape& s) {
    std::vector<Begin> all;
    std::int64_t before = 1;
    for (std::size_t d = 0; d < s.size(); ++d) {
      if (s[d] > 1) all.push_back({d, before});
      before *= s[d];
    }
    return all;
  };
  const std::vector<Begin> a = begins(in), b = begins(out);
  std::set<std::int64_t> starts;
  for (const auto* list : {&a, &b}) {
    for (const Begin& x : *list) starts.insert(x.before);
  }
  const auto at = [](const std::vector<Begin>& list, const Shape& s, std::int64_t start) -> const Begin* {
    for (const Begin& x : list) {
      if (x.before <= start && start < x.before * s[x.dim] && start % x.before == 0 && s[x.dim] % (start / x.before) == 0) return &x;
    }
    return nullptr;
  };
  std::size_t letter = 0;
  for (std::int64_t start : starts) {
    const Begin *x = at(a, in, start), *y = at(b, out, start);
    if (!x || !y) continue;
    put(l.operands[0], x->dim, letter, start / x->before);
    put(l.results[0], y->dim, letter, start / y->before);
    ++letter;
  }
  return l;
}

std::optional<Letters> expand(const View& v) { return elementwise(v, Letters::every); }

// Dimensions of operand 0 that are reduced, as bits.
std::uint64_t reduced_axes(const View& v) {
  std::uint64_t bits = 0;
  const auto rank = static_cast<std::int64_t>(v.operand(0).size());
  const ir::AttributeValue* axis = v.attributes().find("axis");
  if (!axis) axis = v.attributes().find("dim");
  if (!axis) return (std::uint64_t{1} << rank) - 1;
  if (const auto* one = std::get_if<std::int64_t>(axis)) return std::uint64_t{1} << (*one < 0 ? *one + rank : *one);
  for (std::int64_t a : std::get<ir::Ints>(*axis)) bits |= std::uint64_t{1} << (a < 0 ? a + rank : a);
  return bits;
}

Letters reduction(const View& v, bool adds) {
  Letters l = blank(v);
  const std::uint64_t gone = reduced_axes(v);
  const bool keeps = v.result().size() == v.operand(0).size();
  std::size_t at = 0;
  for (std::size_t d = 0; d < v.operand(0).size(); ++d) {
    put(l.operands[0], d, d);
    const bool reduced = gone >> d & 1;
    if (!reduced) put(l.results[0], keeps ? d : at, d);
    at += !reduced;
  }
  if (!adds) l.blocked = gone;
  if (adds) l.linear = Letters::every;
  return l;
}

std::optional<Letters> sum(const View& v) { return reduction(v, true); }
std::optional<Letters> other_reduction(const View& v) { return reduction(v, false); }

// All letters but that of the axis.
std::optional<Letters> along_axis(const View& v) {
  Letters l = elementwise(v, Letters::none);
  l.blocked = reduced_axes(v);
  return l;
}

std::optional<Letters> pieces_along_axis(const View& v) {
  const std::uint64_t axes = reduced_axes(v);
  Letters l = blank(v);
  l.linear = Letters::every;
  for (auto* lists : {&l.operands, &l.results}) {
    for (auto& list : *lists) {
      for (std::size_t d = 0; d < v.operand(0).size(); ++d) put(list, d, d);
    }
  }
  l.blocked = axes;
  return l;
}

std::optional<Letters> gather(const View& v) {
  if (v.attributes().has("group_size")) return std::nullopt;
  Letters l = blank(v);
  const auto axis = static_cast<std::size_t>(v.attributes().integer("axis"));
  const std::size_t indices = v.operand(1).size();
  std::size_t letter = 0;
  for (std::size_t d = 0; d < v.operand(0).size(); ++d) {
    if (d == axis) continue;
    put(l.operands[0], d, letter);
    put(l.results[0], d < axis ? d : d + indices - 1, letter++);
  }
  for (std::size_t d = 0; d < indices; ++d) {
    put(l.operands[1], d, letter);
    put(l.results[0], axis + d, letter++);
  }
  return l;
}

// (data, indices) -> sums of rows: the rows are added up, so that they may come in parts.
std::optional<Letters> scatter_reduce(const View& v) {
  if (v.attributes().has("group_size") || v.operands() != 2 || v.operand(1).size() != 1 || v.attributes().text("reduction") != "sum")
    return std::nullopt;
  Letters l = blank(v);
  const auto axis = static_cast<std::size_t>(v.attributes().integer("axis"));
  for (std::size_t d = 0; d < v.operand(0).size(); ++d) {
    put(l.operands[0], d, d);
    if (d != axis) put(l.results[0], d, d);
  }
  put(l.operands[1], 0, axis);
  return l;
}

// Probabilities and labels; the last dimension of the former counts classes.
std::optional<Letters> nll(const View& v) {
  const std::string& reduction = v.attributes().text("reduction");
  if (reduction == "mean") return std::nullopt;
  Letters l = blank(v);
  const std::size_t rank = v.operand(1).size();
  for (std::size_t d = 0; d < rank; ++d) {
    for (std::size_t i = 0; i < v.operands(); ++i) {
      if (v.operand(i).size() > d) put(l.operands[i], d, d);
    }
    for (std::size_t i = 0; i < v.results(); ++i) {
      if (v.result(i).size() > d) put(l.results[i], d, d);
    }
  }
  return l;
}

// Samples are normalised one by one; gradients of the weight and the bias add up over them.
std::optional<Letters> normalisation(const View& v) {
  if (v.attributes().integer("num_groups", 1) != 1) return std::nullopt;
  Letters l = blank(v);
  const std::int64_t samples = v.operand(0)[0];
  const std::string_view name = v.m.row(v.op).name;
  const auto of_samples = [&](std::size_t i) { return i != 1 && !(i == 2 && name != "group_norm_grad"); };
  for (std::size_t i = 0; i < v.operands(); ++i) {
    if (of_samples(i) && v.operand(i)[0] == samples) put(l.operands[i], 0, 0);
  }
  for (std::size_t i = 0; i < v.results(); ++i) {
    if (!(name == "group_norm_grad" && i > 0)) put(l.results[i], 0, 0);
  }
  return l;
}

// --- images: (samples, channels, ...)

constexpr std::size_t kSamples = 0, kIn = 1, kOut = 2;

// Where channels are in groups, only samples are cut. `t`, `weight`, `y`: their letters' lists; the weight's are (out, in, ...).
void convolution(Letters& l, bool grouped, std::vector<Occurrence>& t, std::vector<Occurrence>& weight, std::vector<Occurrence>& y) {
  l.linear = Letters::any_one;
  put(t, 0, kSamples);
  put(y, 0, kSamples);
  if (grouped) return;
  put(t, 1, kIn);
  put(weight, 1, kIn);
  put(weight, 0, kOut);
  put(y, 1, kOut);
}
bool has_groups(const Shape& t, const Shape& weight) { return t[1] != weight[1]; }

std::optional<Letters> conv(const View& v) {
  Letters l = blank(v);
  convolution(l, has_groups(v.operand(0), v.operand(1)), l.operands[0], l.operands[1], l.results[0]);
  return l;
}
std::optional<Letters> conv_input_grad(const View& v) {
  Letters l = blank(v);
  convolution(l, has_groups(v.result(), v.operand(1)), l.results[0], l.operands[1], l.operands[0]);
  return l;
}
std::optional<Letters> conv_weight_grad(const View& v) {
  Letters l = blank(v);
  convolution(l, has_groups(v.operand(1), v.result()), l.operands[1], l.results[0], l.operands[0]);
  return l;
}

// Each sample and channel for itself.
std::optional<Letters> by_channel(const View& v) {
  Letters l = blank(v);
  for (auto* lists : {&l.operands, &l.results}) {
    for (auto& list : *lists) {
      put(list, 0, kSamples);
      put(list, 1, kIn);
    }
  }
  return l;
}

// Behind the first operand: a number for each channel.
std::optional<Letters> batch_norm_inference(const View& v) {
  Letters l = blank(v);
  for (auto* list : {&l.operands[0], &l.results[0]}) {
    put(*list, 0, kSamples);
    put(*list, 1, kIn);
  }
  for (std::size_t i = 1; i < v.operands(); ++i) put(l.operands[i], 0, kIn);
  return l;
}

const std::unordered_map<std::string_view, Rule>& rules() {
  static const std::unordered_map<std::string_view, Rule> all = {
      {"add", sum_like},
      {"sub", sum_like},
      {"add_n", sum_like},
      {"negate", sum_like},
      {"identity", sum_like},
      {"detach", sum_like},
      {"mul", scaled},
      {"div", scaled},
      {"squared_loss", plain},
      {"squared_loss_grad", plain},
      {"matmul", matmul},
      {"matmul_grad", matmul_grad},
      {"transpose", transpose},
      {"reshape", reshape},
      {"flatten", reshape},
      {"squeeze", reshape},
      {"expand", expand},
      {"sum", sum},
      {"max", other_reduction},
      {"min", other_reduction},
      {"argmax", other_reduction},
      {"mean", other_reduction},
      {"softmax", along_axis},
      {"softmax_grad", along_axis},
      {"cumsum", along_axis},
      {"concat", pieces_along_axis},
      {"split", pieces_along_axis},
      {"slice", pieces_along_axis},
      {"gather", gather},
      {"tied_gather", gather},
      {"scatter_reduce", scatter_reduce},
      {"nll_loss", nll},
      {"nll_grad", nll},
      {"nll_loss_with_softmax_grad", nll},
      {"group_norm", normalisation},
      {"layer_norm", normalisation},
      {"group_norm_grad", normalisation},
      {"copy_var_update_", plain},
      {"accumulate_", plain},
      {"conv", conv},
      {"conv_input_grad", conv_input_grad},
      {"conv_weight_grad", conv_weight_grad},
      {"max_pool", by_channel},
      {"average_pool", by_channel},
      {"max_pool_grad", by_channel},
      {"average_pool_grad", by_channel},
      {"interpolate", by_channel},
      {"interpolate_grad", by_channel},
      {"batch_norm_inference", batch_norm_inference},
  };
  return all;
}

}  // namespace

std::optional<Letters> letters_of(const ir::Module& module, ir::OpId op) {
  const ir::OpRow& row = module.row(op);
  const auto it = rules().find(row.name);
  if (it != rules().end()) return it->second({module, op});
  if (row.elementwise && module.results(op).size() == 1) return elementwise({module, op}, Letters::none);
  return std::nullopt;
}

}  // namespace pando::transform
