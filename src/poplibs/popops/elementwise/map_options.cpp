#include "map_options.h"
#include "poplibs/poputil/reject.h"

#include <poplar/exceptions.hpp>

namespace popops::internal {

MapOptions parse_options(const poplar::OptionFlags& flags) {
  MapOptions o;
  for (const auto& [key, value] : flags) {
    bool* const to = key == "enableGenerateCodelet" || key == "enableFusedCodelets"                               ? &o.generate_codelet
                     : key == "forceGenerateCodelet"                                                              ? &o.force_codelet
                     : key == "enableVectorBroadcastOptimisations" || key == "enableVectorBroadcastOptimizations" ? &o.read_broadcast
                     : key == "enableExpressionOptimisations" || key == "enableExpressionOptimizations" || key == "optimiseExpressions"
                         ? &o.optimise
                         : nullptr;
    if (to == nullptr)
      poputil::reject_option("no-such-option", "{}",
                             "Unrecognised option '" + key +
                                 "': the options of element-wise operations are enableGenerateCodelet, forceGenerateCodelet, "
                                 "enableVectorBroadcastOptimisations, enableExpressionOptimisations");
    if (value != "true" && value != "false")
      poputil::reject_option("option-value", "{}", "Option '" + key + "' is 'true' or 'false', not '" + value + "'");
    *to = value == "true";
  }
  return o;
}

}  // namespace popops::internal
