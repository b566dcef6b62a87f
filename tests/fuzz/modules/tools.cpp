#include "modules/tools.h"

#include "exec/transports/in_process.h"
#include "ir/checks/read_module.h"
#include "ir/op_row.h"
#include "ir/semantics/interpreter.h"
#include "ir/text/print.h"
#include "measure/run.h"
#include "project/checks/check.h"
#include "project/loop.h"
#include "project/project.h"
#include "project/running/run.h"
#include "project/text/print.h"
#include "ranks/run.h"
#include "ranks/start/check_input.h"
#include "search/programs/program_search.h"
#include "session/session.h"
#include "simulate/cluster_json.h"
#include "simulate/costs/flatten.h"
#include "simulate/simulate.h"
#include "split/split.h"
#include "transform/code_liveness.h"
#include "transform/devices/unroll_pmap.h"
#include "transform/distribute/annotate.h"
#include "transform/distribute/parallelise.h"
#include "transform/distribute/pieces.h"
#include "transform/expand.h"
#include "transform/flatten_tuples.h"
#include "transform/prune.h"
#include "transform/schedule.h"

namespace pando::fuzz {
namespace {

ir::Module placed(const std::string& text) { return ir::read_module(text, "text", ir::ModuleRules::of_devices); }

transform::Strategy some_strategy(Random& random) {
  transform::Strategy s;
  std::int32_t* const degrees[] = {&s.data, &s.tensor, &s.pipeline, &s.microbatches, &s.stages_per_rank};
  for (std::int32_t* d : degrees) *d = random.chance(30) ? 2 : 1;
  if (random.chance(20)) s.recompute = transform::Recompute::full;
  s.offload_weights = random.chance(10);
  s.zero = random.chance(20) ? static_cast<std::int32_t>(random.below(4)) : 0;
  return s;
}

void use_transform(const std::string& text, Random& random) {
  const transform::Program p = transform::annotate(ir::read_module(text), {});
  const transform::Distributed d = transform::parallelise(p, some_strategy(random));
  transform::print_pieces(transform::pieces_of(p, d));
  ir::print(d.module);
}

void use_unroll(const std::string& text, Random&) { ir::print(transform::unroll_pmap(ir::read_module(text))); }

// The small transforms of popxl and pando::Module.
void use_module(const std::string& text, Random&) {
  ir::Module m = ir::read_module(text);
  transform::code_liveness(m);
  transform::schedule(m);
  transform::expand(m);
  transform::prune(m);
  ir::print(m);
}

void use_simulate(const std::string& text, Random& random) {
  const ir::Module m = placed(text);
  const simulate::Cluster cluster = simulate::cluster_of(random.chance(50) ? "ipu2:4" : "selene");
  const simulate::Program p = simulate::flatten(m, simulate::ClusterCostModel(cluster));
  simulate::run_clock(p, cluster);
  simulate::measure_memory(p);
  p.histogram();
}

void use_measure(const std::string& text, Random&) { measure::run_on_ipus(placed(text), "ipu2", 4); }

void use_project(const std::string& text, Random& random) {
  ir::Module body = ir::read_module(text);
  bool has_tuples = false;
  for (ir::OpId o : body.graph(body.main_graph()).ops) {
    for (ir::ValueId v : body.results(o)) has_tuples |= !body.type_of(v).is_tensor();
  }
  if (has_tuples) {
    body = transform::unroll_pmap(body);
    transform::expand(body, [](const ir::OpRow& row) { return !row.moves; });
    transform::flatten_tuples(body);
  }
  static constexpr const char* kPolicies[] = {"strict", "delay", "stash", "2BW 2", "flush 2"};
  const project::LoopProgram loop = project::make_loop(std::move(body), project::parse_policy(kPolicies[random.below(5)]));
  const project::ProjectedProgram p = project::project(loop, project::solve_lags(loop));
  project::print(p, {});
  project::verify(p);
}

void use_search(const std::string& text, Random&) {
  const transform::Program p = transform::annotate(ir::read_module(text), {});
  search::Space space;
  space.devices = 2;
  space.most_microbatches = 2;
  search::search_program(p, simulate::cluster_of("ipu2:4"), space);
}

void use_run(const std::string& text, Random& random) {
  ranks::Program p = ranks::split_program(placed(text));
  ranks::Data data;
  data.set_seed(random.next());
  ranks::Options options;
  options.timeout = 5;
  ranks::check_input(p, data, options, 1);
  if (p.parts.size() > 8) return;
  ranks::Board board;
  ranks::run(std::move(p), data, *exec::in_process_transports(1)[0], options, board);
}

void use_session(const std::string& text, Random& random) {
  session::Options options;
  options.device = random.chance(50) ? "cpu" : "ipu_model";
  options.tiles_per_ipu = 4;
  session::Session s(ir::read_module(text), options);
  s.dump("model");
}

void use_interpreter(const std::string& text, Random&) {
  const ir::Module m = ir::read_module(text);
  ir::Interpreter i(m);
  i.on_print([](const std::string&) {});
  i.run();
}

}  // namespace

std::vector<Tool> tools() {
  return {{"transform", use_transform},   {"unroll", use_unroll},
          {"module", use_module},         {"simulate", use_simulate},
          {"measure", use_measure, true}, {"project", use_project},
          {"search", use_search},         {"run", use_run, true},
          {"session", use_session},       {"interpreter", use_interpreter, true}};
}

}  // namespace pando::fuzz
