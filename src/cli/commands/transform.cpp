// pando transform: a program of one device as one of many.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <map>
#include <memory>
#include <set>

#include "base/command/arguments.h"
#include "base/command/files.h"
#include "base/messages.h"
#include "base/text/counted.h"
#include "cli/command_row.h"
#include "cli/shared/words.h"
#include "ir/checks/read_module.h"
#include "ir/op_row.h"
#include "ir/text/print.h"
#include "search/axis.h"
#include "transform/devices/unroll_pmap.h"
#include "transform/distribute/annotate.h"
#include "transform/distribute/parallelise.h"
#include "transform/distribute/pieces.h"

namespace pando::cli {
namespace {

struct Arguments {
  std::string input, output = "-", table, loss, pieces;
  std::vector<std::string> batch, sequence, experts;
  // By word of an axis whose values are texts.
  std::map<std::string_view, std::vector<std::string>> texts;
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
  fmt::print("{}, {}\n", counted(main.ops.size(), "op"), counted(devices.size(), "device"));
  for (const auto& [name, n] : ops) fmt::print("  {:24} {}\n", name, n);
  for (const auto& [d, n] : bytes) fmt::print("  device {:4}: {} bytes of inputs and variables\n", d, n);
}

void read_texts(Arguments& a) {
  for (const search::Axis* axis : search::axes_of_text(search::Spelling::whole)) {
    const auto given = a.texts.find(axis->word);
    if (given == a.texts.end() || given->second.empty()) continue;
    const search::ProgramAxis& p = axis->program;
    p.read(a.strategy, axis->word, fmt::format("{}", fmt::join(given->second, std::string(1, p.between))));
  }
}

int run(Arguments& a) {
  ir::Module m = ir::read_module(read_file(a.input == "-" ? "/dev/stdin" : a.input), a.input);
  if (a.unroll) m = transform::unroll_pmap(m);
  read_texts(a);
  if (!a.table.empty()) a.strategy.table = schedule::read_csv(read_file(a.table), a.table);
  const bool one = a.strategy.devices() * a.strategy.microbatches == 1 && a.strategy.recompute == transform::Recompute::none &&
                   !a.strategy.offload_weights && !a.strategy.offload_optimizer && !a.strategy.offload_activations;
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

// The option of an axis.
void describe_axis(CLI::App& c, const search::Axis& axis, Arguments& a) {
  const search::ProgramAxis& row = axis.program;
  const std::string name = fmt::format("--{}", row.option.empty() ? axis.word : row.option), doc(row.doc.empty() ? axis.doc : row.doc);
  transform::Strategy& s = a.strategy;
  CLI::Option* option = nullptr;
  if (row.number != nullptr) {
    option = c.add_option(name, s.*row.number, doc)->check(whole_number(row.least, row.most));
  } else if (row.numbers != nullptr) {
    option = c.add_option(name, s.*row.numbers, doc)->delimiter(',')->check(whole_number(row.least, row.most));
  } else if (row.flag != nullptr) {
    option = c.add_flag(name, s.*row.flag, doc);
  } else {
    option = c.add_option(name, a.texts[axis.word], doc);
    if (row.between != '\0')
      option->delimiter(',');
    else
      option->expected(1);
    if (!row.parts.empty()) option->check(one_of({row.parts.begin(), row.parts.end()}));
  }
  if (!row.shown_default.empty()) option->default_str(std::string(row.shown_default));
}

void describe(CLI::App* c, Invocation& invocation) {
  const auto a = std::make_shared<Arguments>();
  transform::Strategy& s = a->strategy;
  c->add_option("input", a->input, "A module as text; - is standard input")->required();
  for (const search::Axis* axis : search::axes_of_text(search::Spelling::whole)) describe_axis(*c, *axis, *a);
  c->add_option("--table", a->table, "The schedule as CSV");
  c->add_option("--batch", a->batch, "Inputs that count samples, as name or name:dimension")->delimiter(',');
  c->add_option("--sequence", a->sequence, "Inputs that count positions, as name:dimension")->delimiter(',');
  c->add_option("--experts", a->experts, "Weights that count experts, as name:dimension")->delimiter(',');
  c->add_option("--loss", a->loss, "The value that ends the forward pass; otherwise the first output");
  c->add_option("--first-device", s.first_device, "The number of the first device; the others follow")
      ->capture_default_str()
      ->check(whole_number(0, std::numeric_limits<std::int32_t>::max()));
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
