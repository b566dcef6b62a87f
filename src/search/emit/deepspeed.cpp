// A configuration of DeepSpeed: JSON. Comments stand in a member that DeepSpeed passes over.
#include "search/settings/emit_settings.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace pando::search {

namespace {

using Json = nlohmann::ordered_json;

// DeepSpeed has no optimizer of ZeRO 0 on the host, and brings weights off chip at ZeRO 3 alone.
Json zero_settings(const Strategy& s, SettingsNotes& notes) {
  Json zero = {{"stage", s.zero}, {"overlap_comm", s.data_overlap}};
  if (s.offload_optimizer && s.zero == 0) {
    notes.unsaid(&Strategy::offload_optimizer, false, "offload-optimizer at zero=0; DeepSpeed takes offload_optimizer with a stage from 1");
  } else if (s.offload_optimizer) {
    zero["offload_optimizer"] = {{"device", "cpu"}, {"pin_memory", true}};
  }
  if (s.offload_weights && s.zero < 3) {
    notes.unsaid(&Strategy::offload_weights, false,
                 fmt::format("offload-weights at zero={}; DeepSpeed takes offload_param with stage 3", s.zero));
  } else if (s.offload_weights) {
    zero["offload_param"] = {{"device", "cpu"}, {"pin_memory", true}};
  }
  if (s.zero >= 2 && s.pipeline > 1)
    notes.unsaid(fmt::format("p={} with zero={}; DeepSpeed rejects a pipeline with ZeRO 2 or 3", s.pipeline, s.zero));
  if (s.zero == 3 && s.tensor > 1) notes.unsaid(fmt::format("t={} with zero=3; DeepSpeed rejects autotp_size with ZeRO 3", s.tensor));
  return zero;
}

void recompute_settings(const Strategy& s, Json& j, SettingsNotes& notes) {
  if (s.recompute != Recompute::none) {
    j["activation_checkpointing"] = {{"partition_activations", false}, {"cpu_checkpointing", s.offload_activations}};
    const std::string_view around = s.recompute == Recompute::full        ? "each layer"
                                    : s.recompute == Recompute::selective ? "attention"
                                                                          : "every other product";
    notes.unsaid(fmt::format("recompute={}; the program calls deepspeed.checkpointing.checkpoint around {}", name_of(s.recompute), around));
    if (s.recompute_first > 0)
      notes.unsaid(fmt::format("recompute-first={0}; the program does so in the first {0} layers of each stage", s.recompute_first));
  } else if (s.offload_activations) {
    notes.unsaid(&Strategy::offload_activations, false, "offload-activations; DeepSpeed brings to the host what it checkpoints alone");
  }
}

Settings write_deepspeed(const StrategyFacts& f, const Strategy& s) {
  SettingsNotes notes(s);
  Json j = {{"comment", Json::array()},
            {"train_batch_size", f.batch},
            {"train_micro_batch_size_per_gpu", s.microbatch},
            {"gradient_accumulation_steps", f.microbatches(s)},
            {"bf16", {{"enabled", true}}},
            {"zero_optimization", zero_settings(s, notes)}};
  if (s.tensor > 1) j["tensor_parallel"] = {{"autotp_size", s.tensor}};
  if (s.context > 1)
    notes.unsaid(fmt::format("c={}; the program calls DeepSpeed's sequence parallelism, in groups of {} devices", s.context, s.context));
  if (s.pipeline > 1) {
    j["pipeline"] = {{"partition", "uniform"}};
    notes.unsaid(fmt::format("p={}; the program builds PipelineModule(layers, num_stages={})", s.pipeline, s.pipeline));
    if (schedule_of(s) != PipelineSchedule::one_f_one_b)
      notes.unsaid(&Strategy::schedule, name_of(PipelineSchedule::one_f_one_b), fmt::format("schedule={}; 1F1B runs instead", s.schedule));
    if (s.stages_per_rank > 1) notes.unsaid(&Strategy::stages_per_rank, 1, fmt::format("v={}; a rank has one stage", s.stages_per_rank));
  }
  if (s.expert_in_data > 1)
    notes.unsaid(fmt::format("e={}; the program builds MoE layers with ep_size={}", s.expert_in_data, s.expert_in_data));
  recompute_settings(s, j, notes);
  if (s.sequence_parallel) notes.unsaid(&Strategy::sequence_parallel, false, "comm=sequence-parallel; AutoTP all-reduces");
  if (s.regather) notes.unsaid(&Strategy::regather, false, "regather; whole inputs are kept");
  if (s.tensor_overlap != TensorOverlap::none)
    notes.unsaid(&Strategy::tensor_overlap, TensorOverlap::none, "overlap; tensor-parallel transfers are waited for");
  if (s.precision != Precision::bf16)
    notes.unsaid(&Strategy::precision, Precision::bf16, fmt::format("precision={}; products run in bf16", name_of(s.precision)));
  if (s.weighed) notes.unsaid("weighed; PipelineModule(partition_method=...) divides layers");
  j["comment"] = notes.lines(f, s);
  return std::move(notes).with(j.dump(2) + "\n");
}

std::int64_t whole(const Json& j, const char* name, std::int64_t otherwise, const std::string& file) {
  if (!j.contains(name) || j[name] == "auto") return otherwise;
  if (!j[name].is_number_integer() || j[name].get<std::int64_t>() < 0 || j[name].get<std::int64_t>() > kMostOfSettings)
    reject_settings(file, fmt::format("{} is {}; a whole number is expected", name, j[name].dump()));
  return j[name].get<std::int64_t>();
}

// By far not all that it has: one of these is in every configuration that says how a step is distributed.
constexpr const char* kOfConfigurations[] = {"train_batch_size",
                                             "train_micro_batch_size_per_gpu",
                                             "gradient_accumulation_steps",
                                             "zero_optimization",
                                             "tensor_parallel",
                                             "activation_checkpointing",
                                             "pipeline",
                                             "bf16",
                                             "fp16",
                                             "zero_allow_untested_optimizer"};

// A part of it; none: an empty one.
Json part(const Json& j, const char* name, const std::string& file) {
  if (!j.contains(name)) return Json::object();
  if (!j[name].is_object()) reject_settings(file, fmt::format("{} is {}; an object of JSON is expected", name, j[name].dump()));
  return j[name];
}

bool flag(const Json& j, const char* name, const std::string& file) {
  if (!j.contains(name) || j[name] == "auto") return false;
  if (!j[name].is_boolean()) reject_settings(file, fmt::format("{} is {}; true or false is expected", name, j[name].dump()));
  return j[name].get<bool>();
}

std::string device_of(const Json& zero, const char* name) {
  const bool says = zero.contains(name) && zero[name].is_object() && zero[name].contains("device") && zero[name]["device"].is_string();
  return says ? zero[name]["device"].get<std::string>() : std::string("none");
}

ReadSettings read_deepspeed(const std::string& text, const StrategyFacts&, std::int64_t devices, std::int64_t batch,
                            const std::string& file) {
  const Json j = Json::parse(text, nullptr, false);
  if (!j.is_object()) reject_settings(file, "it is not an object of JSON");
  ReadSettings r;
  Strategy& s = r.strategy;
  if (std::ranges::none_of(kOfConfigurations, [&](const char* name) { return j.contains(name); }))
    reject_settings(file, "it is not a configuration of DeepSpeed: it has no train_batch_size, zero_optimization or the like");
  const Json zero = part(j, "zero_optimization", file);
  s.zero = whole(zero, "stage", 0, file);
  if (s.zero > 3) reject_settings(file, fmt::format("zero_optimization.stage is {}; it is 0 to 3", s.zero));
  s.data_overlap = flag(zero, "overlap_comm", file);
  s.offload_optimizer = device_of(zero, "offload_optimizer") != "none", s.offload_weights = device_of(zero, "offload_param") != "none";
  s.tensor = std::max<std::int64_t>(1, whole(part(j, "tensor_parallel", file), "autotp_size", 1, file));
  if (devices == 0) reject_settings(file, "a configuration of DeepSpeed does not say how many devices there are; say --devices");
  if (devices % s.tensor != 0) reject_settings(file, fmt::format("{} devices are not a multiple of autotp_size {}", devices, s.tensor));
  r.devices = devices, s.data = devices / s.tensor;
  const std::int64_t micro = whole(j, "train_micro_batch_size_per_gpu", 0, file), steps = whole(j, "gradient_accumulation_steps", 0, file);
  std::int64_t all = whole(j, "train_batch_size", 0, file);
  if (all == 0) all = micro > 0 && steps > 0 ? micro * steps * s.data : batch;
  if (all == 0) reject_settings(file, "neither train_batch_size nor its parts are there; say --batch");
  s.microbatch = micro > 0 ? micro : steps > 0 ? std::max<std::int64_t>(1, all / s.data / steps) : 1;
  // The program says how many stages there are: the batch says it, too.
  const std::int64_t replicas = steps > 0 && all % (s.microbatch * steps) == 0 ? all / (s.microbatch * steps) : s.data;
  if (j.contains("pipeline") && replicas < s.data && s.data % replicas == 0) {
    s.pipeline = s.data / replicas, s.data = replicas;
    r.notes.push_back(
        fmt::format("pipeline: its degree is in the program; {} stages are what the batch leaves of {} devices", s.pipeline, devices));
  }
  if (steps > 0 && s.microbatch * steps * s.data != all)
    reject_settings(file,
                    fmt::format("train_batch_size {} is not {} x {} x {} devices, as DeepSpeed demands", all, s.microbatch, steps, s.data));
  r.batch = all;
  if (s.data == 1) s.zero = 0, s.data_overlap = false;
  if (j.contains("activation_checkpointing")) {
    s.recompute = Recompute::full;
    r.notes.emplace_back("activation_checkpointing: whole layers are assumed to be computed again; the program decides");
    s.offload_activations = flag(part(j, "activation_checkpointing", file), "cpu_checkpointing", file);
  }
  if (j.contains("pipeline") && s.pipeline == 1) r.notes.emplace_back("pipeline: its degree is in the program; one stage is assumed");
  return r;
}

}  // namespace

EmitTarget emit_deepspeed() {
  EmitTarget t;
  t.name = "deepspeed";
  t.doc = "a configuration of DeepSpeed";
  t.settings = write_deepspeed;
  t.read = read_deepspeed;
  return t;
}

}  // namespace pando::search
