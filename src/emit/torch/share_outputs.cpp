#include "emit/torch/assemble.h"
#include "emit/torch/device_lister.h"

#include <map>
#include <utility>

namespace pando::emit {

using namespace ir;

namespace {

// Where a device has a value: a step and which of its results; or, of an input, its number behind all steps.
using Where = std::pair<std::size_t, std::size_t>;

std::map<Where, DeviceSteps::Output> by_place(const Placed& p, const DeviceSteps& d) {
  std::map<std::uint32_t, Where> places;
  for (std::size_t i = 0; i < d.inputs.size(); ++i)
    places[p.module.graph(p.module.main_graph()).inputs[d.inputs[i]].value] = {d.steps.size(), i};
  for (std::size_t s = 0; s < d.steps.size(); ++s) {
    for (std::size_t r = 0; r < d.steps[s].writes.size(); ++r) places[d.steps[s].writes[r].value] = {s, r};
  }
  std::map<Where, DeviceSteps::Output> out;
  for (const DeviceSteps::Output& o : d.outputs) out.try_emplace(places.at(o.value.value), o);
  return out;
}

ValueId value_at(const Placed& p, const DeviceSteps& d, const Where& where) {
  if (where.first == d.steps.size()) return p.module.graph(p.module.main_graph()).inputs[d.inputs[where.second]];
  return d.steps[where.first].writes[where.second];
}

}  // namespace

void share_outputs(Placed& p, KeyTables& tables) {
  // Outputs count for nothing here.
  std::map<std::string, std::vector<std::int32_t>> alike;
  std::map<std::int32_t, std::map<Where, DeviceSteps::Output>> outputs;
  for (auto& [device, d] : p.devices) {
    outputs[device] = by_place(p, d);
    // Two names of one value stay two outputs.
    if (outputs[device].size() != d.outputs.size()) continue;
    alike[program_key(p.module.types(), list_device(p, device, false, tables))].push_back(device);
  }
  for (const auto& [key, devices] : alike) {
    std::map<Where, DeviceSteps::Output> all;
    for (const std::int32_t device : devices) {
      for (const auto& [where, o] : outputs[device]) all.try_emplace(where, o);
    }
    for (const std::int32_t device : devices) {
      DeviceSteps& d = p.devices[device];
      d.outputs.clear();
      for (const auto& [where, first] : all) {
        const auto own = outputs[device].find(where);
        d.outputs.push_back({own == outputs[device].end() ? "" : own->second.name, first.local, value_at(p, d, where)});
      }
    }
  }
}

}  // namespace pando::emit
