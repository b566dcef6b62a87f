#include "onnx/rules/loops.h"

#include "onnx/importer.h"

namespace pando::onnx {

namespace {

// Trips are written out: what is known stays known, and shapes may change from trip to trip.
constexpr std::int64_t kMostTrips = 4096;

Bound bound_of(const Context& c, std::size_t i) {
  return {c.known[i], c.values[i], c.initial[i], i < c.inputs.size() ? c.inputs[i] : nullptr};
}

std::vector<Bound> run_body(Context& c, const Graph& body, const std::vector<Bound>& inputs, Scope& scope) {
  scope.parent = &c.scope();
  scope.opsets = c.scope().opsets;
  scope.graph = c.graph();
  return c.importer().read_graph(scope, body, inputs, c);
}

ValueId value_of(Context& c, const Bound& b) {
  Scope none;
  none.graph = c.graph();
  if (b.value.valid() || b.known) return c.importer().value_of(none, b, "");
  return c.constant(*b.initial);
}

void give_bound(Context& c, const Bound& b) {
  if (b.known) {
    c.give_known(c.results.size(), *b.known);
    c.give(ValueId());
  } else {
    c.give(value_of(c, b));
  }
}

// What is carried out of the last trip. The body may read more than the operands.
void give_state(Context& c, const std::vector<Bound>& state) {
  if (Inputs more = Importer::inputs_of(state)) c.from = std::move(more);
  for (const Bound& b : state) give_bound(c, b);
}

// What one output of all trips becomes: a new dimension at `axis`.
void give_stacked(Context& c, const std::vector<Bound>& trips, std::int64_t axis_attribute, bool reversed) {
  Values parts;
  std::int64_t axis = 0;
  for (const Bound& b : trips) {
    const ValueId v = value_of(c, b);
    Shape s = c.shape(v);
    axis = c.axis_in(axis_attribute, s.size() + 1);
    s.insert(s.begin() + axis, 1);
    parts.push_back(c.reshape(v, s));
  }
  if (reversed) std::reverse(parts.begin(), parts.end());
  c.give(c.concat(parts, axis));
}

// Carried values of a trip that may not happen any more.
std::vector<Bound> chosen(Context& c, ValueId active, const std::vector<Bound>& now, const std::vector<Bound>& before) {
  std::vector<Bound> all;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const ValueId a = value_of(c, now[i]), b = value_of(c, before[i]);
    if (c.shape(a) != c.shape(b))
      c.reject(fmt::format("a carried value of shape {} becomes {} in a trip that may not happen", ir::to_string(c.shape(b)),
                           ir::to_string(c.shape(a))));
    all.push_back({{}, c.where(active, a, b), nullptr, c.from});
  }
  return all;
}

bool holds(const Bound& b) { return b.known->elements() == 1 && b.known->integer(0) != 0; }

}  // namespace

void loop(Context& c) {
  const Graph& body = *c.node.attributes.at("body").graph;
  const std::size_t carried = c.operands() > 2 ? c.operands() - 2 : 0;
  if (body.inputs.size() != carried + 2 || body.outputs.size() < carried + 1)
    c.reject(fmt::format("its body has {} inputs and {} outputs for {} carried values", body.inputs.size(), body.outputs.size(), carried));
  const std::size_t stacked = body.outputs.size() - carried - 1;
  const bool bounded = c.has(0);
  const std::int64_t most = bounded ? c.integer(0) : kMostTrips + 1;
  if (bounded && most > kMostTrips) c.reject(fmt::format("{} trips; {} are the most", most, kMostTrips));
  std::vector<Bound> state;
  for (std::size_t i = 0; i < carried; ++i) state.push_back(bound_of(c, i + 2));
  std::vector<std::vector<Bound>> stacks(stacked);
  Bound going = c.has(1) ? bound_of(c, 1) : Bound{HostTensor::filled(DType::boolean, {}, 1), {}, nullptr};
  // Of trips that may not happen: whether this one does.
  ValueId active;
  for (std::int64_t t = 0; t < most; ++t) {
    if (going.known && !holds(going)) break;
    if (t >= kMostTrips) c.reject(fmt::format("its condition holds for more than {} trips", kMostTrips));
    if (!going.known) {
      if (!bounded) c.reject("its condition is not known when the model is read, and no number of trips bounds it");
      if (stacked > 0) c.reject("its condition is not known when the model is read; how much it stacks depends on it");
      const ValueId now = c.reshape(value_of(c, going), {});
      active = active.valid() ? c.op("logical_and", {active, now}) : now;
    }
    std::vector<Bound> inputs{{HostTensor::of_ints(DType::int64, {}, std::vector{t}), {}, nullptr}, going};
    inputs.insert(inputs.end(), state.begin(), state.end());
    Scope scope;
    const std::vector<Bound> outputs = run_body(c, body, inputs, scope);
    const std::vector<Bound> next(outputs.begin() + 1, outputs.begin() + 1 + static_cast<std::ptrdiff_t>(carried));
    state = active.valid() ? chosen(c, active, next, state) : next;
    for (std::size_t s = 0; s < stacked; ++s) stacks[s].push_back(outputs[1 + carried + s]);
    // A condition that is still known after one that was not holds, or ends all.
    going = outputs[0];
    if (active.valid() && going.known && holds(going)) going = {{}, active, nullptr, c.from};
  }
  give_state(c, state);
  for (std::size_t s = 0; s < stacked; ++s) {
    if (stacks[s].empty()) c.reject("no trip happens; what it stacks has no shape");
    give_stacked(c, stacks[s], 0, false);
  }
}

void scan(Context& c) {
  if (c.opset < 9) c.reject("the operator of opset 8");
  const Graph& body = *c.node.attributes.at("body").graph;
  const auto all = static_cast<std::int64_t>(c.operands());
  const std::int64_t scanned = c.ranged("num_scan_inputs", 0, 1, all), carried = all - scanned;
  const std::int64_t stacked = static_cast<std::int64_t>(body.outputs.size()) - carried;
  if (static_cast<std::int64_t>(body.inputs.size()) != all || stacked < 0)
    c.reject(fmt::format("its body has {} inputs and {} outputs for {} operands", body.inputs.size(), body.outputs.size(), all));
  const auto numbers = [&](const char* name, std::int64_t n) {
    const auto* list = c.node.integers(name);
    if (list != nullptr && static_cast<std::int64_t>(list->size()) != n)
      c.reject(fmt::format("attribute '{}' has {} numbers; {} are expected", name, list->size(), n));
    return list == nullptr ? Ints(static_cast<std::size_t>(n), 0) : *list;
  };
  const Ints in_axes = numbers("scan_input_axes", scanned), in_back = numbers("scan_input_directions", scanned);
  const Ints out_axes = numbers("scan_output_axes", stacked), out_back = numbers("scan_output_directions", stacked);
  std::vector<Bound> state;
  for (std::int64_t i = 0; i < carried; ++i) state.push_back(bound_of(c, static_cast<std::size_t>(i)));
  Ints axes;
  std::int64_t trips = -1;
  for (std::int64_t i = 0; i < scanned; ++i) {
    const auto at = static_cast<std::size_t>(carried + i);
    axes.push_back(c.axis_in(in_axes[static_cast<std::size_t>(i)], c.rank_of(at)));
    const std::int64_t n = c.shape_of(at)[static_cast<std::size_t>(axes.back())];
    if (trips >= 0 && n != trips) c.reject(fmt::format("scanned operands of {} and {} elements", trips, n));
    trips = n;
  }
  if (trips < 1 || trips > kMostTrips) c.reject(fmt::format("{} trips; 1 to {} are possible", trips, kMostTrips));
  std::vector<std::vector<Bound>> stacks(static_cast<std::size_t>(stacked));
  for (std::int64_t t = 0; t < trips; ++t) {
    std::vector<Bound> inputs = state;
    for (std::int64_t i = 0; i < scanned; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const ValueId v = c.operand(static_cast<std::size_t>(carried + i));
      Shape s = c.shape(v);
      s.erase(s.begin() + axes[k]);
      inputs.push_back({{},
                        c.reshape(c.slice(v, axes[k], in_back[k] != 0 ? trips - 1 - t : t, 1), s),
                        nullptr,
                        c.inputs[static_cast<std::size_t>(carried + i)]});
    }
    Scope scope;
    const std::vector<Bound> outputs = run_body(c, body, inputs, scope);
    state.assign(outputs.begin(), outputs.begin() + carried);
    for (std::size_t s = 0; s < stacks.size(); ++s) stacks[s].push_back(outputs[static_cast<std::size_t>(carried) + s]);
  }
  give_state(c, state);
  for (std::size_t s = 0; s < stacks.size(); ++s) give_stacked(c, stacks[s], out_axes[s], out_back[s] != 0);
}

}  // namespace pando::onnx
