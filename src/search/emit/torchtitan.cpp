// A recipe for torchtitan (names as in torchtitan 0.3): a Python function that puts the strategy into a Trainer.Config.
#include "search/settings/emit_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace pando::search {

namespace {

std::string schedule_name(const Strategy& s, SettingsNotes& notes) {
  switch (schedule_of(s)) {
    case PipelineSchedule::one_f_one_b: return s.stages_per_rank > 1 ? "Interleaved1F1B" : "1F1B";
    case PipelineSchedule::zero_bubble_v: return "ZBVZeroBubble";
    case PipelineSchedule::zero_bubble_h1: return "InterleavedZeroBubble";
    case PipelineSchedule::zero_bubble_h2:
      notes.unsaid(&Strategy::schedule, name_of(PipelineSchedule::zero_bubble_h1),
                   "schedule=ZB-H2; ZB-H1 runs instead, with less memory and longer idling");
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

class RecipeWriter {
 public:
  RecipeWriter(const StrategyFacts& f, const Strategy& s) : f_(f), s_(s), notes_(s) {}

  Settings write() {
    set("training.seq_len", f_.model.seq), set("training.global_batch_size", f_.batch);
    // A pipeline takes all its microbatches at once; without one, gradients are accumulated over the steps that the global batch needs.
    set("training.local_batch_size", s_.pipeline > 1 ? f_.batch / s_.data : s_.microbatch);
    replicas();
    tensors();
    pipeline();
    recompute();
    offload();
    precision();
    std::string text = comments(notes_.lines(f_, s_), "# ");
    text +=
        "from torchtitan.distributed.activation_checkpoint import FullAC, SelectiveAC\n" + imports_ + "\n\ndef with_strategy(config):\n";
    text += "    \"\"\"The strategy in a Trainer.Config, as a model's recipe makes it: with_strategy(llama3_8b()).\"\"\"\n";
    return std::move(notes_).with(text + body_ + "    return config\n");
  }

 private:
  template <class Value>
  void set(std::string_view member, const Value& value) {
    body_ += fmt::format("    config.{} = {}\n", member, value);
  }
  template <class Value>
  void parallelism(std::string_view member, const Value& value) {
    set(fmt::format("parallelism.{}", member), value);
  }

  // Replicas that split nothing are a mesh of their own: positions and experts are split by those that split states.
  void replicas() {
    shards_ = s_.zero >= 1 || s_.context > 1 || s_.expert_in_data > 1;
    if (replicas_of(s_) == 1) shards_ = false;
    if (shards_ && s_.zero < 2) {
      const std::string why = s_.zero == 1 ? "zero=1; zero=2 runs instead, which splits gradients, too"
                              : s_.context > 1
                                  ? fmt::format("zero=0 with c={}; devices that share positions split states: zero=2", s_.context)
                                  : fmt::format("zero=0 with e={}; devices that share experts split states: zero=2", s_.expert_in_data);
      notes_.unsaid(&Strategy::zero, 2, why);
    }
    parallelism("data_parallel_shard_degree", shards_ ? s_.data : 1), parallelism("data_parallel_replicate_degree", shards_ ? 1 : s_.data);
    if (shards_) parallelism("fsdp_reshard_after_forward", s_.zero == 3 ? "\"always\"" : "\"never\"");
    if (replicas_of(s_) > 1 && !s_.data_overlap)
      notes_.unsaid(&Strategy::data_overlap, true, "that gradients wait; torchtitan reduces them beside the backward pass (data-overlap)");
  }

  void tensors() {
    parallelism("tensor_parallel_degree", s_.tensor);
    if (s_.tensor > 1) parallelism("enable_sequence_parallel", s_.sequence_parallel ? "True" : "False");
    parallelism("context_parallel_degree", s_.context), parallelism("expert_parallel_degree", s_.expert_in_data);
    if (s_.regather) notes_.unsaid(&Strategy::regather, false, "regather; gathered inputs are kept");
    if (s_.tensor_overlap == TensorOverlap::none) return;
    if (!s_.sequence_parallel) {
      notes_.unsaid(&Strategy::tensor_overlap, TensorOverlap::none,
                    "overlap without comm=sequence-parallel; asynchronous tensor parallelism cuts gathers and scatters alone");
      return;
    }
    compile();
    set("compile.enable_async_tensor_parallel", "True");
    if (s_.tensor_overlap == TensorOverlap::pipe)
      notes_.unsaid(&Strategy::tensor_overlap, TensorOverlap::ring,
                    "overlap=pipe; asynchronous tensor parallelism moves the parts of a ring");
  }

  void pipeline() {
    parallelism("pipeline_parallel_degree", s_.pipeline);
    if (s_.pipeline == 1) return;
    parallelism("pipeline_parallel_schedule", fmt::format("\"{}\"", schedule_name(s_, notes_)));
    parallelism("pipeline_parallel_microbatch_size", s_.microbatch);
    parallelism("module_fqns_per_model_part", modules_of(layers_of_stages(f_, s_)));
  }

  void recompute() {
    if (s_.recompute == Recompute::full)
      set("activation_checkpoint", "FullAC.Config()");
    else if (s_.recompute != Recompute::none)
      set("activation_checkpoint", "SelectiveAC.Config()");
    else
      set("activation_checkpoint", "None");
    if (s_.recompute == Recompute::selective)
      notes_.unsaid(&Strategy::recompute, Recompute::alternate,
                    "recompute=selective; SelectiveAC computes every other product again, but not attention (recompute=alternate)");
    if (s_.recompute_first > 0)
      notes_.unsaid(&Strategy::recompute_first, 0, fmt::format("recompute-first={}; all layers compute again", s_.recompute_first));
  }

  // Fully sharded alone, and all of it: parameters, gradients, states.
  void offload() {
    if (s_.offload_activations) notes_.unsaid(&Strategy::offload_activations, false, "offload-activations; they stay on the device");
    if (!s_.offload_weights && !s_.offload_optimizer) return;
    const bool weights = s_.offload_weights, optimizer = s_.offload_optimizer;
    if (shards_) set("training.enable_cpu_offload", "True");
    if (shards_ && !optimizer)
      notes_.unsaid(&Strategy::offload_optimizer, true, "offload-weights alone; enable_cpu_offload moves states, too (offload-optimizer)");
    if (shards_ && !weights)
      notes_.unsaid(&Strategy::offload_weights, true, "offload-optimizer alone; enable_cpu_offload moves weights, too (offload-weights)");
    if (shards_) return;
    const std::string_view why = "; enable_cpu_offload is of devices that split states";
    if (weights) notes_.unsaid(&Strategy::offload_weights, false, fmt::format("offload-weights{}", why));
    if (optimizer) notes_.unsaid(&Strategy::offload_optimizer, false, fmt::format("offload-optimizer{}", why));
  }

  // The head stays in bf16, and so does what chooses experts.
  void precision() {
    if (s_.precision == Precision::bf16) return;
    compile();
    const bool blocks = s_.precision == Precision::mxfp8, experts = f_.model.experts > 0;
    const std::string kind = blocks ? "MXFP8" : "Float8", which = blocks    ? "fqns=[\"layers.\"]"
                                                                  : experts ? "filter_fqns=[\"lm_head\", \"router.gate\"]"
                                                                            : "filter_fqns=[\"lm_head\"]";
    imports_ = fmt::format("from torchtitan.components.quantization import {}{}LinearConverter\n",
                           experts ? kind + "GroupedExpertsConverter, " : "", kind);
    body_ += "    # Recipes that bring converters of their own go without these.\n";
    convert(fmt::format("{}LinearConverter.Config({}, model_compile_enabled=True)", kind, which));
    if (experts) convert(kind + "GroupedExpertsConverter.Config(model_compile_enabled=True)");
    if (!blocks)
      notes_.unsaid(
          "precision=fp8 with one scale for each tensor; Float8LinearConverter has one for each row, which takes more time to find");
  }
  void convert(const std::string& converter) { set("model_spec.model", converter + ".build().convert(config.model_spec.model)"); }

  void compile() {
    if (!compiles_) set("compile.enable", "True");
    compiles_ = true;
  }

  const StrategyFacts& f_;
  const Strategy& s_;
  SettingsNotes notes_;
  std::string imports_, body_;
  bool shards_ = false, compiles_ = false;
};

// --- back: assignments, of any recipe

class RecipeReader {
 public:
  RecipeReader(const std::string& text, const StrategyFacts& f, std::string file) : f_(f), file_(std::move(file)) {
    std::size_t at = 0;
    while (at < text.size()) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      line(text.substr(at, end - at));
      at = end + 1;
    }
    count_layers(text);
    if (values_.empty()) reject_settings(file_, "no assignment such as config.parallelism.tensor_parallel_degree = 2 is in it");
  }

  ReadSettings read(std::int64_t devices, std::int64_t batch) {
    Strategy& s = r_.strategy;
    s.tensor = whole("tensor_parallel_degree", 1), s.pipeline = whole("pipeline_parallel_degree", 1);
    s.context = whole("context_parallel_degree", 1), s.expert_in_data = whole("expert_parallel_degree", 1);
    const std::int64_t replicas = whole("data_parallel_replicate_degree", 1);
    std::int64_t shards = whole("data_parallel_shard_degree", -1);
    if (shards == -1) {
      if (devices == 0) reject_settings(file_, "data_parallel_shard_degree is -1, what the devices leave; say --devices");
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
    s.offload_optimizer = s.offload_weights = s.zero >= 2 && text("enable_cpu_offload", "False") == "True";
    s.data_overlap = replicas_of(s) > 1;
    // What layers cost decides how stages are weighed.
    stages();
    return std::move(r_);
  }

 private:
  void line(const std::string& text) {
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string::npos || text[begin] == '#') return;
    if (text.find("Float8LinearConverter.Config") != std::string::npos) r_.strategy.precision = Precision::fp8;
    if (text.find("MXFP8LinearConverter.Config") != std::string::npos) r_.strategy.precision = Precision::mxfp8;
    const std::size_t equals = text.find(" = ");
    if (equals == std::string::npos || equals < begin) return;
    std::string name = text.substr(begin, equals - begin);
    name = name.substr(name.rfind('.') == std::string::npos ? 0 : name.rfind('.') + 1);
    std::string value = text.substr(equals + 3);
    if (value.size() > 1 && (value.front() == '"' || value.front() == '\'')) value = value.substr(1, value.find(value.front(), 1) - 1);
    values_[name] = value;
  }

  // Of each list of modules in module_fqns_per_model_part.
  void count_layers(const std::string& text) {
    static constexpr std::string_view kMember = "module_fqns_per_model_part = ";
    const std::size_t member = text.find(kMember);
    if (member == std::string::npos) return;
    int depth = 0;
    for (std::size_t i = member + kMember.size(); i < text.size(); ++i) {
      if (text[i] == '[' && ++depth == 2) layers_.push_back(0);
      if (depth == 2 && text.compare(i, 7, "layers.") == 0) ++layers_.back();
      if (text[i] == ']') --depth;
      if (depth == 0) return;
    }
  }

  void stages() {
    Strategy& s = r_.strategy;
    if (s.pipeline == 1 || layers_.empty()) return;
    const auto parts = static_cast<std::int64_t>(layers_.size());
    if (parts % s.pipeline != 0)
      reject_settings(file_, fmt::format("module_fqns_per_model_part has {} parts; {} ranks have as many each", parts, s.pipeline));
    std::int64_t sum = 0;
    for (const std::int64_t n : layers_) sum += n;
    if (sum != f_.model.layers)
      reject_settings(file_, fmt::format("module_fqns_per_model_part has {} layers; the model has {}", sum, f_.model.layers));
    if (schedule_of(s) != PipelineSchedule::zero_bubble_v) s.stages_per_rank = static_cast<std::int32_t>(parts / s.pipeline);
    adopt_division(f_, layers_, "module_fqns_per_model_part", r_);
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
      reject_settings(file_, fmt::format("{} is {}; a whole number is expected", name, v));
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
      reject_settings(file_, fmt::format("pipeline_parallel_schedule is '{}'; understood are 1F1B, Interleaved1F1B, ZBVZeroBubble, "
                                         "InterleavedZeroBubble",
                                         name));
  }

  const StrategyFacts& f_;
  std::string file_;
  std::map<std::string, std::string> values_;
  // By part of the model.
  std::vector<std::int64_t> layers_;
  ReadSettings r_;
};

}  // namespace

EmitTarget emit_torchtitan() {
  EmitTarget t;
  t.name = "torchtitan";
  t.doc = "a function that puts the strategy into a recipe of torchtitan";
  t.settings = [](const StrategyFacts& f, const Strategy& s) { return RecipeWriter(f, s).write(); };
  t.read = [](const std::string& text, const StrategyFacts& f, std::int64_t devices, std::int64_t batch, const std::string& file) {
    return RecipeReader(text, f, file).read(devices, batch);
  };
  return t;
}

}  // namespace pando::search
