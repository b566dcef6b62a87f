#include "transform/distribute/parallelise.h"

#include "base/sizes.h"
#include "ir/checks/verify_distribution.h"
#include "ir/error.h"
#include "ir/op_row.h"
#include "schedule/generate.h"
#include "schedule/replay.h"
#include "transform/distribute/device_order.h"
#include "transform/distribute/distributed_already.h"
#include "transform/distribute/instantiate.h"
#include "transform/distribute/module_copy.h"
#include "transform/distribute/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>

namespace pando::transform {

namespace {

void number_devices(const Strategy& s, Mesh& mesh) {
  const DeviceStrides strides = strides_of(s);
  mesh.pipeline_stride = static_cast<std::int32_t>(strides.pipeline);
  for (std::int64_t r = 0; r < mesh.ranks(); ++r) {
    std::int64_t offset = 0;
    for (const Axis a : {kData, kExpert, kContext, kTensor}) offset += mesh.coordinate(r, a) * strides.of_axis[a];
    mesh.offset_of_rank.push_back(static_cast<std::int32_t>(offset));
  }
}

Mesh mesh_of(const Strategy& s, const Layout& layout, const schedule::Table& table) {
  Mesh mesh;
  mesh.sizes = layout.sizes;
  mesh.first_device = s.first_device;
  number_devices(s, mesh);
  mesh.rank_of_stage.assign(static_cast<std::size_t>(table.stages()), 0);
  for (std::size_t r = 0; r < table.ranks.size(); ++r) {
    for (const schedule::Cell& c : table.ranks[r]) {
      if (schedule::computes(c.action)) mesh.rank_of_stage[static_cast<std::size_t>(c.stage)] = static_cast<std::int32_t>(r);
    }
  }
  return mesh;
}

// Numbers that no strategy has.
void check_numbers(const Strategy& s) {
  for (std::int32_t n : {s.data, s.tensor, s.pipeline, s.microbatches, s.expert, s.context, s.stages_per_rank}) {
    if (n < 1) ir::reject(ir::ErrorClass::value, "degree", "a degree of {}", n);
  }
  if (s.first_device < 0) {
    ir::reject(ir::ErrorClass::value, "first-device", "the first device is {}; devices are numbered from 0", s.first_device);
  }
  std::uint64_t devices = 1;
  for (std::int32_t n : {s.data, s.tensor, s.pipeline, s.expert, s.context})
    devices = saturating_mul(devices, static_cast<std::uint64_t>(n));
  constexpr auto kLast = static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max());
  if (devices > kLast || static_cast<std::uint64_t>(s.first_device) > kLast - (devices - 1)) {
    ir::reject(ir::ErrorClass::value, "first-device", "{} devices from device {} on; the last device there can be is {}", devices,
               s.first_device, kLast);
  }
  if (s.recompute == Recompute::alternate || !(static_cast<const Predicted&>(s) == Predicted())) {
    ir::reject(ir::ErrorClass::value, "prediction", "the strategy says what predictions alone have: no program is made of it as it stands");
  }
  if (!s.recomputed_layers.empty() && s.recompute == Recompute::none) {
    ir::reject(ir::ErrorClass::value, "recompute-layers",
               "layers to recompute are listed, but recomputation is none; full or selective is");
  }
}

// Streams bring microbatches in ascending order, to every stage.
void check_loads(const schedule::Table& table) {
  for (const auto& row : table.ranks) {
    std::vector<std::int32_t> next(static_cast<std::size_t>(table.stages()), 0);
    for (const schedule::Cell& c : row) {
      if (c.action != schedule::Action::forward || c.microbatch == next[static_cast<std::size_t>(c.stage)]++) continue;
      ir::reject(ir::ErrorClass::value, "schedule", "stage {} runs microbatch {} out of order, but loads it from a stream", c.stage,
                 c.microbatch);
    }
  }
}

bool splits_backward(const schedule::Table& table) {
  for (const auto& row : table.ranks) {
    for (const schedule::Cell& c : row) {
      if (c.action == schedule::Action::weight_gradient) return true;
    }
  }
  return false;
}

std::vector<RunsWhole> whole_ops(const ir::Module& m, const Layout& layout) {
  std::map<std::array<std::string_view, 3>, std::uint32_t> counts;
  for (const WholeOp& w : layout.whole) ++counts[{m.row(w.op).name, name_of(w.axis), w.reason}];
  std::vector<RunsWhole> all;
  for (const auto& [key, n] : counts) all.push_back({std::string(key[0]), std::string(key[1]), std::string(key[2]), n});
  return all;
}

}  // namespace

void reject_distributed(const ir::Module& m) {
  const ir::Graph& main = m.graph(m.main_graph());
  ir::Device first;
  const auto check = [&](ir::ValueId v) {
    const ir::Type& t = m.type_of(v);
    if (!t.is_tensor()) ir::reject(ir::ErrorClass::value, "devices", "'{}' is a tuple: the program is distributed already", m.name_of(v));
    const ir::Device d = t.place.device;
    if (!d.known() || d == first) return;
    if (first.known()) {
      ir::reject(ir::ErrorClass::value, "devices", "'{}' lies on device {}, other values on device {}: the program is distributed already",
                 m.name_of(v), d.value, first.value);
    }
    first = d;
  };
  for (ir::ValueId v : main.inputs) check(v);
  for (ir::OpId o : main.ops) {
    for (ir::ValueId v : m.results(o)) check(v);
  }
}

std::vector<std::string> to_lines(const std::vector<RunsWhole>& whole) {
  std::vector<std::string> lines;
  for (const RunsWhole& w : whole)
    lines.push_back(fmt::format("{} {} on whole operands over the {} axis: {}", w.count, w.op, w.axis, w.reason));
  return lines;
}

schedule::Table table_of(const Strategy& s) {
  schedule::Table t =
      s.table ? schedule::without_idle(*s.table) : schedule::generate(s.schedule, {s.pipeline, s.microbatches, s.stages_per_rank});
  if (static_cast<std::int32_t>(t.ranks.size()) != s.pipeline || t.microbatches() != s.microbatches) {
    ir::reject(ir::ErrorClass::value, "schedule", "the schedule is for {} ranks and {} microbatches, the strategy has {} and {}",
               t.ranks.size(), t.microbatches(), s.pipeline, s.microbatches);
  }
  if (const auto broken = schedule::first_broken_rule(t))
    ir::reject(ir::ErrorClass::value, "schedule", "{}: {}", broken->rule, broken->message);
  return t;
}

namespace {

Distributed write_out(const Program& program, const Strategy& strategy, const Excerpt& excerpt) {
  const std::int32_t made = std::min(excerpt.microbatches, strategy.microbatches);
  if (program.module.replicas() != 1) ir::reject(ir::ErrorClass::value, "replicas", "a program with replicas is not distributed further");
  check_numbers(strategy);
  reject_distributed(program.module);
  Strategy some = strategy;
  some.microbatches = made;
  const schedule::Table table = table_of(some);
  const Layout own = excerpt.layout ? Layout() : lay_out(program, strategy);
  const Layout& layout = excerpt.layout ? *excerpt.layout : own;
  const Stages stages = assign_stages(program, strategy, layout, table.stages());
  Mesh mesh = mesh_of(strategy, layout, table);
  mesh.first_alone = excerpt.first_rank;
  ir::Module out;
  copy_tables(program.module, out, false);
  const Recipe recipe = make_recipe(program, strategy, layout, stages, mesh, splits_backward(table), out);
  if (!recipe.loads.empty()) check_loads(table);
  Mesh written = mesh;
  written.sizes[kTime] = made;
  Distributed d = instantiate(program, recipe, written, table, std::move(out), {.copy_first = strategy.join_outputs});
  d.whole = whole_ops(program.module, layout);
  return d;
}

}  // namespace

Distributed parallelise_some(const Program& program, const Strategy& strategy, const Excerpt& excerpt) {
  return write_out(program, strategy, excerpt);
}

Distributed parallelise(const Program& program, const Strategy& strategy) {
  Distributed d = write_out(program, strategy, {.microbatches = strategy.microbatches});
  if (strategy.verify) {
    ir::check(d.module);
    const std::vector<ir::Violation> found = ir::verify_distribution(d.module);
    if (!found.empty()) ir::reject(ir::ErrorClass::popart, found[0].rule, "{}", ir::to_string(found));
  }
  return d;
}

std::vector<ir::HostValue> cut_inputs(const Distributed& d, const std::vector<ir::HostTensor>& whole_tensors) {
  const ir::Graph& main = d.module.graph(d.module.main_graph());
  std::vector<ir::HostValue> parts(main.inputs.size());
  for (const Piece& p : d.inputs) {
    parts[p.part].tensor = part_of(whole_tensors[p.whole], p.start, d.module.type_of(main.inputs[p.part]).shape);
  }
  return parts;
}

ir::HostTensor join(const std::vector<Piece>& pieces, std::uint32_t whole, const ir::Type& type, const std::vector<ir::HostValue>& parts,
                    std::size_t first_part) {
  ir::HostTensor out(type.dtype, type.shape);
  for (const Piece& p : pieces) {
    if (p.whole == whole) put_part(out, parts[first_part + p.part].tensor, p.start);
  }
  return out;
}

}  // namespace pando::transform
