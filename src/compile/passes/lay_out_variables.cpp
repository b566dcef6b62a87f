// Where each element lies within its tile's share of the variable. Intervals are packed in element order; one that could be a
// vector operand starts on an 8-byte boundary.
#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"
#include "compile/plan.h"

namespace pando::compile {

tile::NameId Plan::name(const std::string& text, std::uint32_t line) {
  const std::string key = line == 0 ? text : text + '\0' + std::to_string(line);
  const auto [it, added] = name_ids.try_emplace(key, tile::NameId(static_cast<std::uint32_t>(out->names.size())));
  if (!added) return it->second;
  out->names.push_back(text);
  if (line > 0) {
    name_lines.resize(out->names.size());
    name_lines.back() = line;
  }
  return it->second;
}

tile::NameId Plan::name(const std::string& text, const std::vector<std::uint32_t>& lines) {
  if (lines.size() < 2) return name(text, lines.empty() ? 0 : lines[0]);
  const auto [it, added] = name_ids.try_emplace(fmt::format("{}{}{}", text, '\0', fmt::join(lines, ",")),
                                                tile::NameId(static_cast<std::uint32_t>(out->names.size())));
  if (!added) return it->second;
  out->names.push_back(text);
  name_lines.resize(out->names.size());
  name_lines.back() = lines[0];
  other_lines.emplace(it->second, std::vector<std::uint32_t>(lines.begin() + 1, lines.end()));
  return it->second;
}

ShardId Plan::add_temporary(TileId tile, std::uint64_t bytes, tile::Category category, const std::string& text) {
  return add_temporary(tile, bytes, category, name(text));
}

ShardId Plan::add_temporary(TileId tile, std::uint64_t bytes, tile::Category category, tile::NameId name) {
  return shards.push(Shard{.tile = tile, .name = name, .category = category, .bytes = bytes});
}

const ShardInterval& locate(const Plan& plan, VariableId variable, std::uint64_t element) {
  const std::vector<ShardInterval>& list = plan.layout[variable];
  const auto after =
      std::upper_bound(list.begin(), list.end(), element, [](std::uint64_t e, const ShardInterval& i) { return e < i.elements.begin; });
  PANDO_CHECK(after != list.begin());
  const ShardInterval& found = *std::prev(after);
  PANDO_CHECK(element < found.elements.end);
  return found;
}

namespace {

// Variables that the host can write or read between runs, as a whole.
std::vector<bool> hosted_variables(const graph::Graph& graph) {
  std::vector<bool> hosted(graph.variables().size(), false);
  for (const bool writable : {true, false})  // what is written has no element twice
    for (const graph::HostHandle& h : graph.host_handles()) {
      if (h.writable != writable) continue;
      const std::vector<VariableId> all = h.tensor.variables();
      if (all.size() != 1 || hosted[all[0].index()] || h.tensor.num_elements() != graph.variables()[all[0]].elements) continue;
      hosted[all[0].index()] = writable || !h.tensor.contains_aliases();
    }
  return hosted;
}

}  // namespace

void lay_out_variables(Plan& plan) {
  const auto& variables = plan.graph.variables();
  const std::vector<bool> hosted = hosted_variables(plan.graph);
  plan.layout = DenseMap<VariableId, std::vector<ShardInterval>>(variables.size());
  // The shard of the variable at hand on each tile; stamped, so that it need not be cleared per variable.
  std::vector<ShardId> shard_on(plan.graph.machine().tiles());
  std::vector<std::uint32_t> stamp(plan.graph.machine().tiles(), ~0u);
  std::size_t intervals = 0;
  for (const graph::Variable& v : variables) intervals += v.mapping.intervals().size();
  plan.shards.raw().reserve(intervals);  // of temporaries there are fewer
  for (std::uint32_t v = 0; v < variables.size(); ++v) {
    const graph::Variable& variable = variables[VariableId(v)];
    const std::uint64_t width = size_of(variable.type);
    const tile::NameId name =
        plan.name(variable.name.empty() ? "v" + std::to_string(v) : variable.name, line_of(plan.options.variable_lines, v));
    const bool always_live = variable.constant || variable.replica_index || !variable.initial.empty() || hosted[v];
    std::vector<ShardInterval>& list = plan.layout[VariableId(v)];
    list.reserve(variable.mapping.intervals().size());
    for (const graph::MappedInterval& i : variable.mapping.intervals()) {
      const std::size_t t = i.tile.index();
      if (stamp[t] != v) {
        stamp[t] = v;
        shard_on[t] = plan.shards.push(Shard{.tile = i.tile,
                                             .name = name,
                                             .category = variable.constant ? tile::Category::constant : tile::Category::variable,
                                             .always_live = always_live});
      }
      Shard& shard = plan.shards[shard_on[t]];
      const std::uint64_t bytes = i.elements.size() * width;
      if (bytes >= 8) shard.bytes = (shard.bytes + 7) / 8 * 8;
      list.push_back({i.elements, shard_on[t], shard.bytes});
      shard.bytes += bytes;
    }
  }
}

}  // namespace pando::compile
