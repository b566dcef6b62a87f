#include "simulate/shipped_rows.h"

#include "simulate/cluster_json.h"
#include "simulate/measured_files.h"

#include <map>
#include <string>

namespace pando::simulate {

namespace {

// The H200 has the H100's processor: what does not depend on memory is its, too.
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
  if (machine != "h100" && machine != "h100-500w" && machine != "h200") return nullptr;
  static const std::map<std::string, Measured, std::less<>> all = [] {
    const Measured h100 = cluster_from_json(kMeasuredH100, "h100.json").measured;
    return std::map<std::string, Measured, std::less<>>{
        {"h100", h100}, {"h200", of_the_processor(h100)}, {"h100-500w", slowed(of_the_processor(h100), kShareAt500Watts)}};
  }();
  return &all.find(machine)->second;
}

}  // namespace pando::simulate
