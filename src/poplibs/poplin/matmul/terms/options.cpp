#include "poplibs/poplin/matmul/terms/options.h"
#include "poplibs/poputil/reject.h"

#include <poplar/exceptions.hpp>

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <functional>
#include <map>
#include <string>

namespace poplin::internal::matmul {
namespace {

using Values = std::vector<std::string>;

[[noreturn]] void reject(const std::string& key, const std::string& value, const std::string& expected) {
  poputil::reject_option("option-value", "{}", "Invalid value '" + value + "' for option '" + key + "': expected " + expected);
}

// The position of `value` among `values`.
std::size_t one_of(const std::string& key, const std::string& value, const Values& values) {
  std::string list;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == value) return i;
    list += (i == 0 ? "" : ", ") + values[i];
  }
  reject(key, value, "one of " + list);
}

double number(const std::string& key, const std::string& value, double low, double high) {
  char* end = nullptr;
  const double out = std::strtod(value.c_str(), &end);
  if (value.empty() || *end != 0 || !(out >= low && out <= high))
    reject(key, value, "a number from " + std::to_string(low) + " to " + std::to_string(high));
  return out;
}

using Handler = std::function<void(Options&, const std::string& key, const std::string& value)>;

Handler any_of(const Values& values) {
  return [values](Options&, const std::string& key, const std::string& value) { one_of(key, value, values); };
}

void check_json(Options&, const std::string& key, const std::string& value) {
  if (!value.empty() && !nlohmann::json::accept(value)) reject(key, value, "JSON");
}

const std::map<std::string, Handler>& handlers() {
  static const Values truth = {"false", "true"};
  static const std::map<std::string, Handler> table = {
      {"availableMemoryProportion",
       [](Options& o, const std::string& key, const std::string& value) { o.memory_proportion = number(key, value, 0, 1); }},
      {"partialsType",
       [](Options& o, const std::string& key, const std::string& value) {
         o.partials = one_of(key, value, {"float", "half"}) == 0 ? poplar::FLOAT : poplar::HALF;
       }},
      {"pando.firstTile", [](Options& o, const std::string& key,
                             const std::string& value) { o.first_tile = static_cast<unsigned>(number(key, value, 0, 0x7fffffff)); }},
      {"pando.planObjective",
       [](Options& o, const std::string& key, const std::string& value) {
         o.objective = one_of(key, value, {"cycles", "hostTime"}) == 0 ? plan::Objective::cycles : plan::Objective::host_time;
       }},
      {"pando.layout",
       [](Options& o, const std::string& key, const std::string& value) { o.blocked = one_of(key, value, {"grid", "blocks"}) == 1; }},
      {"pando.rowsApart",
       [](Options& o, const std::string& key, const std::string& value) { o.rows_apart = one_of(key, value, {"false", "true"}) == 1; }},
      {"pando.turnsOperands",
       [](Options& o, const std::string& key, const std::string& value) { o.turns_operands = one_of(key, value, {"false", "true"}) == 1; }},
      {"fullyConnectedPass",
       [](Options& o, const std::string& key, const std::string& value) {
         o.is_update = one_of(key, value, {"NONE", "INFERENCE_FWD", "TRAINING_FWD", "TRAINING_BWD", "TRAINING_WU"}) == 4;
       }},
      {"inputRHSIsPreArranged", any_of(truth)},
      {"use128BitConvUnitLoad", any_of(truth)},
      {"enableMultiStageReduce", any_of(truth)},
      {"enableFastReduce", any_of(truth)},
      {"enableConvDithering", any_of(truth)},
      {"gatherConvOutput", any_of(truth)},
      {"remapOutputTensor", any_of(truth)},
      {"disableSRForAMPVertices", any_of(truth)},
      {"partialsType.interTile", any_of({"float", "half"})},
      {"partialsType.interIPU", any_of({"float", "half"})},
      {"planConstraints", check_json},
      {"planConstraintsOutputFilename", [](Options&, const std::string&, const std::string&) {}},
  };
  return table;
}

}  // namespace

Options parse_options(const poplar::OptionFlags& flags) {
  Options options;
  for (const auto& [key, value] : flags) {
    const auto found = handlers().find(key);
    if (found == handlers().end()) {
      std::string valid;
      for (const auto& [name, handler] : handlers()) valid += (valid.empty() ? "" : ", ") + name;
      poputil::reject_option("no-such-option", "{}", "Unrecognised option '" + key + "': matrix products take " + valid);
    }
    found->second(options, key, value);
  }
  return options;
}

}  // namespace poplin::internal::matmul
