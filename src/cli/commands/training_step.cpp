// pando training-step: a step of training of a known network, as text.
#include <fmt/format.h>

#include <limits>
#include <memory>

#include "base/command/arguments.h"
#include "base/command/files.h"
#include "cli/command_row.h"
#include "cli/shared/transformer.h"
#include "ir/text/print.h"
#include "models/gpt.h"
#include "models/mlp.h"

namespace pando::cli {
namespace {

struct Arguments {
  models::Mlp mlp;
  models::Gpt gpt;
  bool adam = false;
  std::string file;
  std::int64_t seq = 0;
  std::string output = "-";
};

void write(const transform::Program& program, const std::string& output) { write_file(output, ir::print(program.module)); }

void add_count(CLI::App& network, const char* name, std::int64_t& count, const char* what, std::int64_t lowest = 1) {
  network.add_option(name, count, what)->capture_default_str()->check(whole_number(lowest, std::numeric_limits<std::int64_t>::max()));
}

void add_rate(CLI::App& network, double& rate) {
  network.add_option("--learning-rate", rate, "How much of a gradient a weight changes by")->capture_default_str()->check(check_number);
}

void add_mlp(CLI::App& model, const std::shared_ptr<Arguments>& a, Invocation& invocation) {
  CLI::App* const c = model.add_subcommand("mlp", "Square layers with relu, a squared loss, plain gradient descent");
  add_count(*c, "--layers", a->mlp.layers, "Layers, each with a square matrix of weights");
  add_count(*c, "--width", a->mlp.width, "Rows and columns of a matrix of weights");
  add_count(*c, "--batch", a->mlp.batch, "Samples of a step");
  add_rate(*c, a->mlp.learning_rate);
  c->add_option("-o,--output", a->output, "File; - is standard output")->capture_default_str();
  c->callback([a, &invocation] {
    write(models::build_mlp(a->mlp), a->output);
    invocation.status = 0;
  });
}

void add_gpt(CLI::App& model, const std::shared_ptr<Arguments>& a, Invocation& invocation) {
  CLI::App* const c = model.add_subcommand("gpt", "A GPT-2 or GPT-3 style transformer, also with experts");
  models::Gpt& g = a->gpt;
  add_count(*c, "--layers", g.layers, "Blocks of attention and dense layers");
  add_count(*c, "--heads", g.heads, "Heads of an attention; they divide the width");
  add_count(*c, "--width", g.width, "Numbers that stand for a token between layers");
  add_count(*c, "--vocabulary", g.vocabulary, "Different tokens");
  add_count(*c, "--sequence", g.sequence, "Tokens of a sample");
  add_count(*c, "--batch", g.batch, "Samples of a step");
  add_count(*c, "--inner", g.inner, "Width between the dense layers; 0: four times the width", 0);
  add_count(*c, "--experts", g.experts, "In every other block, instead of the dense layers; 0: none", 0);
  add_count(*c, "--capacity", g.capacity, "Places of a sequence in each expert");
  c->add_flag("--adam", a->adam, "Adam instead of plain gradient descent");
  add_rate(*c, g.optimizer.learning_rate);
  c->add_option("-o,--output", a->output, "File; - is standard output")->capture_default_str();
  c->callback([a, &invocation] {
    if (a->adam) a->gpt.optimizer.kind = models::Optimizer::adam;
    write(models::build_gpt(a->gpt), a->output);
    invocation.status = 0;
  });
}

void add_sizes(CLI::App& model, const std::shared_ptr<Arguments>& a, Invocation& invocation) {
  CLI::App* const c = model.add_subcommand("sizes", "What search, simulate and memory read of a transformer: its sizes as JSON");
  c->add_option("model", a->file, "A transformer by name, its config.json (Hugging Face), or a JSON file of its sizes")->required();
  add_seq_length(*c, a->seq, "");
  c->add_option("-o,--output", a->output, "File; - is standard output")->capture_default_str();
  c->callback([a, &invocation] {
    const search::Transformer t = transformer_of(a->file, a->seq);
    write_file(a->output, search::to_json(t));
    for (const std::string& note : t.notes) fmt::print(stderr, "note: {}\n", note);
    fmt::print(stderr, "{:.4g} billion parameters\n", t.parameters() / 1e9);
    invocation.status = 0;
  });
}

void describe(CLI::App* command, Invocation& invocation) {
  command->require_subcommand(1);
  const auto a = std::make_shared<Arguments>();
  add_mlp(*command, a, invocation);
  add_gpt(*command, a, invocation);
  add_sizes(*command, a, invocation);
}

}  // namespace

CommandRow command_training_step() {
  return {
      .name = "training-step",
      .group = CommandGroup::distribute,
      .summary = "Write the training step of a network of these sizes as a module",
      .describe = describe,
      .examples = {{"pando training-step gpt --layers 2 --width 64 --batch 8 -o gpt.pando",
                    "a transformer, to distribute, to simulate or to run"},
                   {"pando training-step mlp --layers 4 --width 512 --batch 512", "square layers, on standard output"}},
      .statuses = {{"0", "written"}, {"2", "the input or the command line is wrong"}},
      .aliases = {"model"},
  };
}

}  // namespace pando::cli
