// A strategy file of Galvatron (hetu-galvatron 2.4): JSON with a list of settings by layer.
#include "search/settings/emit_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace pando::search {

namespace {

using Json = nlohmann::ordered_json;

// The same for each layer.
std::string each_layer(std::int64_t layers, std::int64_t value) {
  return fmt::format("{}", fmt::join(std::vector<std::int64_t>(static_cast<std::size_t>(layers), value), ","));
}

// What the file has no member for.
void say_what_is_missing(const StrategyFacts& f, const Strategy& s, SettingsNotes& notes) {
  if (s.recompute == Recompute::selective || s.recompute == Recompute::alternate) {
    notes.unsaid(&Strategy::recompute, Recompute::none, fmt::format("recompute={}; nothing is computed again", name_of(s.recompute)));
    if (s.recompute_first > 0) notes.unsaid(&Strategy::recompute_first, 0, fmt::format("recompute-first={}", s.recompute_first));
  }
  if (schedule_of(s) != PipelineSchedule::one_f_one_b)
    notes.unsaid(&Strategy::schedule, name_of(PipelineSchedule::one_f_one_b), fmt::format("schedule={}; 1F1B runs instead", s.schedule));
  if (s.stages_per_rank > 1) notes.unsaid(&Strategy::stages_per_rank, 1, fmt::format("v={}; a rank has one stage", s.stages_per_rank));
  if (s.zero == 1) notes.unsaid(&Strategy::zero, 2, "zero=1; zero2 runs instead");
  if (s.context > 1) {
    notes.unsaid(&Strategy::context, 1, fmt::format("c={}; these devices share the batch: d={}, and b with it", s.context, replicas_of(s)));
    notes.set(&Strategy::data, replicas_of(s));
    notes.set(&Strategy::microbatch, std::max<std::int64_t>(1, f.batch / replicas_of(s) / f.microbatches(s)));
  }
  if (s.expert_in_data > 1) notes.unsaid(&Strategy::expert_in_data, 1, fmt::format("e={}; experts are not split", s.expert_in_data));
  if (s.tensor > 1)
    notes.unsaid(
        fmt::format("comm={}; Galvatron's option --sequence-parallel decides", s.sequence_parallel ? "sequence-parallel" : "all-reduce"));
  if (s.sequence_parallel && !s.regather && !recomputes_all(notes.runs()))
    notes.unsaid(&Strategy::regather, true,
                 "inputs that are kept; its layers gather them again on the way back (regather), which keeps less");
  if (s.data_overlap) notes.unsaid("data-overlap; options of the program decide when gradients are reduced");
  if (s.tensor_overlap != TensorOverlap::none)
    notes.unsaid(&Strategy::tensor_overlap, TensorOverlap::none, "overlap; tensor-parallel transfers are waited for");
  if (s.offload_weights) notes.unsaid(&Strategy::offload_weights, false, "offload-weights; they stay on the device");
  if (s.offload_optimizer) notes.unsaid(&Strategy::offload_optimizer, false, "offload-optimizer; its states stay on the device");
  if (s.offload_activations) notes.unsaid(&Strategy::offload_activations, false, "offload-activations; they stay on the device");
  if (s.precision != Precision::bf16)
    notes.unsaid(&Strategy::precision, Precision::bf16, fmt::format("precision={}; products run in bf16", name_of(s.precision)));
}

Settings write_galvatron(const StrategyFacts& f, const Strategy& s) {
  SettingsNotes notes(s);
  say_what_is_missing(f, s, notes);
  const std::int64_t n = f.model.layers;
  Strategy plain = s;
  plain.schedule = name_of(PipelineSchedule::one_f_one_b), plain.stages_per_rank = 1;
  // Computed again layer by layer; attention alone cannot be said.
  std::vector<std::int64_t> again(static_cast<std::size_t>(n), s.recompute == Recompute::full && s.recompute_first == 0 ? 1 : 0);
  const std::vector<std::int64_t> ranks = layers_of_ranks(f, plain);
  if (s.recompute == Recompute::full && s.recompute_first > 0) {
    std::size_t begin = 0;
    for (const std::int64_t layers : ranks) {
      for (std::int64_t i = 0; i < std::min(layers, s.recompute_first); ++i) again[begin + static_cast<std::size_t>(i)] = 1;
      begin += static_cast<std::size_t>(layers);
    }
  }
  const Json j = {{"comment", notes.lines(f, s)},
                  {"pp_deg", s.pipeline},
                  {"tp_sizes_enc", each_layer(n, s.tensor)},
                  {"tp_consecutive_flags", each_layer(n, 1)},
                  {"dp_types_enc", each_layer(n, s.zero == 3 ? 1 : 0)},
                  {"use_sp", each_layer(n, 0)},
                  {"checkpoint", fmt::format("{}", fmt::join(again, ","))},
                  {"global_bsz", f.batch},
                  {"chunks", f.microbatches(s)},
                  {"pp_division", fmt::format("{}", fmt::join(ranks, ","))},
                  {"pipeline_type", "pipedream_flush"},
                  {"default_dp_type", s.zero == 0 ? "ddp" : "zero2"},
                  {"vtp", s.tensor},
                  {"vsp", 0}};
  return std::move(notes).with(j.dump(2) + "\n");
}

// "2,2,2": one value, or a rejection. `layers`: how many there are where there is a list; 0: any number.
std::int64_t one_of(const Json& j, const char* name, std::int64_t otherwise, const std::string& file, std::int64_t layers = 0) {
  if (!j.contains(name)) return otherwise;
  const std::string text = j[name].is_string() ? j[name].get<std::string>() : j[name].dump();
  std::int64_t first = -1;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string item = text.substr(at, end - at);
    if (item.empty() || item.size() > 12 || item.find_first_not_of("0123456789") != std::string::npos)
      reject_settings(file, fmt::format("{} is '{}'; whole numbers are expected", name, text));
    const std::int64_t n = std::stoll(item);
    if (n > kMostOfSettings) reject_settings(file, fmt::format("{} is {}; at most {} is possible", name, n, kMostOfSettings));
    if (first >= 0 && n != first)
      reject_settings(file, fmt::format("{} differs from layer to layer ('{}'); strategies have one value for all", name, text));
    first = n;
    at = end + 1;
  }
  const std::int64_t items = std::ranges::count(text, ',') + 1;
  if (layers > 0 && items > 1 && items != layers)
    reject_settings(file, fmt::format("{} has {} layers; the model has {}", name, items, layers));
  return first;
}

// 0 or 1 for each layer.
bool flag_of(const Json& j, const char* name, const StrategyFacts& f, const std::string& file) {
  const std::int64_t n = one_of(j, name, 0, file, f.model.layers);
  if (n > 1) reject_settings(file, fmt::format("{} has {}; 0 or 1 is expected for each layer", name, n));
  return n == 1;
}

ReadSettings read_galvatron(const std::string& text, const StrategyFacts& f, std::int64_t devices, std::int64_t batch,
                            const std::string& file) {
  const Json j = Json::parse(text, nullptr, false);
  if (!j.is_object() || !j.contains("pp_deg") || !j.contains("tp_sizes_enc"))
    reject_settings(file, "it is not a strategy of Galvatron: pp_deg and tp_sizes_enc are expected");
  ReadSettings r;
  Strategy& s = r.strategy;
  s.pipeline = one_of(j, "pp_deg", 1, file), s.tensor = one_of(j, "tp_sizes_enc", 1, file, f.model.layers);
  if (devices == 0) reject_settings(file, "a strategy of Galvatron does not say how many devices there are; say --devices");
  if (s.pipeline < 1 || s.tensor < 1 || devices % (std::int64_t{s.pipeline} * s.tensor) != 0)
    reject_settings(file, fmt::format("{} devices are not a multiple of {} x {}", devices, s.pipeline, s.tensor));
  s.data = devices / s.pipeline / s.tensor;
  r.devices = devices;
  r.batch = one_of(j, "global_bsz", batch, file);
  if (r.batch == 0) reject_settings(file, "there is no global_bsz; say --batch");
  const std::int64_t chunks = std::max<std::int64_t>(1, one_of(j, "chunks", 1, file));
  s.microbatch = std::max<std::int64_t>(1, r.batch / s.data / chunks);
  const Json type = j.value("default_dp_type", Json("ddp"));
  if (type != "ddp" && type != "zero2" && type != "zero3")
    reject_settings(file, fmt::format("default_dp_type is {}; it is one of ddp, zero2, zero3", type.dump()));
  const bool whole = flag_of(j, "dp_types_enc", f, file);
  if (s.data > 1) s.zero = whole || type == "zero3" ? 3 : type == "zero2" ? 2 : 0;
  s.recompute = flag_of(j, "checkpoint", f, file) ? Recompute::full : Recompute::none;
  if (s.tensor > 1) s.sequence_parallel = true;
  s.regather = s.tensor > 1 && !recomputes_all(s);
  if (s.pipeline > 1 && j.contains("pp_division")) {
    const auto division_of = [&](bool weighed) {
      Strategy with = s;
      with.weighed = weighed;
      return fmt::format("{}", fmt::join(layers_of_ranks(f, with), ","));
    };
    s.weighed = f.model.experts == 0 && j["pp_division"] != division_of(false) && j["pp_division"] == division_of(true);
    const std::string division = division_of(s.weighed);
    if (j["pp_division"] != division) r.notes.push_back(fmt::format("pp_division {}: {} is assumed", j["pp_division"].dump(), division));
  }
  return r;
}

}  // namespace

EmitTarget emit_galvatron() {
  EmitTarget t;
  t.name = "galvatron";
  t.doc = "a strategy file of Galvatron";
  t.settings = write_galvatron;
  t.read = read_galvatron;
  return t;
}

}  // namespace pando::search
