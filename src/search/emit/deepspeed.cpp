// A configuration of DeepSpeed: JSON. Comments stand in a member that DeepSpeed passes over.
#include "search/settings/emit_settings.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace pando::search {

namespace {

using Json = nlohmann::ordered_json;

std::string write_deepspeed(const StrategyFacts& f, const Strategy& s) {
  std::vector<std::string> notes = unsaid_anywhere(s);
  notes.insert(notes.begin(), headline(f, s));
  Json zero = {{"stage", s.zero}, {"overlap_comm", s.data_overlap}};
  if (s.offload_optimizer) zero["offload_optimizer"] = {{"device", "cpu"}, {"pin_memory", true}};
  if (s.offload_weights) zero["offload_param"] = {{"device", "cpu"}, {"pin_memory", true}};
  Json j = {{"comment", Json::array()},
            {"train_batch_size", f.batch},
            {"train_micro_batch_size_per_gpu", s.microbatch},
            {"gradient_accumulation_steps", f.microbatches(s)},
            {"bf16", {{"enabled", true}}},
            {"zero_optimization", zero}};
  if (s.tensor > 1) j["tensor_parallel"] = {{"autotp_size", s.tensor}};
  if (s.context > 1)
    notes.push_back(fmt::format("not said: c={}; sequence parallelism of DeepSpeed is called in the program: groups of {} devices",
                                s.context, s.context));
  if (s.pipeline > 1) {
    j["pipeline"] = {{"partition", "uniform"}};
    notes.push_back(fmt::format("not said: p={}; the program builds PipelineModule(layers, num_stages={})", s.pipeline, s.pipeline));
    if (schedule_of(s) != PipelineSchedule::one_f_one_b || s.stages_per_rank > 1)
      notes.push_back(fmt::format("not said: schedule={} v={}; 1F1B with one stage a rank runs instead", s.schedule, s.stages_per_rank));
    if (s.zero >= 2) notes.emplace_back("DeepSpeed has no pipeline with ZeRO 2 or 3; it refuses this");
  }
  if (s.expert_in_data > 1)
    notes.push_back(fmt::format("not said: e={}; the program builds MoE layers with ep_size={}", s.expert_in_data, s.expert_in_data));
  if (s.recompute != Recompute::none) {
    j["activation_checkpointing"] = {{"partition_activations", false}, {"cpu_checkpointing", s.offload_activations}};
    notes.push_back(fmt::format("not said: recompute={}; the program calls deepspeed.checkpointing.checkpoint around {}",
                                name_of(s.recompute), s.recompute == Recompute::full ? "each layer" : "attention"));
  }
  if (s.sequence_parallel) notes.emplace_back("not said: comm=sequence-parallel; AutoTP all-reduces");
  if (s.tensor_overlap != TensorOverlap::none) notes.emplace_back("not said: overlap; tensor-parallel transfers are waited for");
  if (s.precision != Precision::bf16) notes.push_back(fmt::format("not said: precision={}", name_of(s.precision)));
  if (s.weighed) notes.emplace_back("not said: weighed; PipelineModule(partition_method=...) divides layers");
  j["comment"] = notes;
  return j.dump(2) + "\n";
}

std::int64_t whole(const Json& j, const char* name, std::int64_t otherwise, const std::string& file) {
  if (!j.contains(name) || j[name] == "auto") return otherwise;
  if (!j[name].is_number_integer() || j[name].get<std::int64_t>() < 0 || j[name].get<std::int64_t>() > kMostOfSettings)
    refuse_settings(file, fmt::format("{} is {}; a whole number is expected", name, j[name].dump()));
  return j[name].get<std::int64_t>();
}

std::string device_of(const Json& zero, const char* name) {
  return zero.contains(name) && zero[name].is_object() ? zero[name].value("device", "none") : std::string("none");
}

ReadSettings read_deepspeed(const std::string& text, const StrategyFacts&, std::int64_t devices, std::int64_t batch,
                            const std::string& file) {
  const Json j = Json::parse(text, nullptr, false);
  if (!j.is_object()) refuse_settings(file, "it is no object of JSON");
  ReadSettings r;
  Strategy& s = r.strategy;
  const Json zero = j.value("zero_optimization", Json::object());
  s.zero = whole(zero, "stage", 0, file);
  if (s.zero > 3) refuse_settings(file, fmt::format("zero_optimization.stage is {}; it is 0 to 3", s.zero));
  s.data_overlap = zero.value("overlap_comm", false);
  s.offload_optimizer = device_of(zero, "offload_optimizer") != "none", s.offload_weights = device_of(zero, "offload_param") != "none";
  if (j.contains("tensor_parallel")) s.tensor = std::max<std::int64_t>(1, whole(j["tensor_parallel"], "autotp_size", 1, file));
  if (devices == 0) refuse_settings(file, "a configuration of DeepSpeed does not say how many devices there are; say --devices");
  if (devices % s.tensor != 0) refuse_settings(file, fmt::format("{} devices are no multiple of autotp_size {}", devices, s.tensor));
  r.devices = devices, s.data = devices / s.tensor;
  const std::int64_t micro = whole(j, "train_micro_batch_size_per_gpu", 0, file), steps = whole(j, "gradient_accumulation_steps", 0, file);
  std::int64_t all = whole(j, "train_batch_size", 0, file);
  if (all == 0) all = micro > 0 && steps > 0 ? micro * steps * s.data : batch;
  if (all == 0) refuse_settings(file, "neither train_batch_size nor its parts are there; say --batch");
  s.microbatch = micro > 0 ? micro : steps > 0 ? std::max<std::int64_t>(1, all / s.data / steps) : 1;
  if (steps > 0 && s.microbatch * steps * s.data != all)
    refuse_settings(file,
                    fmt::format("train_batch_size {} is not {} x {} x {} devices, as DeepSpeed demands", all, s.microbatch, steps, s.data));
  r.batch = all;
  if (s.data == 1) s.zero = 0, s.data_overlap = false;
  if (j.contains("activation_checkpointing")) {
    s.recompute = Recompute::full;
    r.notes.emplace_back("activation_checkpointing: whole layers are assumed to be computed again; the program decides");
    s.offload_activations = j["activation_checkpointing"].value("cpu_checkpointing", false);
  }
  if (j.contains("pipeline")) r.notes.emplace_back("pipeline: its degree is in the program; one stage is assumed");
  return r;
}

}  // namespace

EmitTarget emit_deepspeed() {
  EmitTarget t;
  t.name = "deepspeed";
  t.doc = "a configuration of DeepSpeed";
  t.text = write_deepspeed;
  t.read = read_deepspeed;
  return t;
}

}  // namespace pando::search
