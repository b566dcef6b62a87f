// Galvatron's hardware_configs/*.json: bandwidths of all-reduces and of sends, times by size, the slowdown beside transfers.
#include "simulate/tables/table_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <regex>

namespace pando::simulate {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kAllreduce = "allreduce_size_([0-9]+)_consec_([01])";
constexpr const char* kPipeline = "pp_size_([0-9]+)";
constexpr const char* kTime = "(allreduce|all2all)_size_([0-9]+)_([0-9]+)MB_time";

bool is_galvatron(const TableFile& file) {
  const Json j = object_of(file);
  if (!j.is_object() || j.empty()) return false;
  const std::regex keys(fmt::format("{}|{}|{}|overlap_coe", kAllreduce, kPipeline, kTime));
  return std::ranges::all_of(j.items(), [&](const auto& item) { return std::regex_match(item.key(), keys); });
}

struct NodesOfTable {
  std::int64_t nodes = 1, devices = 0;
};
// "..._2nodes_8gpus_per_node.json"
NodesOfTable nodes_of(const TableFile& file) {
  const std::string name = std::filesystem::path(file.path).filename().string();
  std::smatch m;
  if (!std::regex_search(name, m, std::regex("([0-9]+)nodes_([0-9]+)gpus_per_node")))
    reject_table(file, "its name does not end in ..._NODESnodes_DEVICESgpus_per_node.json, as Galvatron writes it");
  return {std::stoll(m[1]), std::stoll(m[2])};
}

double positive(const TableFile& file, const std::string& name, const Json& v) {
  if (!v.is_number() || !(v.get<double>() > 0)) reject_table(file, fmt::format("'{}' is {}; a number over 0 is expected", name, v.dump()));
  return v.get<double>();
}

void read_galvatron(const TableFile& file, TableRows& rows) {
  const Json j = object_of(file);
  if (rows.machine.levels.empty()) reject_table(file, "the machine of --like has no network");
  double inside = 0, across = 0;
  std::smatch m;
  for (const auto& [name, value] : j.items()) {
    const double v = positive(file, name, value);
    if (name == "overlap_coe") {
      std::vector<NetworkLevel> levels = rows.machine.levels;
      for (NetworkLevel& l : levels) l.slowdown = std::clamp(v - 1, 0.0, 1.0);
      rows.set("levels", rows.machine.levels, levels);
    } else if (std::regex_match(name, m, std::regex(kAllreduce))) {
      const NodesOfTable n = nodes_of(file);
      // Neighbours of one node; all of several nodes.
      const std::int64_t size = std::stoll(m[1]);
      if (m[2] == "1" && size <= n.devices) inside = std::max(inside, 1e9 * v);
      if (n.nodes > 1 && size == n.nodes * n.devices) across = 1e9 * v;
    } else if (std::regex_match(name, m, std::regex(kPipeline))) {
      rows.notes.push_back(fmt::format("{}: sends take the bandwidth of their level", name));
    } else if (std::regex_match(name, m, std::regex(kTime))) {
      const NodesOfTable n = nodes_of(file);
      const std::int64_t size = std::stoll(m[2]);
      // Milliseconds.
      rows.row("collectives", {{"collective", m[1] == "allreduce" ? "all_reduce" : "all_to_all"},
                               {"bytes", std::stod(m[3]) * (1 << 20)},
                               {"devices", size},
                               {"nodes", size > n.devices ? size / n.devices : 1},
                               {"beside", 1},
                               {"seconds", 1e-3 * v}});
    }
  }
  // Whatever the size.
  if (inside > 0) rows.set_level(0, inside);
  if (across == 0 || rows.machine.levels.size() < 2) return;
  // A ring over all devices goes out of a node once: its bandwidth is what a node has.
  rows.set_level(1, std::min(across, rows.machine.levels[1].bytes_per_second))->shared_bytes_per_second = across;
}

}  // namespace

TableFormat format_galvatron() { return {"galvatron", "a file of its hardware_configs", is_galvatron, read_galvatron}; }

}  // namespace pando::simulate
