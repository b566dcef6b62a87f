#include "poplibs/poplin/conv/terms/options.h"
#include "poplibs/poputil/reject.h"

#include <poplar/exceptions.hpp>
#include <poputil/OptionParsing.hpp>

#include <nlohmann/json.hpp>

#include <set>
#include <string>

#include "base/json_depth.h"

namespace poplin::conv {
namespace {

using pando::planning::Objective;
using poplar::StringRef;
using Json = nlohmann::json;

enum class Pass {
  none,
  inference_fwd,
  training_fwd,
  training_bwd,
  training_wu,
  fc_inference_fwd,
  fc_training_fwd,
  fc_training_bwd,
  fc_training_wu
};

const std::map<std::string, Pass>& passes() {
  static const std::map<std::string, Pass> names = {{"NONE", Pass::none},
                                                    {"INFERENCE_FWD", Pass::inference_fwd},
                                                    {"TRAINING_FWD", Pass::training_fwd},
                                                    {"TRAINING_BWD", Pass::training_bwd},
                                                    {"TRAINING_WU", Pass::training_wu},
                                                    {"FC_INFERENCE_FWD", Pass::fc_inference_fwd},
                                                    {"FC_TRAINING_FWD", Pass::fc_training_fwd},
                                                    {"FC_TRAINING_BWD", Pass::fc_training_bwd},
                                                    {"FC_TRAINING_WU", Pass::fc_training_wu}};
  return names;
}

// What only the original's planner knows: the vertices of a method, and what it does on each level. It means nothing to this one.
bool is_of_the_original(const std::string& key, const Json& value) {
  if (key.size() == 1 && key[0] >= '0' && key[0] <= '9') return value.is_object();
  static const std::set<std::string> numbers = {"convGroupsPerGroup", "inChansPerGroup", "partialChansPerGroup", "numAmpConvUnits",
                                                "useLimitedVersion"};
  return (key == "method" && value.is_string()) || numbers.count(key) != 0;
}

PlanConstraints constraints_of(const std::string& text) {
  PlanConstraints c;
  if (text.empty()) return c;
  try {
    if (pando::json_nests_too_deep(text)) poputil::reject_option("constraints-depth", "planConstraints: JSON that nests too deep");
    const Json j = Json::parse(text);
    for (const auto& [key, value] : j.items())
      if (key != "partition" && !is_of_the_original(key, value))
        poputil::reject_option("no-such-constraint", "{}",
                               "Unrecognised plan constraint '" + key +
                                   "'; valid: 'partition'; without effect: 'method', 'numAmpConvUnits', 'useLimitedVersion', "
                                   "'convGroupsPerGroup', 'inChansPerGroup', 'partialChansPerGroup', '0'");
    if (!j.contains("partition")) return c;
    for (const auto& [key, value] : j.at("partition").items()) {
      if (key == "groups")
        c.groups = value;
      else if (key == "batch")
        c.batch = value;
      else if (key == "outChans")
        c.out_channels = value;
      else if (key == "inChans")
        c.in_channels = value;
      else if (key == "serial")
        c.serial = value;
      else if (key == "field")
        c.field = value.get<std::vector<unsigned>>();
      else
        poputil::reject_option(
            "no-such-part", "{}",
            "Unrecognised part '" + key + "' of a partition; valid: 'groups', 'batch', 'outChans', 'inChans', 'serial', 'field'");
    }
  } catch (const Json::exception& e) { poputil::reject_option("constraints", "{}", std::string("planConstraints: ") + e.what()); }
  return c;
}

}  // namespace

Options parse_options(const poplar::OptionFlags& flags) {
  using poplibs::OptionHandler;
  Options o;
  bool truth;
  int whole;
  double share;
  std::string text;
  Pass pass;
  bool half;
  const std::map<std::string, bool> halves = {{"float", false}, {"half", true}};
  const std::map<std::string, Objective> objectives = {{"cycles", Objective::cycles}, {"hostTime", Objective::host_time}};
  const OptionHandler flag = OptionHandler::createWithBool(truth);
  const poplibs::OptionSpec spec{
      {"availableMemoryProportion", OptionHandler::createWithDouble(o.memory_proportion, 0.0)},
      {"partialsType", OptionHandler::createWithEnum(o.half_partials, halves)},
      {"partialsType.interTile", OptionHandler::createWithEnum(half, halves)},
      {"partialsType.interIPU", OptionHandler::createWithEnum(half, halves)},
      {"pass", OptionHandler::createWithEnum(pass, passes())},
      {"pando.inRows", OptionHandler::createWithBool(o.in_rows)},
      {"pando.winograd", OptionHandler::createWithBool(o.winograd)},
      {"pando.planObjective", [&](StringRef v) { o.objective = poplibs::parse::asEnum<Objective>(v, objectives); }},
      {"planConstraints", [&](StringRef v) { o.constraints = constraints_of(v.cloneAsString()); }},
      {"planConstraintsOutputFilename", OptionHandler::createWithString(text)},
      {"maxOutputMemoryProportion", OptionHandler::createWithDouble(share, 0.0)},
      {"startTileMultiplier", OptionHandler::createWithInteger(whole)},
      {"numIOTiles", OptionHandler::createWithInteger(whole)},
      {"tilesPerIPU", OptionHandler::createWithInteger(whole)},
      {"use128BitConvUnitLoad", flag},
      {"enableMultiStageReduce", flag},
      {"enableFastReduce", flag},
      {"enableSingleInputReduce", flag},
      {"remapOutputTensor", flag},
      {"enableConvDithering", flag},
      {"disableTransformations", flag},
      {"gatherConvOutput", flag},
      {"insertTransformsCycleCountProgs", flag},
      {"enableAmpHalfEnginesPlan", flag},
      {"disableSRForAMPVertices", flag},
  };
  spec.parse(flags);
  return o;
}

void check_multi_options(const poplar::OptionFlags& flags) {
  using poplibs::OptionHandler;
  int plan_type, tiles;
  double cycle_back_off;
  const poplibs::OptionSpec spec{
      {"planType", OptionHandler::createWithEnum(plan_type, std::map<std::string, int>{{"parallel", 0}, {"serial", 1}})},
      {"perConvReservedTiles", OptionHandler::createWithInteger(tiles)},
      {"cycleBackOff", OptionHandler::createWithDouble(cycle_back_off, 0.0)},
  };
  spec.parse(flags);
}

}  // namespace poplin::conv
