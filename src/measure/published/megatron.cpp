// Megatron-LM on Selene, and what else was measured on A100 and H100.
#include "measure/published/sets.h"
#include "search/stack.h"

#include <fmt/format.h>

#include <cmath>

namespace pando::measure {

using namespace search;

namespace {

Transformer gpt_of(const simulate::Csv& csv, std::size_t i) {
  Transformer m;
  m.layers = csv.count(i, "layers");
  m.heads = csv.count(i, "heads");
  m.hidden = csv.count(i, "hidden");
  m.ffn = csv.has("ffn") ? csv.count(i, "ffn") : 4 * m.hidden;
  m.seq = csv.count(i, "seq");
  if (csv.has("vocab")) m.vocab = csv.count(i, "vocab");
  return m;
}

void set_recompute(Strategy& s, const std::string& text) {
  s.recompute = text.starts_with("full") ? Recompute::full : text.starts_with("selective") ? Recompute::selective : Recompute::none;
  if (text.find("sequence_parallel") == std::string::npos) return;
  s.sequence_parallel = true;
  s.regather = s.recompute != Recompute::full;
}

}  // namespace

PublishedSet selene_steps_set(const simulate::Csv& csv) {
  PublishedSet set;
  set.name = "selene_steps";
  set.note =
      "seconds of an iteration. Four constants (what products reach and from which size on, memory's and NVLink's efficiency) were "
      "chosen on a coarse grid with these eight "
      "rows.";
  const auto& selene = simulate::cluster_named("selene");
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    Strategy s;
    s.tensor = csv.count(i, "tp"), s.pipeline = csv.count(i, "pp"), s.data = csv.count(i, "dp"),
    s.stages_per_rank = csv.count(i, "interleave");
    s.microbatch = csv.count(i, "microbatch_size");
    set_recompute(s, csv.text(i, "recompute"));
    PublishedRow r;
    r.set = set.name;
    r.what = fmt::format("{} {}", csv.text(i, "model"), csv.text(i, "recompute"));
    r.unit = "s";
    r.measured = csv.number(i, "iteration_s_measured");
    r.predicted = estimate(facts_of(gpt_of(csv, i), selene, csv.count(i, "global_batch")), s).seconds;
    const std::string& model = csv.text(i, "model");
    r.calibrates = model == "megatron-22B" || model == "gpt3-175B" || model == "turing-530B" || model == "megatron-1T";
    set.rows.push_back(std::move(r));
  }
  return set;
}

PublishedSet selene_memory_set(const simulate::Csv& csv) {
  PublishedSet set;
  set.name = "selene_memory";
  set.note =
      "activations of the first stage, GiB or percent of what is kept without recomputation (the authors' formulas, not "
      "measurements). Nothing is calibrated.";
  const auto activations = [&](const std::string& model, const std::string& recompute) {
    Transformer m = transformer_named(model == "megatron-22B" ? "megatron-22b" : "gpt3-175b");
    m.vocab = m.learned_positions = 0;
    Strategy s;
    s.tensor = 8;
    s.pipeline = model == "megatron-22B" ? 1 : 8;
    s.stages_per_rank = s.pipeline > 1 ? 3 : 1;
    s.microbatch = model == "megatron-22B" ? 4 : 1;
    set_recompute(s, recompute);
    if (recompute == "sequence_parallel") s.regather = true;
    return estimate(facts_of(m, simulate::cluster_named("selene"), s.pipeline > 1 ? 64 : 4), s).memory;
  };
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    const std::string &model = csv.text(i, "model"), &recompute = csv.text(i, "recompute");
    if (model != "megatron-22B" && model != "gpt3-175B") {
      set.left_out.push_back(fmt::format(
          "{} {}: the table does not give the sizes of this model; they are known of megatron-22B and gpt3-175B", model, recompute));
      continue;
    }
    const auto kind = static_cast<std::size_t>(simulate::MemoryKind::activations);
    const auto memory = activations(model, recompute);
    const bool percent = csv.text(i, "quantity") == "activation_pct_of_none";
    PublishedRow r;
    r.set = set.name;
    r.what = fmt::format("{} {} {}", model, recompute, percent ? "percent" : "GiB");
    r.unit = percent ? "%" : "GiB";
    r.measured = csv.number(i, percent ? "activation_pct" : "activations_GiB");
    r.predicted = percent ? 100 * memory[kind] / activations(model, "none")[kind] : memory[kind] / kGib;
    set.rows.push_back(r);
    if (percent) continue;
    r.what = fmt::format("{} {} weights, gradients, optimizer", model, recompute);
    r.measured = csv.number(i, "params_and_optimizer_GiB");
    r.predicted = (memory[0] + memory[1] + memory[2]) / kGib;
    set.rows.push_back(std::move(r));
  }
  return set;
}

PublishedSet sc21_table1_set(const simulate::Csv& csv) {
  PublishedSet set;
  set.name = "megatron_sc21_table1";
  set.note =
      "seconds of an iteration (derived from TFLOP/s). The microbatch is not published: the quickest that fits is taken, with "
      "interleaving where layers allow it, full recomputation. "
      "Nothing is calibrated; the software is two years older than selene_steps'.";
  const auto& selene = simulate::cluster_named("selene");
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    const Transformer m = gpt_of(csv, i);
    PublishedRow r;
    r.set = set.name;
    r.what = fmt::format("{}B on {}", csv.text(i, "params_B"), csv.text(i, "gpus"));
    r.unit = "s";
    r.measured = csv.number(i, "iteration_s_derived");
    r.predicted = 1e30;
    for (std::int64_t b : {1, 2, 4, 8, 16}) {
      Strategy s;
      s.tensor = csv.count(i, "tp"), s.pipeline = csv.count(i, "pp"), s.data = csv.count(i, "dp"), s.microbatch = b;
      s.recompute = Recompute::full;
      const StrategyFacts facts = facts_of(m, selene, csv.count(i, "global_batch"));
      if (first_violation(facts, s)) continue;
      const Estimate e = estimate(facts, s);
      if (e.memory_bytes() <= static_cast<double>(selene.memory_bytes)) r.predicted = std::min(r.predicted, e.seconds);
    }
    if (r.predicted < 1e30)
      set.rows.push_back(std::move(r));
    else
      set.left_out.push_back(r.what + ": no microbatch fits");
  }
  return set;
}

PublishedSet sc21_table2_set(const simulate::Csv& csv) {
  PublishedSet set;
  set.name = "megatron_sc21_table2";
  set.note =
      "TFLOP/s of a device, 175B. PTD-P as t=8 p=12, ZeRO-3 as zero=3, full recomputation. Nothing is calibrated. PTD-P by "
      "--machine selene --stack megatron-2023, ZeRO-3 by --stack deepspeed.";
  const simulate::Cluster selene = with_stack(simulate::cluster_named("selene"), stack_named("megatron-2023")),
                          waiting = with_stack(simulate::cluster_named("selene"), stack_named("deepspeed"));
  const Transformer m = transformer_named("gpt3-175b");
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    Strategy s;
    const bool zero = csv.text(i, "scheme") == "ZeRO-3";
    s.tensor = zero ? 1 : 8, s.pipeline = zero ? 1 : 12, s.zero = zero ? 3 : 0, s.recompute = Recompute::full;
    const std::int64_t gpus = csv.count(i, "gpus"), batch = csv.count(i, "global_batch");
    s.data = gpus / (s.tensor * s.pipeline), s.microbatch = csv.count(i, "microbatch_size");
    const std::string what = fmt::format("{} on {}", csv.text(i, "scheme"), gpus);
    if (gpus % (s.tensor * s.pipeline) != 0) {
      set.left_out.push_back(fmt::format("{}: {} devices do not divide over t={} p={}", what, gpus, s.tensor, s.pipeline));
      continue;
    }
    if (std::abs(csv.number(i, "params_B") - 1e-9 * m.parameters()) > 2) {
      set.left_out.push_back(
          fmt::format("{}: a model of {} billion parameters, whose sizes the table does not give", what, csv.text(i, "params_B")));
      continue;
    }
    if (batch % (s.data * s.microbatch) != 0) {
      set.left_out.push_back(fmt::format("{}: a batch of {} does not divide over {} x {}", what, batch, s.data, s.microbatch));
      continue;
    }
    const auto h = static_cast<double>(m.hidden), l = static_cast<double>(m.layers), seq = static_cast<double>(m.seq);
    const double operations =
        96 * static_cast<double>(batch) * seq * l * h * h * (1 + seq / (6 * h) + static_cast<double>(m.vocab) / (16 * l * h));
    PublishedRow r;
    r.set = set.name;
    r.what = fmt::format("{} on {}", csv.text(i, "scheme"), gpus);
    r.unit = "TFLOP/s";
    r.measured = csv.number(i, "tflops_per_gpu_measured");
    r.predicted = operations / static_cast<double>(gpus) / estimate(facts_of(m, zero ? waiting : selene, batch), s).seconds / 1e12;
    set.rows.push_back(std::move(r));
  }
  return set;
}

PublishedSet mtnlg_set(const simulate::Csv& csv) {
  PublishedSet set;
  set.name = "mtnlg_530B";
  set.note = "seconds of an iteration, full recomputation, microbatch 1. Nothing is calibrated.";
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    Strategy s;
    s.tensor = csv.count(i, "tp"), s.pipeline = csv.count(i, "pp"), s.data = csv.count(i, "dp");
    s.recompute = Recompute::full;
    PublishedRow r{set.name, fmt::format("530B on {}", csv.text(i, "gpus")), "s", csv.number(i, "iteration_s_measured"), 0, false};
    const Transformer m = transformer_named("turing-530b");
    r.predicted = estimate(facts_of(m, simulate::cluster_named("selene"), csv.count(i, "global_batch")), s).seconds;
    set.rows.push_back(std::move(r));
  }
  return set;
}

PublishedSet torchtitan_set(const simulate::Csv& csv, bool memory) {
  PublishedSet set;
  set.name = memory ? "torchtitan_h100 memory" : "torchtitan_h100";
  set.note =
      memory
          ? "GiB of a device, by --machine h100-500w --stack torchtitan (torchtitan-eager: rows that are not compiled). Nothing is "
            "calibrated."
          : "tokens a second and device, by --machine h100-500w --stack torchtitan (torchtitan-eager: rows that are not compiled). Nothing "
            "is calibrated: products as measured on another H100, in proportion to the power limit.";
  const simulate::Cluster h100 = simulate::cluster_named("h100-500w"), compiled = with_stack(h100, stack_named("torchtitan")),
                          eager = with_stack(h100, stack_named("torchtitan-eager"));
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    const std::string& name = csv.text(i, "model");
    Transformer m = transformer_named(name.starts_with("llama3.1-405B")  ? "llama3-405b"
                                      : name.starts_with("llama3.1-70B") ? "llama3-70b"
                                                                         : "llama3-8b");
    m.seq = csv.count(i, "seq");
    Strategy s;
    s.tensor = csv.count(i, "tp"), s.data = csv.count(i, "fsdp"), s.pipeline = csv.count(i, "pp"), s.context = csv.count(i, "cp");
    s.microbatch = s.pipeline > 1 ? 1 : csv.count(i, "local_batch");
    s.zero = 3, s.data_overlap = true;
    // Tensor parallelism splits along the sequence, too; async TP hides its transfers.
    if (s.tensor > 1) s.sequence_parallel = true;
    if (name.find("async") != std::string::npos) s.tensor_overlap = TensorOverlap::ring;
    s.precision = csv.integer(i, "float8") != 0 ? Precision::fp8 : Precision::bf16;
    s.recompute = csv.text(i, "recompute") == "full" ? Recompute::full : Recompute::alternate;
    const std::int64_t batch = csv.count(i, "global_batch");
    const Estimate e = estimate(facts_of(m, csv.integer(i, "compile") != 0 ? compiled : eager, batch), s);
    PublishedRow r;
    r.set = set.name;
    r.what = fmt::format("{} on {}{}", csv.text(i, "model"), csv.text(i, "gpus"), csv.integer(i, "compile") ? ", compiled" : "") +
             (s.precision == Precision::fp8 ? ", float8" : "");
    r.unit = memory ? "GiB" : "tokens/s";
    r.measured = csv.number(i, memory ? "memory_GiB_measured" : "tokens_per_s_per_gpu_measured");
    r.predicted =
        memory ? e.memory_bytes() / kGib : static_cast<double>(batch * m.seq) / static_cast<double>(csv.count(i, "gpus")) / e.seconds;
    set.rows.push_back(std::move(r));
  }
  return set;
}

}  // namespace pando::measure
