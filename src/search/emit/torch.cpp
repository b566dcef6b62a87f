// PyTorch: the winner's program, a file for each distinct program of a rank (docs/level/emit.md).
#include "base/error.h"
#include "emit/emit.h"
#include "ir/op_row.h"
#include "search/programs/bridge.h"
#include "search/settings/emit_settings.h"
#include "transform/distribute/pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace pando::search {

namespace {

// What updates alone read and change, as Adam's moments do: check.py begins with zeros there, as training does.
std::vector<std::string> optimizer_states(const transform::Program& p) {
  const ir::Module& m = p.module;
  const ir::Graph& main = m.graph(m.main_graph());
  std::set<ir::ValueId> read;
  for (const ir::OpId o : main.ops) {
    if (p.phase_of(o) == transform::Phase::update) continue;
    for (const ir::ValueId v : m.operands(o)) read.insert(v);
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < main.inputs.size(); ++i) {
    if (!p.is_batch(i) && main.updated_inputs[i] != main.inputs[i] && !read.contains(main.inputs[i]))
      names.push_back(m.name_of(main.inputs[i]));
  }
  return names;
}

// Empty: check.py has the interpreter's values.
std::string write_program(const transform::Program& whole, const transform::Distributed& d, const std::string& folder) {
  emit::Options options;
  options.pieces = transform::pieces_of(whole, d);
  options.zeros = optimizer_states(whole);
  const emit::Emitted e = emit::torch_program(d.module, options);
  emit::write_folder(folder, e);
  return e.unchecked;
}

std::string emit_program(const transform::Program& whole, const transform::Distributed& d, const std::string& folder) {
  const std::string why = write_program(whole, d, folder);
  return why.empty() ? why : fmt::format("check.py in {} has no values of the interpreter: {}", folder, why);
}

// The same words in small: degrees of two, two layers on a stage, a narrow model.
struct SmallInstance {
  Transformer model;
  Strategy strategy;
  std::int64_t batch = 1;
};

SmallInstance small_instance(const StrategyFacts& f, const Strategy& strategy) {
  Strategy s = strategy;
  for (std::int32_t* degree : {&s.tensor, &s.pipeline, &s.data, &s.context, &s.expert_in_data, &s.stages_per_rank})
    *degree = std::min(*degree, 2);
  s.microbatch = 1;
  const std::int64_t microbatches = std::min<std::int64_t>(f.microbatches(strategy), 2 * s.pipeline);
  s.recompute_first = std::min<std::int64_t>(s.recompute_first, 1);
  Transformer t = f.model;
  t.name = f.model.name + ", small";
  t.layers = 2 * s.pipeline * stages_of_rank(s);
  t.heads = t.kv_heads = 4, t.head_size = 0, t.hidden = 32, t.ffn = 64, t.seq = 16, t.vocab = 64;
  t.learned_positions = std::min<std::int64_t>(t.learned_positions, t.seq);
  return {t, s, s.data * microbatches};
}

std::string emit_strategy(const StrategyFacts& f, const Strategy& s, const std::string& folder) {
  const auto write = [](const StrategyFacts& facts, const Strategy& strategy, ir::DType dtype, const std::string& to) {
    const transform::Program whole = program_of(facts.model, facts.batch, dtype);
    const Strategy t = transforms_of(facts, strategy);
    check_can_be_written(whole, t, "torch");
    return write_program(whole, transform::parallelise(whole, t), to);
  };
  if (write(f, s, ir::DType::float16, folder).empty()) return "";
  const auto [model, strategy, batch] = small_instance(f, s);
  const std::string small = (std::filesystem::path(folder) / "small").string();
  // Random weights and Adam's small terms leave the range of 16 bits.
  const std::string why = write({model, f.cluster, batch}, strategy, ir::DType::float32, small);
  if (!why.empty()) return fmt::format("check.py in {} has no values of the interpreter: {}", small, why);
  return fmt::format(
      "the step is too large for the interpreter; {} is a small instance ({} layers of width {}, {}), whose check.py has its "
      "values",
      small, model.layers, model.hidden, to_string(strategy, Spelling::brief));
}

}  // namespace

EmitTarget emit_torch() {
  EmitTarget t;
  t.name = "torch";
  t.doc = "the program as PyTorch for torchrun, with its check.py, in a folder (torch:DIR); of programs, too";
  t.folder = emit_strategy;
  t.program = emit_program;
  t.runnable = true;
  return t;
}

}  // namespace pando::search
