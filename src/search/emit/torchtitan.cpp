// A recipe for torchtitan (names as in torchtitan 0.3): a Python function that puts the strategy into a Trainer.Config.
#include "search/settings/emit_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace pando::search {

namespace {

std::string schedule_name(const Strategy& s, std::vector<std::string>& notes) {
  switch (schedule_of(s)) {
    case PipelineSchedule::one_f_one_b: return s.stages_per_rank > 1 ? "Interleaved1F1B" : "1F1B";
    case PipelineSchedule::zero_bubble_v: return "ZBVZeroBubble";
    case PipelineSchedule::zero_bubble_h1: return "InterleavedZeroBubble";
    case PipelineSchedule::zero_bubble_h2:
      notes.emplace_back("not said: schedule=ZB-H2; ZB-H1 runs instead, with less memory and longer idling");
      return "InterleavedZeroBubble";
  }
  return "1F1B";
}

// The names of modules of a stage; layers are numbered through.
std::string modules_of(const std::vector<std::int64_t>& stages) {
  std::string text = "[\n";
  std::int64_t layer = 0;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    std::vector<std::string> names;
    if (i == 0) names.emplace_back("\"tok_embeddings\"");
    for (std::int64_t n = 0; n < stages[i]; ++n) names.push_back(fmt::format("\"layers.{}\"", layer++));
    if (i + 1 == stages.size()) names.emplace_back("\"norm\""), names.emplace_back("\"lm_head\"");
    text += fmt::format("        [{}],\n", fmt::join(names, ", "));
  }
  return text + "    ]";
}

std::string write_torchtitan(const StrategyFacts& f, const Strategy& s) {
  std::vector<std::string> notes = unsaid_anywhere(s);
  std::string body;
  const auto set = [&](std::string_view member, const auto& value) { body += fmt::format("    config.{} = {}\n", member, value); };
  const auto parallelism = [&](std::string_view member, const auto& value) { set(fmt::format("parallelism.{}", member), value); };
  set("training.seq_len", f.model.seq), set("training.global_batch_size", f.batch);
  // A pipeline takes all its microbatches at once; without one, gradients are accumulated over the steps that the global batch needs.
  set("training.local_batch_size", s.pipeline > 1 ? f.batch / s.data : s.microbatch);
  const bool shards = s.zero >= 2;
  parallelism("data_parallel_shard_degree", shards ? s.data : 1), parallelism("data_parallel_replicate_degree", shards ? 1 : s.data);
  if (shards) parallelism("fsdp_reshard_after_forward", s.zero == 3 ? "\"always\"" : "\"never\"");
  if (s.zero == 1) notes.emplace_back("not said: zero=1; replicas hold whole optimizer states (zero=0). zero=2 and 3 can be said");
  parallelism("tensor_parallel_degree", s.tensor);
  if (s.tensor > 1) parallelism("enable_sequence_parallel", s.sequence_parallel ? "True" : "False");
  parallelism("context_parallel_degree", s.context), parallelism("expert_parallel_degree", s.expert_in_data);
  parallelism("pipeline_parallel_degree", s.pipeline);
  if (s.pipeline > 1) {
    parallelism("pipeline_parallel_schedule", fmt::format("\"{}\"", schedule_name(s, notes)));
    parallelism("pipeline_parallel_microbatch_size", s.microbatch);
    parallelism("module_fqns_per_model_part", modules_of(layers_of_stages(f, s)));
  }
  if (s.tensor_overlap != TensorOverlap::none) set("compile.enable", "True"), set("compile.enable_async_tensor_parallel", "True");
  if (s.recompute == Recompute::full)
    set("activation_checkpoint", "FullAC.Config()");
  else if (s.recompute != Recompute::none)
    set("activation_checkpoint", "SelectiveAC.Config()");
  else
    set("activation_checkpoint", "None");
  if (s.recompute == Recompute::selective)
    notes.emplace_back(
        "SelectiveAC is recompute=alternate: every other product is computed again, but not attention; less memory, more time");
  if (s.recompute_first > 0) notes.push_back(fmt::format("not said: recompute-first={}; all layers compute again", s.recompute_first));
  if (s.regather) notes.emplace_back("not said: regather; gathered inputs are kept");
  if (s.offload_optimizer || s.offload_weights) set("training.enable_cpu_offload", "True");
  if (s.offload_activations) notes.emplace_back("not said: offload of activations");
  if (s.precision != Precision::bf16)
    notes.push_back(
        fmt::format("not said: precision={}; the model's recipe chooses converters (Float8LinearConverter, MXFP8LinearConverter)",
                    name_of(s.precision)));
  std::string text = comments({headline(f, s)}, "# ") + comments(notes, "# ");
  text += "from torchtitan.distributed.activation_checkpoint import FullAC, SelectiveAC\n\n\ndef with_strategy(config):\n";
  text += "    \"\"\"The strategy in a Trainer.Config, as a model's recipe makes it: with_strategy(llama3_8b()).\"\"\"\n";
  return text + body + "    return config\n";
}

// --- back: assignments, whoever wrote them.

class RecipeReader {
 public:
  RecipeReader(const std::string& text, const StrategyFacts& f, std::string file) : f_(f), file_(std::move(file)) {
    std::size_t at = 0;
    while (at < text.size()) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      line(text.substr(at, end - at));
      at = end + 1;
    }
    if (values_.empty()) refuse_settings(file_, "no assignment such as config.parallelism.tensor_parallel_degree = 2 is in it");
  }

  ReadSettings read(std::int64_t devices, std::int64_t batch) {
    Strategy& s = r_.strategy;
    s.tensor = whole("tensor_parallel_degree", 1), s.pipeline = whole("pipeline_parallel_degree", 1);
    s.context = whole("context_parallel_degree", 1), s.expert_in_data = whole("expert_parallel_degree", 1);
    const std::int64_t replicas = whole("data_parallel_replicate_degree", 1);
    std::int64_t shards = whole("data_parallel_shard_degree", -1);
    if (shards == -1) {
      if (devices == 0) refuse_settings(file_, "data_parallel_shard_degree is -1, what the devices leave; say --devices");
      shards = devices / (replicas * s.tensor * s.pipeline * s.context);
    }
    s.data = shards * replicas;
    if (shards > 1 && replicas > 1)
      r_.notes.push_back(fmt::format("{} replicas of {} shards: all {} devices share the states here", replicas, shards, s.data));
    if (shards > 1 || s.context > 1) s.zero = text("fsdp_reshard_after_forward", "default") == "never" || s.pipeline > 1 ? 2 : 3;
    if (text("fsdp_reshard_after_forward", "default") == "always") s.zero = s.zero == 0 ? 0 : 3;
    r_.devices = s.devices(), r_.seq = whole("seq_len", 0);
    const std::int64_t local = whole("local_batch_size", 1);
    std::int64_t global = whole("global_batch_size", -1);
    if (global == -1) global = batch > 0 ? batch : local * s.data;
    r_.batch = global;
    s.microbatch = s.pipeline > 1 ? whole("pipeline_parallel_microbatch_size", 1) : local;
    if (s.tensor > 1 && text("enable_sequence_parallel", "True") == "True") s.sequence_parallel = true;
    schedule();
    const std::string again = text("activation_checkpoint", "None");
    s.recompute = again.starts_with("FullAC") ? Recompute::full : again.starts_with("SelectiveAC") ? Recompute::alternate : Recompute::none;
    if (text("enable_async_tensor_parallel", "False") == "True" && s.tensor > 1) s.tensor_overlap = TensorOverlap::ring;
    s.offload_optimizer = text("enable_cpu_offload", "False") == "True";
    s.data_overlap = s.zero >= 2;
    return std::move(r_);
  }

 private:
  void line(const std::string& text) {
    const std::size_t equals = text.find(" = ");
    if (equals == std::string::npos || text.find_first_not_of(' ') == std::string::npos) return;
    std::string name = text.substr(text.find_first_not_of(' '), equals - text.find_first_not_of(' '));
    if (name.starts_with("#")) return;
    name = name.substr(name.rfind('.') == std::string::npos ? 0 : name.rfind('.') + 1);
    std::string value = text.substr(equals + 3);
    if (value.size() > 1 && (value.front() == '"' || value.front() == '\'')) value = value.substr(1, value.find(value.front(), 1) - 1);
    values_[name] = value;
  }

  std::string text(const std::string& name, std::string otherwise) const {
    const auto found = values_.find(name);
    return found == values_.end() ? otherwise : found->second;
  }
  std::int64_t whole(const std::string& name, std::int64_t otherwise) const {
    const auto found = values_.find(name);
    if (found == values_.end()) return otherwise;
    std::int64_t n = 0;
    const std::string& v = found->second;
    const auto [end, error] = std::from_chars(v.data(), v.data() + v.size(), n);
    if (error != std::errc() || (n < 1 && n != -1) || n > kMostOfSettings)
      refuse_settings(file_, fmt::format("{} is {}; a whole number is expected", name, v));
    return n;
  }

  void schedule() {
    Strategy& s = r_.strategy;
    if (s.pipeline == 1) return;
    const std::string name = text("pipeline_parallel_schedule", "1F1B");
    const std::int64_t each = whole("pipeline_parallel_layers_per_stage", 0);
    if (name == "1F1B")
      s.schedule = name_of(PipelineSchedule::one_f_one_b);
    else if (name == "Interleaved1F1B")
      s.stages_per_rank = each > 0 ? std::max<std::int64_t>(1, f_.model.layers / (s.pipeline * each)) : 2;
    else if (name == "ZBVZeroBubble")
      s.schedule = name_of(PipelineSchedule::zero_bubble_v);
    else if (name == "InterleavedZeroBubble")
      s.schedule = name_of(PipelineSchedule::zero_bubble_h1);
    else
      refuse_settings(file_, fmt::format("pipeline_parallel_schedule is '{}'; understood are 1F1B, Interleaved1F1B, ZBVZeroBubble, "
                                         "InterleavedZeroBubble",
                                         name));
  }

  const StrategyFacts& f_;
  std::string file_;
  std::map<std::string, std::string> values_;
  ReadSettings r_;
};

}  // namespace

EmitTarget emit_torchtitan() {
  EmitTarget t;
  t.name = "torchtitan";
  t.doc = "a function that puts the strategy into a recipe of torchtitan";
  t.text = write_torchtitan;
  t.read = [](const std::string& text, const StrategyFacts& f, std::int64_t devices, std::int64_t batch, const std::string& file) {
    return RecipeReader(text, f, file).read(devices, batch);
  };
  return t;
}

}  // namespace pando::search
