#include "onnx/rules/recurrent.h"

namespace pando::onnx {

namespace {

// Steps are written out.
constexpr std::int64_t kMostSteps = 1024;

std::function<ValueId(ValueId)> activation(Context& c, const std::string& name, std::optional<double> alpha, std::optional<double> beta) {
  const auto times = [&c](ValueId v, double by) { return c.op("mul", {v, c.scalar(c.dtype(v), by)}); };
  const auto plus = [&c](ValueId v, double by) { return c.op("add", {v, c.scalar(c.dtype(v), by)}); };
  const double a1 = alpha.value_or(1), a001 = alpha.value_or(0.01), b0 = beta.value_or(0), b1 = beta.value_or(1);
  if (name == "sigmoid" || name == "tanh" || name == "relu") return [&c, name](ValueId v) { return c.op(name, {v}); };
  if (name == "softsign" || name == "softplus") return [&c, name](ValueId v) { return c.composition(name, {v}); };
  if (name == "leakyrelu") return [&c, a001](ValueId v) { return c.composition("leaky_relu", {v}, {{"alpha", a001}}); };
  if (name == "elu") return [&c, a1](ValueId v) { return c.composition("elu", {v}, {{"alpha", a1}}); };
  if (name == "thresholdedrelu") return [&c, a1](ValueId v) { return c.composition("thresholded_relu", {v}, {{"alpha", a1}}); };
  if (name == "hardsigmoid")
    return [&c, a = alpha.value_or(0.2), b = beta.value_or(0.5)](ValueId v) {
      return c.composition("hard_sigmoid", {v}, {{"alpha", a}, {"beta", b}});
    };
  if (name == "affine") return [=](ValueId v) { return plus(times(v, a1), b0); };
  if (name == "scaledtanh") return [&c, times, a1, b1](ValueId v) { return times(c.op("tanh", {times(v, b1)}), a1); };
  c.reject(fmt::format("the activation '{}' is not known", name));
}

bool takes_alpha(const std::string& n) {
  return n == "leakyrelu" || n == "elu" || n == "thresholdedrelu" || n == "hardsigmoid" || n == "affine" || n == "scaledtanh";
}
bool takes_beta(const std::string& n) { return n == "hardsigmoid" || n == "affine" || n == "scaledtanh"; }

// Of all directions; alphas and betas are used up by those that take them.
std::vector<std::function<ValueId(ValueId)>> activations_of(Context& c, const CellKind& kind, std::size_t directions) {
  std::vector<std::string> names;
  for (std::size_t d = 0; d < directions; ++d) names.insert(names.end(), kind.activations.begin(), kind.activations.end());
  if (c.has("activations")) {
    const std::vector<std::string>& given = c.node.attributes.at("activations").texts;
    if (given.size() != names.size()) c.reject(fmt::format("{} activations; {} are expected", given.size(), names.size()));
    names = given;
  }
  const auto numbers = [&](const char* name) { return c.has(name) ? c.node.attributes.at(name).reals : std::vector<float>(); };
  const std::vector<float> alphas = numbers("activation_alpha"), betas = numbers("activation_beta");
  std::size_t alpha = 0, beta = 0;
  std::vector<std::function<ValueId(ValueId)>> all;
  for (std::string& n : names) {
    std::transform(n.begin(), n.end(), n.begin(), [](char ch) { return static_cast<char>(ch >= 'A' && ch <= 'Z' ? ch - 'A' + 'a' : ch); });
    std::optional<double> a, b;
    if (takes_alpha(n) && alpha < alphas.size()) a = alphas[alpha++];
    if (takes_beta(n) && beta < betas.size()) b = betas[beta++];
    all.push_back(activation(c, n, a, b));
  }
  return all;
}

// Entry d of the first dimension, without it.
ValueId entry(Context& c, ValueId v, std::int64_t d) {
  Shape s = c.shape(v);
  s.erase(s.begin());
  return c.reshape(c.slice(v, 0, d, 1), s);
}

ValueId gate(Context& c, ValueId v, std::int64_t hidden, std::int64_t i) { return c.slice(v, 1, i * hidden, hidden); }

struct Run {
  std::int64_t steps, batch, hidden, directions;
  bool layout;
  // (batch, 1) of bool for each step, where lengths differ.
  Values active;
};

Run run_of(Context& c, const CellKind& kind) {
  Run r;
  r.layout = c.flag("layout", false);
  const Shape x = c.shape_of(0), w = c.shape_of(1), rec = c.shape_of(2);
  if (x.size() != 3 || w.size() != 3 || rec.size() != 3) c.reject("data and weights have 3 dimensions");
  const std::string direction = c.word("direction", "forward", {"forward", "reverse", "bidirectional"});
  r.directions = direction == "bidirectional" ? 2 : 1;
  r.steps = x[r.layout ? 1 : 0];
  r.batch = x[r.layout ? 0 : 1];
  r.hidden = rec[2];
  if (c.has("hidden_size") && c.integer("hidden_size", 0) != r.hidden)
    c.reject(fmt::format("attribute 'hidden_size' is {}; the weights have {}", c.integer("hidden_size", 0), r.hidden));
  if (w != Shape{r.directions, kind.gates * r.hidden, x[2]} || rec != Shape{r.directions, kind.gates * r.hidden, r.hidden})
    c.reject(fmt::format("weights of shapes {} and {} for data of {}", ir::to_string(w), ir::to_string(rec), ir::to_string(x)));
  if (c.has(3) && c.shape_of(3) != Shape{r.directions, 2 * kind.gates * r.hidden})
    c.reject(fmt::format("a bias of shape {}", ir::to_string(c.shape_of(3))));
  if (r.steps < 1 || r.steps > kMostSteps) c.reject(fmt::format("{} steps; 1 to {} are possible", r.steps, kMostSteps));
  if (!c.has(4)) return r;
  if (c.shape_of(4) != Shape{r.batch}) c.reject(fmt::format("lengths of shape {} for {} sequences", ir::to_string(c.shape_of(4)), r.batch));
  const ValueId lengths = c.reshape(c.cast(c.operand(4), DType::int32), {r.batch, 1});
  for (std::int64_t t = 0; t < r.steps; ++t) r.active.push_back(c.op("less", {c.scalar(DType::int32, static_cast<double>(t)), lengths}));
  return r;
}

// Operand i, (directions, batch, hidden) or with the batch first, at a direction; zeros where it is not given.
ValueId initial(Context& c, const Run& r, std::size_t i, std::int64_t d) {
  if (!c.has(i)) return c.full(c.dtype_of(0), {r.batch, r.hidden}, 0);
  const Shape expected = r.layout ? Shape{r.batch, r.directions, r.hidden} : Shape{r.directions, r.batch, r.hidden};
  if (c.shape_of(i) != expected)
    c.reject(fmt::format("operand {} has shape {}; {} is expected", i, ir::to_string(c.shape_of(i)), ir::to_string(expected)));
  return entry(c, r.layout ? c.transpose(c.operand(i), {1, 0, 2}) : c.operand(i), d);
}

Cell cell_of(Context& c, const CellKind& kind, const Run& r, std::int64_t d) {
  Cell cell;
  cell.hidden = r.hidden;
  cell.recurrence = c.transpose(entry(c, c.operand(2), d), {1, 0});
  if (c.has(3))
    cell.recurrent_bias =
        c.reshape(c.slice(entry(c, c.operand(3), d), 0, kind.gates * r.hidden, kind.gates * r.hidden), {1, kind.gates * r.hidden});
  if (kind.has_cell && c.has(7)) {
    if (c.shape_of(7) != Shape{r.directions, 3 * r.hidden}) c.reject(fmt::format("peepholes of shape {}", ir::to_string(c.shape_of(7))));
    const ValueId p = c.reshape(entry(c, c.operand(7), d), {1, 3 * r.hidden});
    for (std::size_t i = 0; i < 3; ++i) cell.peepholes[i] = gate(c, p, r.hidden, static_cast<std::int64_t>(i));
  }
  const std::vector<std::function<ValueId(ValueId)>> all = activations_of(c, kind, static_cast<std::size_t>(r.directions));
  const auto n = static_cast<std::ptrdiff_t>(kind.activations.size());
  cell.activations.assign(all.begin() + d * n, all.begin() + (d + 1) * n);
  const double clip = c.real("clip", 0);
  cell.clipped = [&c, clip](ValueId v) { return clip > 0 ? c.op("clip", {v}, {{"min", -clip}, {"max", clip}}) : v; };
  cell.flag = c.flag(kind.has_cell ? "input_forget" : "linear_before_reset", false);
  return cell;
}

ValueId sum_of(Context& c, ValueId a, ValueId b) { return b.valid() ? c.op("add", {a, b}) : a; }

// The states of one direction: h at each step in time, and what is left at the end.
std::pair<Values, CellState> run_direction(Context& c, const CellKind& kind, const Run& r, std::int64_t d, bool reverse) {
  const Cell cell = cell_of(c, kind, r, d);
  const ValueId x = r.layout ? c.transpose(c.operand(0), {1, 0, 2}) : c.operand(0);
  // All steps' products with the input at once.
  ValueId gates = c.op("matmul", {x, c.transpose(entry(c, c.operand(1), d), {1, 0})});
  if (c.has(3)) gates = c.op("add", {gates, c.slice(entry(c, c.operand(3), d), 0, 0, kind.gates * r.hidden)});
  CellState state{initial(c, r, 5, d), kind.has_cell ? initial(c, r, 6, d) : ValueId()};
  Values outs(static_cast<std::size_t>(r.steps));
  for (std::int64_t i = 0; i < r.steps; ++i) {
    const std::int64_t t = reverse ? r.steps - 1 - i : i;
    CellState next = kind.step(c, cell, entry(c, gates, t), state);
    ValueId shown = next.h;
    if (!r.active.empty()) {
      // Behind a sequence's end the state stays, and 0 is shown.
      const ValueId active = r.active[static_cast<std::size_t>(t)];
      shown = c.where(active, next.h, c.scalar(c.dtype(next.h), 0));
      next.h = c.where(active, next.h, state.h);
      if (kind.has_cell) next.c = c.where(active, next.c, state.c);
    }
    outs[static_cast<std::size_t>(t)] = shown;
    state = next;
  }
  return {outs, state};
}

}  // namespace

CellState lstm_step(Context& c, const Cell& cell, ValueId x, const CellState& before) {
  const std::int64_t n = cell.hidden;
  const ValueId all = sum_of(c, c.op("add", {x, c.op("matmul", {before.h, cell.recurrence})}), cell.recurrent_bias);
  const auto through = [&](std::size_t f, ValueId v) { return cell.activations[f](cell.clipped(v)); };
  const auto peep = [&](std::size_t i, ValueId state) {
    return cell.peepholes[i].valid() ? c.op("mul", {cell.peepholes[i], state}) : ValueId();
  };
  const ValueId input = through(0, sum_of(c, gate(c, all, n, 0), peep(0, before.c)));
  const ValueId forget =
      cell.flag ? c.op("sub", {c.scalar(c.dtype(input), 1), input}) : through(0, sum_of(c, gate(c, all, n, 2), peep(2, before.c)));
  const ValueId candidate = through(1, gate(c, all, n, 3));
  CellState next;
  next.c = c.op("add", {c.op("mul", {forget, before.c}), c.op("mul", {input, candidate})});
  const ValueId output = through(0, sum_of(c, gate(c, all, n, 1), peep(1, next.c)));
  next.h = c.op("mul", {output, cell.activations[2](next.c)});
  return next;
}

CellState gru_step(Context& c, const Cell& cell, ValueId x, const CellState& before) {
  const std::int64_t n = cell.hidden;
  const auto through = [&](std::size_t f, ValueId v) { return cell.activations[f](cell.clipped(v)); };
  const auto bias = [&](std::int64_t i) { return cell.recurrent_bias.valid() ? gate(c, cell.recurrent_bias, n, i) : ValueId(); };
  const auto product = [&](ValueId h, std::int64_t i) { return sum_of(c, c.op("matmul", {h, gate(c, cell.recurrence, n, i)}), bias(i)); };
  const ValueId update = through(0, c.op("add", {gate(c, x, n, 0), product(before.h, 0)}));
  const ValueId reset = through(0, c.op("add", {gate(c, x, n, 1), product(before.h, 1)}));
  const ValueId inner = cell.flag ? c.op("mul", {reset, product(before.h, 2)}) : product(c.op("mul", {reset, before.h}), 2);
  const ValueId candidate = through(1, c.op("add", {gate(c, x, n, 2), inner}));
  const ValueId rest = c.op("sub", {c.scalar(c.dtype(update), 1), update});
  return {c.op("add", {c.op("mul", {rest, candidate}), c.op("mul", {update, before.h})}), {}};
}

CellState rnn_step(Context& c, const Cell& cell, ValueId x, const CellState& before) {
  const ValueId all = sum_of(c, c.op("add", {x, c.op("matmul", {before.h, cell.recurrence})}), cell.recurrent_bias);
  return {cell.activations[0](cell.clipped(all)), {}};
}

void recurrent(Context& c, const CellKind& kind) {
  const Run r = run_of(c, kind);
  const bool first_reversed = c.text("direction", "forward") == "reverse";
  Values whole, hidden, cells;
  std::vector<Values> steps;
  for (std::int64_t d = 0; d < r.directions; ++d) {
    const auto [outs, state] = run_direction(c, kind, r, d, d == 1 || first_reversed);
    steps.push_back(outs);
    hidden.push_back(c.reshape(state.h, {1, r.batch, r.hidden}));
    if (kind.has_cell) cells.push_back(c.reshape(state.c, {1, r.batch, r.hidden}));
  }
  for (std::int64_t t = 0; t < r.steps; ++t) {
    Values both;
    for (const Values& s : steps) both.push_back(c.reshape(s[static_cast<std::size_t>(t)], {1, 1, r.batch, r.hidden}));
    whole.push_back(c.concat(both, 1));
  }
  const ValueId y = c.concat(whole, 0);
  c.give(r.layout ? c.transpose(y, {2, 0, 1, 3}) : y);
  const auto last = [&](const Values& v) { return r.layout ? c.transpose(c.concat(v, 0), {1, 0, 2}) : c.concat(v, 0); };
  c.give(last(hidden));
  if (kind.has_cell) c.give(last(cells));
}

}  // namespace pando::onnx
