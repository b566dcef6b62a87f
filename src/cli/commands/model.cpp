// pando model: a step of training of a known network, as text.
#include <memory>

#include "cli/commands.h"
#include "cli/files.h"
#include "ir/text/print.h"
#include "models/gpt.h"
#include "models/mlp.h"

namespace pando::cli {
namespace {

struct Arguments {
  models::Mlp mlp;
  models::Gpt gpt;
  bool adam = false;
  std::string output = "-";
};

void write(const transform::Program& program, const std::string& output) { write_file(output, ir::print(program.module)); }

void add_mlp(CLI::App& model, const std::shared_ptr<Arguments>& a, int& status) {
  CLI::App* const c = model.add_subcommand("mlp", "Square layers with relu, a squared loss, plain gradient descent");
  c->add_option("--layers", a->mlp.layers)->capture_default_str();
  c->add_option("--width", a->mlp.width)->capture_default_str();
  c->add_option("--batch", a->mlp.batch)->capture_default_str();
  c->add_option("--learning-rate", a->mlp.learning_rate)->capture_default_str();
  c->add_option("-o,--output", a->output, "File; - is standard output")->capture_default_str();
  c->callback([a, &status] {
    write(models::build_mlp(a->mlp), a->output);
    status = 0;
  });
}

void add_gpt(CLI::App& model, const std::shared_ptr<Arguments>& a, int& status) {
  CLI::App* const c = model.add_subcommand("gpt", "A GPT-2 or GPT-3 style transformer, also with experts");
  models::Gpt& g = a->gpt;
  c->add_option("--layers", g.layers)->capture_default_str();
  c->add_option("--heads", g.heads)->capture_default_str();
  c->add_option("--width", g.width)->capture_default_str();
  c->add_option("--vocabulary", g.vocabulary)->capture_default_str();
  c->add_option("--sequence", g.sequence)->capture_default_str();
  c->add_option("--batch", g.batch)->capture_default_str();
  c->add_option("--inner", g.inner, "Width between the dense layers; 0: four times the width")->capture_default_str();
  c->add_option("--experts", g.experts, "In every other block, instead of the dense layers; 0: none")->capture_default_str();
  c->add_option("--capacity", g.capacity, "Places of a sequence in each expert")->capture_default_str();
  c->add_flag("--adam", a->adam, "Adam instead of plain gradient descent");
  c->add_option("--learning-rate", g.optimizer.learning_rate)->capture_default_str();
  c->add_option("-o,--output", a->output, "File; - is standard output")->capture_default_str();
  c->callback([a, &status] {
    if (a->adam) a->gpt.optimizer.kind = models::Optimizer::adam;
    write(models::build_gpt(a->gpt), a->output);
    status = 0;
  });
}

}  // namespace

void add_model(CLI::App& app, int& status) {
  CLI::App* const command = app.add_subcommand("model", "Print a step of training of a known network");
  command->require_subcommand(1);
  const auto a = std::make_shared<Arguments>();
  add_mlp(*command, a, status);
  add_gpt(*command, a, status);
}

}  // namespace pando::cli
