#include "search/programs/program_space.h"

#include "base/error.h"
#include "ir/op_row.h"
#include "schedule/synthesised.h"
#include "search/axis.h"
#include "search/walk.h"
#include "transform/distribute/layout/layout.h"
#include "transform/distribute/layout/ways_to_cut.h"
#include "transform/distribute/stages/stages.h"

#include <algorithm>
#include <numeric>

namespace pando::search {

namespace {

using transform::Phase;
using transform::Program;

// --- facts ------------------------------------------------------------------------------------------------------------------------------

std::int64_t samples_of(const Program& p) {
  const ir::Module& m = p.module;
  std::int64_t n = 0;
  const auto count = [&](const ir::Shape& shape, std::int32_t dim) {
    if (dim >= 0 && static_cast<std::size_t>(dim) < shape.size()) n = std::gcd(n, shape[static_cast<std::size_t>(dim)]);
  };
  const auto& inputs = m.graph(m.main_graph()).inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) count(m.type_of(inputs[i]).shape, Program::dim_of(p.batch_dim, i));
  for (std::size_t s = 0; s < m.stream_count(); ++s) {
    count(m.stream(ir::HostStreamId(static_cast<std::uint32_t>(s))).shape, Program::dim_of(p.stream_batch_dim, s));
  }
  return n;
}

bool any(const std::vector<std::int32_t>& dims) {
  return std::any_of(dims.begin(), dims.end(), [](std::int32_t d) { return d >= 0; });
}

// A product of two values that both depend on samples.
bool has_attention(const Program& p, const transform::Layout& layout) {
  const ir::Module& m = p.module;
  const auto depends = [&](ir::ValueId v) {
    return m.value(v).producer.valid() && layout.when[m.value(v).producer.index()] == transform::When::each;
  };
  for (ir::OpId o : m.graph(m.main_graph()).ops) {
    if (m.row(o).product == ir::Product::matrices && p.phase_of(o) == Phase::forward && depends(m.operand(o, 0)) &&
        depends(m.operand(o, 1)))
      return true;
  }
  return false;
}

std::vector<double> layer_seconds(const Program& p, const transform::Layout& layout, const simulate::CostModel& costs, std::size_t layers) {
  std::vector<double> all(layers, 0);
  for (ir::OpId o : p.module.graph(p.module.main_graph()).ops) {
    if (layout.when[o.index()] != transform::When::each || p.phase_of(o) != Phase::forward || p.layer_of(o) >= layers) continue;
    all[p.layer_of(o)] += costs.least_seconds(p.module, o, 1);
  }
  return all;
}

// --- points -----------------------------------------------------------------------------------------------------------------------------

// An axis of a walk (walk.h).
struct RowOfWalk {
  using Value = Strategy;
  const Axis* row;
  const SpaceFacts* facts;
  // With the value that a user demands; null: none.
  const Strategy* demanded;

  const Strategy& get(const Strategy& s) const { return s; }
  void set(Strategy& s, const Strategy& value) const { s = value; }
  void values(const Strategy& s, std::vector<Strategy>& to) const { add_choices(*row, *facts, s, demanded, to); }
};

Walk<RowOfWalk> walk_of(const SpaceFacts& facts, const Demand& demand, bool inside) {
  std::vector<RowOfWalk> rows;
  for (const Axis* row : axes_of_text(Spelling::whole)) {
    if (row->program.nesting > 0 && row->program.inside_group == inside) rows.push_back({row, &facts, demand.of(row->word)});
  }
  std::ranges::sort(rows, {}, [](const RowOfWalk& r) { return r.row->program.nesting; });
  return Walk<RowOfWalk>(std::move(rows));
}

}  // namespace

SpaceFacts facts_of(const Program& program, const simulate::CostModel& costs, const simulate::Cluster& cluster, const Space& space) {
  SpaceFacts f{.space = space};
  f.has_levels = cluster.level_of(space.first_device, space.first_device + space.devices - 1) > 0;
  f.samples = samples_of(program);
  f.has_sequence = any(program.sequence_dim);
  f.has_experts = any(program.expert_dim);
  for (ir::OpId o : program.module.graph(program.module.main_graph()).ops) {
    f.has_backward |= program.phase_of(o) == Phase::backward;
    f.has_updates |= program.phase_of(o) == Phase::update;
  }
  const transform::Layout layout = transform::lay_out(program, {});
  f.has_attention = has_attention(program, layout);
  f.layer_operations = transform::layer_operations(program, layout);
  f.layer_seconds = layer_seconds(program, layout, costs, f.layer_operations.size());
  const Demand demand(space.require, Spelling::whole);
  if (space.cuts == 0 || demand.of("cut") != nullptr) return f;
  std::vector<Strategy> degrees;
  add_choices(*axes_named("tensor", Spelling::whole)[0], f, {}, demand.of("tensor"), degrees);
  for (const Strategy& s : degrees) {
    if (s.tensor > 1) f.cuts[s.tensor] = transform::ways_to_cut(program, s.tensor, space.cuts);
  }
  return f;
}

std::vector<ProgramGroup> program_groups(const SpaceFacts& facts) {
  const Space& space = facts.space;
  if (space.devices < 1 || space.devices > 1 << 20) {
    fail(ErrorKind::poplar_error, "search-space", "{} devices; 1 to {} are possible", space.devices, 1 << 20);
  }
  const Demand demand(space.require, Spelling::whole);
  auto heads = walk_of(facts, demand, false), rest = walk_of(facts, demand, true);
  std::vector<ProgramGroup> groups;
  Strategy s;
  s.first_device = space.first_device;
  heads.each(s, [&](Strategy& head) {
    ProgramGroup g;
    rest.each(head, [&](const Strategy& point) { g.points.push_back(point); });
    const bool is_to_be_made = head.pipeline > 1 && schedule::is_synthesised(head.schedule) && !schedule::has_costs(head.schedule);
    for (int bits = 0; bits < (is_to_be_made ? 4 : 1); ++bits) {
      g.transfers_cost = bits & 1, g.levelled = bits & 2;
      groups.push_back(g);
    }
  });
  return groups;
}

}  // namespace pando::search
