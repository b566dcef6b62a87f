#include "search/programs/bridge.h"

#include "base/error.h"
#include "models/gpt.h"

namespace pando::search {

namespace {

[[noreturn]] void no_transform(const char* what) {
  fail(ErrorKind::poplar_error, "strategy-runs", "no transform does this: {}; a search for a program leaves it out", what);
}

const char* schedule_of(const Strategy& s) {
  switch (s.schedule) {
    case PipelineSchedule::one_f_one_b: return s.interleave > 1 ? "Interleaved1F1B" : "1F1B";
    case PipelineSchedule::zero_bubble_h1: return "ZB-H1";
    case PipelineSchedule::zero_bubble_h2: return "ZB-H2";
    case PipelineSchedule::zero_bubble_v: return "ZBV";
  }
  return "1F1B";
}

}  // namespace

void check_has_program(const Transformer& t) {
  const bool plain = t.keys() == t.heads && t.size_of_head() * t.heads == t.hidden && !t.gated && t.experts == 0 && !t.latent();
  if (!plain) {
    fail(ErrorKind::poplar_error, "transformer-program",
         "'{}' has grouped keys, gated layers, experts or latent attention; programs are built of GPT-2 and GPT-3 style transformers",
         t.name);
  }
}

transform::Program program_of(const Transformer& t, std::int64_t batch, ir::DType dtype) {
  check_has_program(t);
  models::Gpt g;
  g.layers = t.layers;
  g.heads = t.heads;
  g.width = t.hidden;
  g.inner = t.ffn;
  g.vocabulary = t.vocab;
  g.sequence = t.seq;
  g.batch = batch;
  g.dtype = dtype;
  g.optimizer.kind = models::Optimizer::adam;
  return models::build_gpt(g);
}

transform::Strategy transforms_of(const Transformer& model, const Strategy& s) {
  if (s.comm == TensorComm::split_all_reduce) no_transform("all-reduces in two parts with whole tensors between them");
  if (s.recompute == Recompute::alternate) no_transform("computing every other product again");
  if (s.regather) no_transform("gathering a layer's input again on the way back");
  if (s.tensor_overlap != TensorOverlap::none) no_transform("tensor-parallel transfers beside products");
  if (s.precision != Precision::bf16) no_transform("products in 8-bit floats");
  if (s.data_overlap) no_transform("gradients reduced beside the last backward pass");
  if (s.post_validation) no_transform("updates that are looked at behind");
  transform::Strategy t;
  t.first_device = 0;
  t.tensor = static_cast<std::int32_t>(s.tensor);
  t.pipeline = static_cast<std::int32_t>(s.pipeline);
  t.expert = static_cast<std::int32_t>(s.expert);
  t.data = static_cast<std::int32_t>(s.data / s.expert);
  t.context = static_cast<std::int32_t>(s.context);
  t.microbatches = static_cast<std::int32_t>(s.microbatches());
  t.stages_per_rank = static_cast<std::int32_t>(s.chunks());
  t.schedule = schedule_of(s);
  t.zero = static_cast<std::int32_t>(s.zero);
  t.recompute = s.recompute == Recompute::full        ? transform::Recompute::full
                : s.recompute == Recompute::attention ? transform::Recompute::selective
                                                      : transform::Recompute::none;
  // The embedding is layer 0 of the program.
  const std::int64_t each = s.recompute_first > 0 ? model.layers / (s.pipeline * s.chunks()) : 0;
  for (std::int64_t l = 0; each > 0 && l < model.layers; ++l) {
    if (l % each < s.recompute_first) t.recomputed_layers.push_back(static_cast<std::uint32_t>(l + 1));
  }
  t.sequence_parallel = s.comm == TensorComm::sequence_parallel && s.tensor > 1;
  t.offload_weights = s.offload_weights;
  t.offload_activations = s.offload_activations;
  t.offload_optimizer = s.offload_optimizer;
  return t;
}

}  // namespace pando::search
