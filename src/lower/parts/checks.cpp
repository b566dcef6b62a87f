#include "lower/parts/checks.h"

#include "ir/error.h"
#include "lower/row.h"
#include "lower/terms/element_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace pando::lower {

using ir::GraphId;
using ir::OpId;
using ir::ValueId;

void reject_what_has_no_lowering(const ir::Module& module) {
  std::vector<std::string> missing;
  for (std::size_t g = 0; g < module.graph_count(); ++g) {
    for (OpId o : module.graph(GraphId(static_cast<GraphId::rep>(g))).ops) {
      const ir::OpRow& row = module.row(o);
      if (row.constant || find_row(row.name) != nullptr) continue;
      std::string text = std::string(row.name) + " '" + module.name_of(o) + "'";
      if (const std::string at = module.location_text(o); !at.empty()) text += " at " + at;
      missing.push_back(std::move(text));
    }
  }
  if (missing.empty()) return;
  std::string list;
  for (const std::string& m : missing) list += (list.empty() ? "" : ", ") + m;
  ir::reject(ir::ErrorClass::popart, "no-lowering", "tiles cannot compute these ops: {}", list);
}

// At the first op that has to do with one; a variable may have none.
void reject_types(const ir::Module& module) {
  const auto lacks = [&](ValueId v) { return !have_tiles(module.type_of(v).dtype); };
  for (std::size_t g = 0; g < module.graph_count(); ++g) {
    for (OpId o : module.graph(GraphId(static_cast<GraphId::rep>(g))).ops) {
      const auto operands = module.operands(o), results = module.results(o);
      const auto result = std::find_if(results.begin(), results.end(), lacks);
      if (result == results.end() && std::none_of(operands.begin(), operands.end(), lacks)) continue;
      const ValueId v = result != results.end() ? *result : *std::find_if(operands.begin(), operands.end(), lacks);
      std::string types;
      for (ValueId operand : operands) types += (types.empty() ? "" : ", ") + module.types().to_string(module.type_of(operand));
      ir::throw_model_error(
          ir::ErrorClass::popart, "no-such-type-on-tiles",
          fmt::format(
              "{} '{}' ({}): tiles have no element type {}; float32 is the widest of floats, make the data of that type on the host",
              module.row(o).name, module.name_of(v), types, ir::name_of(module.type_of(v).dtype)),
          module.location_text(o));
    }
  }
  for (std::size_t s = 0; s < module.state_count(); ++s) {
    const ir::State& state = module.state(ir::StateId(static_cast<ir::StateId::rep>(s)));
    const ir::Type& type = module.type(state.type);
    if (have_tiles(type.dtype)) continue;
    ir::reject(ir::ErrorClass::popart, "no-such-type-on-tiles",
               "variable '{}' ({}): tiles have no element type {}; float32 is the widest of floats", state.name,
               module.types().to_string(type), ir::name_of(type.dtype));
  }
}

}  // namespace pando::lower
