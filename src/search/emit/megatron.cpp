// Flags of Megatron-LM (names as in its argument parser, core 0.16).
#include "search/settings/emit_settings.h"

#include "base/text/similar_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace pando::search {

namespace {

// Runs of one letter: "ttt" is "t*3".
std::string stage_text(std::int64_t layers) {
  if (layers == 0) return "";
  return layers < 4 ? std::string(static_cast<std::size_t>(layers), 't') : fmt::format("t*{}", layers);
}

// Stages in the order of the model: the layers of each, the embedding on the first and the loss on the last.
std::string layout_of(const std::vector<std::int64_t>& stages) {
  std::string text = "E";
  for (std::size_t i = 0; i < stages.size(); ++i) text += (i > 0 ? "|" : "") + stage_text(stages[i]);
  return text + "L";
}

// Python for a list: 1 for a layer with experts.
std::string expert_layers_text(const Transformer& m) {
  if (m.expert_every == 1) return fmt::format("([0]*{}+[1]*{})", m.dense_layers, m.layers - m.dense_layers);
  if (m.dense_layers == 0 && m.layers % m.expert_every == 0)
    return fmt::format("(([0]*{}+[1])*{})", m.expert_every - 1, m.layers / m.expert_every);
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < m.layers; ++i) all.push_back(m.expert_layers(i + 1) - m.expert_layers(i));
  return fmt::format("([{}])", fmt::join(all, ","));
}

class FlagWriter {
 public:
  FlagWriter(const StrategyFacts& f, const Strategy& s) : f_(f), s_(s), notes_(s) {}

  Settings write() {
    model();
    const std::string sizes = take();
    degrees();
    stages();
    memory();
    precision();
    const std::string plan = take();
    const std::string above = comments(notes_.lines(f_, s_), "# ");
    return std::move(notes_).with(above + "# the model\n" + sizes + "\n# the strategy\n" + plan + "\n");
  }

 private:
  void flag(std::string_view name) { flags_.push_back(fmt::format("--{}", name)); }
  template <class Value>
  void flag(std::string_view name, Value value) {
    flags_.push_back(fmt::format("--{} {}", name, value));
  }
  std::string take() {
    std::string line = fmt::format("{}", fmt::join(flags_, " "));
    flags_.clear();
    return line;
  }

  void model() {
    const Transformer& m = f_.model;
    flag("num-layers", m.layers), flag("hidden-size", m.hidden), flag("ffn-hidden-size", m.ffn), flag("num-attention-heads", m.heads);
    if (m.keys() != m.heads) flag("group-query-attention"), flag("num-query-groups", m.keys());
    if (m.head_size > 0 && !m.latent()) flag("kv-channels", m.head_size);
    flag("seq-length", m.seq), flag("max-position-embeddings", std::max(m.seq, m.learned_positions));
    if (m.gated) flag("swiglu"), flag("normalization", "RMSNorm"), flag("position-embedding-type", "rope"), flag("disable-bias-linear");
    if (!m.tied) flag("untie-embeddings-and-output-weights");
    if (!m.dropout) flag("attention-dropout", "0.0"), flag("hidden-dropout", "0.0");
    if (!m.keeps_scores) flag("use-flash-attn");
    if (m.latent()) {
      flag("multi-latent-attention"), flag("kv-lora-rank", m.kv_rank), flag("qk-head-dim", m.size_of_head());
      if (m.query_rank > 0) flag("q-lora-rank", m.query_rank);
      flag("qk-pos-emb-head-dim", m.position_size), flag("v-head-dim", m.value_size);
    }
    if (m.experts > 0) {
      flag("num-experts", m.experts), flag("moe-router-topk", m.experts_each), flag("moe-ffn-hidden-size", m.expert_ffn);
      flag("moe-grouped-gemm");
      if (m.shared_experts > 0) flag("moe-shared-expert-intermediate-size", m.shared_experts * m.expert_ffn);
      if (m.expert_layers() < m.layers) flag("moe-layer-freq", expert_layers_text(m));
    }
    if (m.norms == 4) notes_.unsaid("norms behind attention and dense layers");
    if (m.parallel) notes_.unsaid("attention and dense layers side by side; Megatron-LM runs one after the other");
    if (m.norms_heads) flag("qk-layernorm");
  }

  void degrees() {
    flag("tensor-model-parallel-size", s_.tensor), flag("pipeline-model-parallel-size", s_.pipeline);
    if (s_.context > 1) flag("context-parallel-size", s_.context);
    if (s_.expert_in_data > 1) flag("expert-model-parallel-size", s_.expert_in_data);
    notes_.note(fmt::format("data parallelism is what {} devices leave: {}", s_.devices(), s_.data));
    flag("micro-batch-size", s_.microbatch), flag("global-batch-size", f_.batch);
    const std::int64_t positions = f_.model.seq / s_.context * s_.microbatch;
    bool sequence = s_.sequence_parallel;
    if (!sequence && s_.tensor > 1 && s_.expert_in_data > 1 && positions % s_.tensor == 0) {
      notes_.unsaid(&Strategy::sequence_parallel, true,
                    "comm=all-reduce; Megatron-LM demands --sequence-parallel where experts and tensors are split");
      sequence = true;
    }
    if (sequence) {
      flag("sequence-parallel");
      if (!s_.regather && !recomputes_all(s_))
        notes_.unsaid(&Strategy::regather, true,
                      "inputs that are kept; Megatron-LM gathers a layer's input again on the way back (regather), which keeps less");
    }
    if (s_.tensor_overlap == TensorOverlap::none) return;
    if (!sequence) {
      notes_.unsaid(&Strategy::tensor_overlap, TensorOverlap::none,
                    fmt::format("overlap={}; Megatron-LM has --tp-comm-overlap beside --sequence-parallel alone", overlap_word()));
      return;
    }
    flag("tp-comm-overlap");
    if (s_.tensor_overlap == TensorOverlap::pipe)
      notes_.unsaid(&Strategy::tensor_overlap, TensorOverlap::ring,
                    "overlap=pipe; --tp-comm-overlap-cfg chooses how each product overlaps, rings are assumed");
  }

  std::string_view overlap_word() const { return s_.tensor_overlap == TensorOverlap::ring ? "ring" : "pipe"; }

  void stages() {
    if (schedule_of(s_) != PipelineSchedule::one_f_one_b)
      notes_.unsaid(&Strategy::schedule, name_of(PipelineSchedule::one_f_one_b),
                    fmt::format("schedule={}; 1F1B runs instead, which is slower and needs another amount of memory", s_.schedule));
    if (s_.pipeline == 1) return;
    Strategy plain = s_;
    plain.schedule = name_of(PipelineSchedule::one_f_one_b);
    const std::vector<std::int64_t> stages = layers_of_stages(f_, plain);
    const bool equal = std::ranges::all_of(stages, [&](std::int64_t n) { return n == stages[0]; });
    if (!equal) {
      flag("pipeline-model-parallel-layout", fmt::format("\"{}\"", layout_of(stages)));
      return;
    }
    if (s_.stages_per_rank > 1) flag("num-virtual-stages-per-pipeline-rank", s_.stages_per_rank);
  }

  void memory() {
    if (s_.zero >= 1) flag("use-distributed-optimizer");
    if (s_.zero >= 2) {
      flag("use-megatron-fsdp"), flag("data-parallel-sharding-strategy", s_.zero == 2 ? "optim_grads" : "optim_grads_params");
      flag("ckpt-format", "fsdp_dtensor"), flag("no-gradient-accumulation-fusion");
      sharding_notes();
    }
    if (s_.data_overlap) {
      flag("overlap-grad-reduce");
      if (s_.zero >= 1) flag("overlap-param-gather");
    }
    if (s_.recompute == Recompute::selective) {
      flag("recompute-granularity", "selective"), flag("recompute-modules", "core_attn");
      if (s_.recompute_first > 0)
        notes_.unsaid(&Strategy::recompute_first, 0,
                      fmt::format("recompute-first={}; all layers compute attention again", s_.recompute_first));
    }
    if (s_.recompute == Recompute::alternate) {
      notes_.unsaid(&Strategy::recompute, Recompute::none, "recompute=alternate; nothing is computed again");
      if (s_.recompute_first > 0) notes_.unsaid(&Strategy::recompute_first, 0, fmt::format("recompute-first={}", s_.recompute_first));
    }
    if (s_.recompute == Recompute::full) {
      flag("recompute-granularity", "full"), flag("recompute-method", s_.recompute_first > 0 ? "block" : "uniform");
      flag("recompute-num-layers", std::max<std::int64_t>(1, s_.recompute_first));
    }
    offload();
  }

  // What its arguments do not say of Megatron-FSDP.
  void sharding_notes() {
    notes_.note("Megatron-FSDP shards: CUDA_DEVICE_MAX_CONNECTIONS has to be unset or over 1");
    if (s_.tensor > 1 || s_.context > 1)
      notes_.note(
          "before Blackwell, Megatron-LM advises against Megatron-FSDP beside tensor or context parallelism, which want that to be 1");
    if (s_.pipeline > 1)
      notes_.note(fmt::format("Megatron-LM takes zero={} beside a pipeline; the tests that it comes with have one stage", s_.zero));
  }

  void offload() {
    if (s_.offload_optimizer) {
      // The parser demands the one, and that demands the other.
      flag("optimizer-cpu-offload"), flag("optimizer-offload-fraction", "1.0"), flag("use-precision-aware-optimizer");
      if (s_.zero == 0) flag("use-distributed-optimizer");
      if (s_.zero == 0 && replicas_of(s_) > 1)
        notes_.unsaid(&Strategy::zero, 1, "zero=0 beside offload-optimizer; Megatron-LM demands --use-distributed-optimizer (zero=1)");
    }
    if (s_.offload_activations && (s_.pipeline > 1 || s_.recompute != Recompute::none)) {
      notes_.unsaid(&Strategy::offload_activations, false,
                    fmt::format("offload-activations; Megatron-LM rejects --cpu-offloading beside {}, activations stay on the device",
                                s_.pipeline > 1 ? "a pipeline" : "recomputation"));
    } else if (s_.offload_activations) {
      flag("cpu-offloading"), flag("cpu-offloading-num-layers", most_layers_of(f_, s_) - 1);
    }
    if (s_.offload_weights) notes_.unsaid(&Strategy::offload_weights, false, "offload-weights; they stay on the device");
  }

  void precision() {
    flag("bf16");
    if (s_.precision == Precision::bf16) return;
    flag("fp8-format", "hybrid"), flag("fp8-recipe", s_.precision == Precision::mxfp8 ? "mxfp8" : "tensorwise");
  }

  const StrategyFacts& f_;
  const Strategy& s_;
  std::vector<std::string> flags_;
  SettingsNotes notes_;
};

// --- back -------------------------------------------------------------------------------------------------------------------------------

// Words of a command line; comments and continued lines as a shell has them.
std::vector<std::string> words_in(const std::string& text) {
  std::vector<std::string> all;
  std::string word;
  char quote = 0;
  bool any = false;
  const auto end = [&] {
    if (any) all.push_back(word);
    word.clear(), any = false;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '"' || c == '\'') {
      quote = c, any = true;
    } else if (c == '#' && !any) {
      while (i + 1 < text.size() && text[i + 1] != '\n') ++i;
    } else if (c == '\\' && i + 1 < text.size() && text[i + 1] == '\n') {
      ++i, end();
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      end();
    } else {
      word += c, any = true;
    }
  }
  end();
  return all;
}

// Flags that a plan has.
const std::vector<std::string> kOfPlan{"tensor-model-parallel-size",
                                       "pipeline-model-parallel-size",
                                       "context-parallel-size",
                                       "expert-model-parallel-size",
                                       "expert-tensor-parallel-size",
                                       "micro-batch-size",
                                       "global-batch-size",
                                       "seq-length",
                                       "sequence-parallel",
                                       "tp-comm-overlap",
                                       "num-virtual-stages-per-pipeline-rank",
                                       "num-layers-per-virtual-pipeline-stage",
                                       "pipeline-model-parallel-layout",
                                       "decoder-first-pipeline-num-layers",
                                       "decoder-last-pipeline-num-layers",
                                       "use-distributed-optimizer",
                                       "use-megatron-fsdp",
                                       "data-parallel-sharding-strategy",
                                       "overlap-grad-reduce",
                                       "overlap-param-gather",
                                       "recompute-granularity",
                                       "recompute-activations",
                                       "recompute-method",
                                       "recompute-num-layers",
                                       "recompute-modules",
                                       "optimizer-cpu-offload",
                                       "optimizer-offload-fraction",
                                       "cpu-offloading",
                                       "cpu-offloading-num-layers",
                                       "fp8-format",
                                       "fp8-recipe",
                                       "bf16",
                                       "fp16"};
// Beginnings of flags that change how a step is distributed: one of them that is not above is rejected, not passed over.
constexpr std::string_view kBeginnings[] = {"tensor-model",
                                            "pipeline-model",
                                            "context-parallel",
                                            "expert-",
                                            "recompute",
                                            "num-virtual",
                                            "num-layers-per",
                                            "decoder-first",
                                            "decoder-last",
                                            "data-parallel-",
                                            "overlap-",
                                            "cpu-off",
                                            "optimizer-off",
                                            "optimizer-cpu",
                                            "micro-batch",
                                            "global-batch",
                                            "fp8",
                                            "fp4",
                                            "virtual-pipe",
                                            "tp-comm",
                                            "num-distributed-o",
                                            "hierarchical-c",
                                            "use-torch-fsdp",
                                            "outer-dp-",
                                            "megatron-fsdp-v"};

class FlagReader {
 public:
  FlagReader(const std::string& text, const StrategyFacts& f, std::int64_t devices, std::int64_t batch, std::string file)
      : f_(f), file_(std::move(file)) {
    r_.devices = devices, r_.batch = batch;
    collect(words_in(text));
  }

  ReadSettings read() {
    Strategy& s = r_.strategy;
    s.tensor = number("tensor-model-parallel-size", 1), s.pipeline = number("pipeline-model-parallel-size", 1);
    s.context = number("context-parallel-size", 1), s.expert_in_data = number("expert-model-parallel-size", 1);
    if (const std::int64_t et = number("expert-tensor-parallel-size", s.tensor); et != s.tensor)
      r_.notes.push_back(fmt::format("--expert-tensor-parallel-size {}: experts are cut like the rest, {} times", et, s.tensor));
    s.microbatch = number("micro-batch-size", 1), r_.batch = number("global-batch-size", r_.batch), r_.seq = number("seq-length", 0);
    if (r_.batch == 0) reject_settings(file_, "there is no --global-batch-size; say --batch");
    const std::int64_t others = std::int64_t{s.tensor} * s.pipeline * s.context;
    if (r_.devices == 0) reject_settings(file_, "flags do not say how many devices there are; say --devices");
    if (r_.devices % others != 0)
      reject_settings(file_, fmt::format("{} devices are not a multiple of {} x {} x {}", r_.devices, s.tensor, s.pipeline, s.context));
    s.data = r_.devices / others;
    transfers();
    memory();
    // What layers cost decides how stages are weighed.
    stages();
    if (s.recompute_first > 0 && s.recompute_first >= most_layers_of(f_, s)) s.recompute_first = 0;
    if (s.sequence_parallel) s.regather = !recomputes_all(s);
    return std::move(r_);
  }

 private:
  void collect(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (!words[i].starts_with("--")) continue;
      std::string name = words[i].substr(2), value;
      if (const std::size_t equals = name.find('='); equals != std::string::npos) {
        value = name.substr(equals + 1), name.resize(equals);
      } else {
        while (i + 1 < words.size() && !words[i + 1].starts_with("--")) value += (value.empty() ? "" : " ") + words[++i];
      }
      const bool known = std::ranges::find(kOfPlan, name) != kOfPlan.end();
      const bool matters = std::ranges::any_of(kBeginnings, [&](std::string_view b) { return name.starts_with(b); });
      if (!known && matters) {
        const std::vector<std::string> near = similar_names(name, kOfPlan);
        reject_settings(file_, fmt::format("--{} is not understood, and changes how a step is distributed{}", name,
                                           near.empty() ? "" : "; the nearest is --" + near[0]));
      }
      if (known) flags_[name] = value;
    }
    if (flags_.empty()) reject_settings(file_, "no flag of Megatron-LM is in it, such as --tensor-model-parallel-size 8");
  }

  bool has(const std::string& name) const { return flags_.contains(name); }
  std::string text(const std::string& name, std::string otherwise = "") const { return has(name) ? flags_.at(name) : otherwise; }
  std::int64_t number(const std::string& name, std::int64_t otherwise) const {
    if (!has(name)) return otherwise;
    const std::string& value = flags_.at(name);
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
    if (error != std::errc() || end != value.data() + value.size() || n < 1 || n > kMostOfSettings)
      reject_settings(file_, fmt::format("--{} {}: a whole number from 1 is expected", name, value));
    return n;
  }

  void transfers() {
    Strategy& s = r_.strategy;
    if (has("sequence-parallel") && s.tensor > 1) s.sequence_parallel = true;
    if (has("tp-comm-overlap") && s.tensor > 1) s.tensor_overlap = TensorOverlap::ring;
    s.data_overlap = has("overlap-grad-reduce") && replicas_of(s) > 1;
  }

  void stages() {
    Strategy& s = r_.strategy;
    s.stages_per_rank = number("num-virtual-stages-per-pipeline-rank", 1);
    if (has("num-layers-per-virtual-pipeline-stage")) {
      const std::int64_t each = number("num-layers-per-virtual-pipeline-stage", 1);
      if (f_.model.layers % (s.pipeline * each) != 0)
        reject_settings(file_, fmt::format("{} layers do not divide into stages of {} on {} ranks", f_.model.layers, each, s.pipeline));
      s.stages_per_rank = f_.model.layers / s.pipeline / each;
    }
    if (has("pipeline-model-parallel-layout")) read_layout(text("pipeline-model-parallel-layout"));
    for (const char* name : {"decoder-first-pipeline-num-layers", "decoder-last-pipeline-num-layers"}) {
      if (has(name)) adopt_division(f_, ranks_by_flags(), fmt::format("--{}", name), r_);
    }
  }

  std::vector<std::int64_t> ranks_by_flags() const {
    const Strategy& s = r_.strategy;
    const std::int64_t first = number("decoder-first-pipeline-num-layers", 0), last = number("decoder-last-pipeline-num-layers", 0);
    const std::int64_t between = s.pipeline - (first > 0 ? 1 : 0) - (last > 0 ? 1 : 0), rest = f_.model.layers - first - last;
    if (between < 1 || rest < 0 || rest % between != 0)
      reject_settings(file_, fmt::format("{} layers do not divide over {} ranks between the first and the last", rest, between));
    std::vector<std::int64_t> all(static_cast<std::size_t>(s.pipeline), rest / between);
    if (first > 0) all.front() = first;
    if (last > 0) all.back() = last;
    return all;
  }

  // "Et*3|tt|(t|)*2tL": the layers of each stage.
  void read_layout(const std::string& layout) {
    std::vector<std::int64_t> stages;
    std::string flat = expanded(layout);
    std::int64_t layers = 0;
    for (const char c : flat + "|") {
      if (c == '|') {
        stages.push_back(layers), layers = 0;
      } else if (c == 't') {
        ++layers;
      } else if (c != 'E' && c != 'L') {
        reject_settings(file_, fmt::format("the layout \"{}\" has '{}'; understood are E, t, L, |, repetitions", layout, c));
      }
    }
    Strategy& s = r_.strategy;
    const auto count = static_cast<std::int64_t>(stages.size());
    if (count % s.pipeline != 0)
      reject_settings(file_, fmt::format("the layout \"{}\" has {} stages; {} ranks have as many each", layout, count, s.pipeline));
    s.stages_per_rank = count / s.pipeline;
    std::int64_t sum = 0;
    for (const std::int64_t n : stages) sum += n;
    if (sum != f_.model.layers)
      reject_settings(file_, fmt::format("the layout \"{}\" has {} layers; the model has {}", layout, sum, f_.model.layers));
    adopt_division(f_, stages, fmt::format("the layout \"{}\"", layout), r_);
  }

  // Repetitions written out: x*3 and (...)*3; commas mean nothing.
  std::string expanded(const std::string& layout) const {
    std::string out;
    std::size_t unit = std::string::npos;
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < layout.size(); ++i) {
      const char c = layout[i];
      if (c == ',') continue;
      if (c == '(') {
        open.push_back(out.size());
      } else if (c == ')') {
        if (open.empty()) reject_settings(file_, fmt::format("the layout \"{}\" closes what is not open", layout));
        unit = open.back(), open.pop_back();
      } else if (c == '*') {
        std::int64_t times = 0;
        const auto [end, error] = std::from_chars(layout.data() + i + 1, layout.data() + layout.size(), times);
        if (error != std::errc() || times < 1 || times > 100'000 || unit == std::string::npos)
          reject_settings(file_, fmt::format("the layout \"{}\": a number is expected after *", layout));
        const std::string repeated = out.substr(unit);
        for (std::int64_t k = 1; k < times; ++k) out += repeated;
        i = static_cast<std::size_t>(end - layout.data()) - 1;
      } else {
        unit = out.size();
        out += c;
      }
    }
    return out;
  }

  void memory() {
    Strategy& s = r_.strategy;
    const bool splits = replicas_of(s) > 1, shards = has("use-megatron-fsdp");
    if (has("use-distributed-optimizer") && splits && !shards) s.zero = 1;
    if (shards && !has("data-parallel-sharding-strategy"))
      r_.notes.push_back(
          "--use-megatron-fsdp without --data-parallel-sharding-strategy: nothing is sharded (no_shard), nor is the optimizer");
    if (has("data-parallel-sharding-strategy")) {
      const std::string how = text("data-parallel-sharding-strategy");
      const std::vector<std::string> known{"no_shard", "optim", "optim_grads", "optim_grads_params"};
      const auto at = std::ranges::find(known, how);
      if (at == known.end())
        reject_settings(file_, fmt::format("--data-parallel-sharding-strategy {}: it is one of {}", how, fmt::join(known, ", ")));
      if (!shards)
        r_.notes.push_back(fmt::format(
            "--data-parallel-sharding-strategy {}: without --use-megatron-fsdp it changes nothing; this is zero={}", how, s.zero));
      if (splits && shards) s.zero = static_cast<std::int32_t>(at - known.begin());
    }
    const std::string granularity = text("recompute-granularity", has("recompute-activations") ? "selective" : "");
    if (granularity == "full") {
      s.recompute = Recompute::full;
      if (text("recompute-method") == "block") s.recompute_first = number("recompute-num-layers", 1);
    } else if (granularity == "selective") {
      s.recompute = Recompute::selective;
      if (const std::string modules = text("recompute-modules", "core_attn"); modules != "core_attn")
        r_.notes.push_back(fmt::format("--recompute-modules {}: core_attn is assumed", modules));
    } else if (!granularity.empty()) {
      reject_settings(file_, fmt::format("--recompute-granularity {}: it is full or selective", granularity));
    }
    s.offload_optimizer = has("optimizer-cpu-offload"), s.offload_activations = has("cpu-offloading");
    if (has("fp8-format")) s.precision = text("fp8-recipe") == "mxfp8" ? Precision::mxfp8 : Precision::fp8;
  }

  const StrategyFacts& f_;
  std::string file_;
  std::map<std::string, std::string> flags_;
  ReadSettings r_;
};

}  // namespace

EmitTarget emit_megatron() {
  EmitTarget t;
  t.name = "megatron";
  t.doc = "flags of Megatron-LM, stages of different sizes as a layout";
  t.settings = [](const StrategyFacts& f, const Strategy& s) { return FlagWriter(f, s).write(); };
  t.read = [](const std::string& text, const StrategyFacts& f, std::int64_t devices, std::int64_t batch, const std::string& file) {
    return FlagReader(text, f, devices, batch, file).read();
  };
  return t;
}

}  // namespace pando::search
