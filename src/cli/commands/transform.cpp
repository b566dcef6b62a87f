// pando transform: a program of one device as one of many.
#include <fmt/format.h>

#include <limits>
#include <map>
#include <memory>
#include <set>

#include "base/command/arguments.h"
#include "base/command/files.h"
#include "base/messages.h"
#include "cli/command_row.h"
#include "cli/shared/words.h"
#include "ir/checks/read_module.h"
#include "ir/op_row.h"
#include "ir/text/print.h"
#include "transform/devices/unroll_pmap.h"
#include "transform/distribute/annotate.h"
#include "transform/distribute/parallelise.h"
#include "transform/distribute/pieces.h"

namespace pando::cli {
namespace {

const std::map<std::string, transform::Recompute> kRecompute = {
    {"none", transform::Recompute::none}, {"selective", transform::Recompute::selective}, {"full", transform::Recompute::full}};

struct Arguments {
  std::string input, output = "-", table, loss, pieces, recompute = "none";
  std::vector<std::string> batch, sequence, experts, cut, offload;
  transform::Strategy strategy;
  bool unroll = false, summary = false;
};

// Ops by name, values by device.
void print_summary(const ir::Module& m) {
  std::map<std::string, std::size_t> ops;
  std::set<std::int32_t> devices;
  std::map<std::int32_t, std::int64_t> bytes;
  const ir::Graph& main = m.graph(m.main_graph());
  for (ir::OpId o : main.ops) ++ops[std::string(m.row(o).name)];
  for (ir::ValueId v : main.inputs) {
    const std::int32_t d = m.type_of(v).place.device.value;
    devices.insert(d);
    bytes[d] += m.types().bytes_of(m.value(v).type);
  }
  fmt::print("{} ops, {} devices\n", main.ops.size(), devices.size());
  for (const auto& [name, n] : ops) fmt::print("  {:24} {}\n", name, n);
  for (const auto& [d, n] : bytes) fmt::print("  device {:4}: {} bytes of inputs and variables\n", d, n);
}

int run(Arguments& a) {
  ir::Module m = ir::read_module(read_file(a.input == "-" ? "/dev/stdin" : a.input), a.input);
  if (a.unroll) m = transform::unroll_pmap(m);
  a.strategy.cut = dimensions_of(a.cut);
  for (const std::string& what : a.offload) {
    (what == "weights"     ? a.strategy.offload_weights
     : what == "optimizer" ? a.strategy.offload_optimizer
                           : a.strategy.offload_activations) = true;
  }
  a.strategy.recompute = kRecompute.at(a.recompute);
  if (!a.table.empty()) a.strategy.table = schedule::read_csv(read_file(a.table), a.table);
  const bool one =
      a.strategy.data * a.strategy.tensor * a.strategy.pipeline * a.strategy.expert * a.strategy.context * a.strategy.microbatches == 1 &&
      a.strategy.recompute == transform::Recompute::none && a.offload.empty();
  if (!a.unroll || !one) {
    transform::Annotation note{dimensions_of(a.batch), dimensions_of(a.sequence), dimensions_of(a.experts), {}};
    if (!a.loss.empty()) note.loss = a.loss;
    const transform::Program sequential = transform::annotate(std::move(m), note);
    transform::Distributed distributed = transform::parallelise(sequential, a.strategy);
    if (!a.pieces.empty()) write_file(a.pieces, transform::print_pieces(transform::pieces_of(sequential, distributed)));
    for (const std::string& line : transform::to_lines(distributed.whole)) complain_of("transform", "note: " + line);
    m = std::move(distributed.module);
  }
  if (a.summary) {
    print_summary(m);
  } else {
    write_file(a.output, ir::print(m));
  }
  return 0;
}

void describe(CLI::App* c, Invocation& invocation) {
  const auto a = std::make_shared<Arguments>();
  transform::Strategy& s = a->strategy;
  const CLI::Validator count = at_least_one<std::int32_t>();
  c->add_option("input", a->input, "A module as text; - is standard input")->required();
  c->add_option("--data", s.data, "Devices that share the samples")->check(count);
  c->add_option("--tensor", s.tensor, "Devices that share each layer's weights")->check(count);
  c->add_option("--pipeline", s.pipeline, "Ranks of the pipeline")->check(count);
  c->add_option("--microbatches", s.microbatches, "Parts of the samples, one after the other")->check(count);
  c->add_option("--expert", s.expert, "Devices that share experts, and samples")->check(count);
  c->add_option("--context", s.context, "Devices that share the positions of a sequence")->check(count);
  c->add_option("--schedule", s.schedule, "By name, as in pando schedule")->capture_default_str();
  c->add_option("--table", a->table, "The schedule as CSV");
  c->add_option("--stages-per-rank", s.stages_per_rank, "Stages of the pipeline on each rank")->capture_default_str()->check(count);
  c->add_option("--layers-per-stage", s.layers_per_stage, "One number for each stage")->delimiter(',')->check(count);
  c->add_option("--zero", s.zero, "ZeRO: 1 cuts states of the optimizer over --data, 2 gradients, 3 weights")->check(whole_number(0, 3));
  c->add_flag("--sequence-parallel", s.sequence_parallel, "Between products, cut positions over --tensor");
  c->add_option("--recompute", a->recompute, "none, selective (attention), full (layers)")
      ->check(one_of({"none", "selective", "full"}))
      ->capture_default_str();
  c->add_option("--recompute-layers", s.recomputed_layers, "With --recompute: these layers alone, by number from 0")
      ->delimiter(',')
      ->check(whole_number(0, std::numeric_limits<std::int32_t>::max()));
  c->add_option("--offload", a->offload, "To off-chip memory: weights, optimizer, activations")
      ->delimiter(',')
      ->check(one_of({"weights", "optimizer", "activations"}));
  c->add_option("--batch", a->batch, "Inputs that count samples, as name or name:dimension")->delimiter(',');
  c->add_option("--sequence", a->sequence, "Inputs that count positions, as name:dimension")->delimiter(',');
  c->add_option("--experts", a->experts, "Weights that count experts, as name:dimension")->delimiter(',');
  c->add_option("--cut", a->cut, "Weights that --tensor cuts, as name:dimension; -1: not. Others are found")->delimiter(',');
  c->add_option("--loss", a->loss, "The value that ends the forward pass; otherwise the first output");
  c->add_option("--first-device", s.first_device, "The number of the first device; the others follow")
      ->capture_default_str()
      ->check(whole_number(0, std::numeric_limits<std::int32_t>::max()));
  c->add_option("--order", s.order, "Axes with the nearest device numbers, the nearest last: data, expert, context, tensor, pipeline")
      ->delimiter(',');
  c->add_flag("--unroll-pmap", a->unroll, "Write pmaps out first");
  c->add_option("--pieces", a->pieces, "File: which part of which tensor everything is, for pando run");
  c->add_flag("--summary", a->summary, "Count ops and bytes instead of printing the program");
  c->add_option("-o,--output", a->output, "File; - is standard output")->capture_default_str();
  c->callback([a, &invocation] { invocation.status = run(*a); });
}

}  // namespace

CommandRow command_transform() {
  return {
      .name = "transform",
      .group = CommandGroup::distribute,
      .summary = "Distribute a program over devices",
      .describe = describe,
      .examples = {{"pando transform step.pando --batch x,z --data 2 -o two.pando", "each of two devices takes half of the samples"},
                   {"pando transform step.pando --batch x,z --pipeline 2 --microbatches 4 --schedule ZB-H1 --summary",
                    "a pipeline; only the counts of its ops"}},
      .statuses = {{"0", "written"}, {"2", "the input or the command line is wrong"}},
  };
}

}  // namespace pando::cli
