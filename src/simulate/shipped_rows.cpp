#include "simulate/shipped_rows.h"

#include "simulate/cluster_json.h"
#include "simulate/measured_files.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <string>

namespace pando::simulate {

namespace {

// What does not depend on memory is that of every device with this processor.
Measured of_the_processor(const Measured& all) {
  Measured some;
  some.device = all.device, some.launch = all.launch, some.dispatch_seconds = all.dispatch_seconds, some.sustained = all.sustained;
  some.shapes = all.shapes;
  return some;
}

Measured slowed(Measured rows, double by) {
  for (auto& p : rows.shapes.products) p.efficiency *= by;
  for (auto& g : rows.shapes.grouped) g.efficiency *= by;
  for (auto& a : rows.shapes.attentions) a.efficiency *= by;
  return rows;
}

}  // namespace

const Measured* shipped_rows(std::string_view machine) {
  using Rows = std::map<std::string, Measured, std::less<>>;
  // Read when they are asked for: each is some 10^3 rows.
  static std::mutex once;
  static Rows all;
  const std::lock_guard lock(once);
  if (const auto known = all.find(machine); known != all.end()) return &known->second;
  for (const MeasuredFile& f : measured_files()) {
    if (f.machine == machine)
      return &all.emplace(f.machine, cluster_from_json(f.text, fmt::format("{}.json", f.machine)).measured).first->second;
    if (machine == "h100-500w" && f.machine == "h100") {
      const Measured h100 = cluster_from_json(f.text, "h100.json").measured;
      return &all.emplace(machine, slowed(of_the_processor(h100), kShareAt500Watts)).first->second;
    }
  }
  return nullptr;
}

}  // namespace pando::simulate
