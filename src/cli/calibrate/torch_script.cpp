#include "cli/calibrate/torch_script.h"

#include <nlohmann/json.hpp>

#include <string_view>

#include "base/check.h"
#include "cli/calibrate/gpu_scripts.h"
#include "cli/shared/transformer.h"
#include "simulate/cluster_json.h"

namespace pando::cli {

namespace {

const std::vector<std::string> kModels{"llama3-8b", "llama3-70b", "gpt3-13b", "mixtral-8x7b", "deepseek-v2"};

nlohmann::ordered_json sizes_of(const search::Transformer& t) {
  return {{"name", t.name},
          {"hidden", t.hidden},
          {"heads", t.heads},
          {"kv_heads", t.keys()},
          {"head_size", t.size_of_head()},
          {"ffn", t.ffn},
          {"gated", t.gated},
          {"vocab", t.vocab},
          {"query_rank", t.query_rank},
          {"kv_rank", t.kv_rank},
          {"position_size", t.position_size},
          {"value_size", t.value_size},
          {"experts", t.experts},
          {"experts_each", t.experts_each},
          {"expert_ffn", t.expert_ffn},
          {"shared_experts", t.shared_experts}};
}

void put(std::string& script, std::string_view hole, const std::string& text) {
  const std::size_t at = script.find(hole);
  PANDO_CHECK(at != std::string::npos && script.find(hole, at + 1) == std::string::npos);
  script.replace(at, hole.size(), text);
}

}  // namespace

std::string torch_script(const std::string& like, const std::vector<std::string>& models) {
  nlohmann::ordered_json sizes = nlohmann::ordered_json::array();
  for (const std::string& name : models.empty() ? kModels : models) sizes.push_back(sizes_of(transformer_of(name)));
  nlohmann::ordered_json machine;
  if (!like.empty()) {
    machine = nlohmann::ordered_json::parse(simulate::to_json(simulate::cluster_of(like)));
    // The rows of another machine are its own.
    machine.erase("measured");
  }
  std::string script(kCalibrateGpu);
  put(script, "@models@", sizes.dump(-1, ' ', true));
  put(script, "@like@", machine.dump(-1, ' ', true));
  return script;
}

}  // namespace pando::cli
