// pando emit: a program for other machines: PyTorch.
#include <fmt/format.h>

#include <memory>

#include "base/command/arguments.h"
#include "base/command/files.h"
#include "cli/command_row.h"
#include "cli/shared/words.h"
#include "emit/emit.h"
#include "ir/checks/read_module.h"
#include "ir/error.h"
#include "onnx/import.h"
#include "project/text/parse.h"

namespace pando::cli {
namespace {

struct Arguments {
  std::string input, output, pieces;
  std::vector<std::string> dimensions;
  emit::Options options;
  std::int64_t check = -1;
};

// What is an option of other inputs is a mistake.
void reject_option(bool given, const char* option, const char* takes) {
  if (given) throw CLI::ValidationError(option, takes);
}

emit::Emitted emitted(const Arguments& a) {
  if (!a.input.ends_with(".onnx")) reject_option(!a.dimensions.empty(), "--dimension", "it takes an ONNX model");
  if (a.input.ends_with(".onnx")) {
    reject_option(a.options.samples > 0, "--samples", "it takes a projected program");
    reject_option(!a.pieces.empty(), "--pieces", "it takes a module that pando transform wrote");
    onnx::ImportOptions options;
    options.dimensions = sizes_of(a.dimensions);
    return emit::torch_program(onnx::import_file(a.input, options), a.options);
  }
  const std::string text = read_file(a.input == "-" ? "/dev/stdin" : a.input);
  const bool projected = text.starts_with("project ");
  reject_option(projected && !a.pieces.empty(), "--pieces", "it takes a module that pando transform wrote");
  reject_option(!projected && a.options.samples > 0, "--samples", "it takes a projected program");
  if (projected) return emit::torch_program(project::parse(text, a.input), a.options);
  return emit::torch_program(ir::read_module(text, a.input), a.options);
}

int run_torch(Arguments& a) {
  if (!a.pieces.empty()) a.options.pieces = transform::read_pieces(read_file(a.pieces), a.pieces);
  if (a.check >= 0) a.options.check_steps = a.check;
  const emit::Emitted e = emitted(a);
  emit::write_folder(a.output, e);
  fmt::print("{} for {} in {}\n", e.programs == 1 ? "1 program" : fmt::format("{} programs", e.programs),
             e.ranks == 1 ? "1 rank" : fmt::format("{} ranks", e.ranks), a.output);
  if (!e.unchecked.empty() && a.check != 0) complain_of("emit torch", "note: check.py has no values of the interpreter: " + e.unchecked);
  return 0;
}

void describe(CLI::App* command, Invocation& invocation) {
  command->require_subcommand(1);
  CLI::App* const c = command->add_subcommand("torch", "PyTorch: a file for each distinct program of a rank, for torchrun on GPUs or CPUs");
  const auto a = std::make_shared<Arguments>();
  c->add_option("program", a->input,
                "A module's text, its values on devices or on none; a projected program; FILE.onnx; - is standard input")
      ->required();
  c->add_option("-o,--output", a->output, "The folder")->required();
  c->add_option("--pieces", a->pieces, "What pando transform --pieces wrote: data and results are the sequential program's");
  c->add_option("--check", a->check,
                "Store what the interpreter gives after so many steps, for check.py; otherwise after one, where that takes no more than "
                "1e9 operations")
      ->check(whole_number(0, 1'000'000));
  c->add_option("--seed", a->options.seed, "Of the numbers that check.py runs on")->capture_default_str();
  c->add_option("--zeros", a->options.zeros, "Variables that begin with zeros in check.py: names, or their ends behind a star ('*.m')")
      ->delimiter(',');
  c->add_option("--samples", a->options.samples, "Of a projected program: samples of a step")->check(at_least_one<std::int64_t>());
  c->add_option("--dimension", a->dimensions, "Sizes of named dimensions of an ONNX model, as name=size")->delimiter(',');
  c->callback([a, &invocation] { invocation.status = run_torch(*a); });
}

}  // namespace

CommandRow command_emit() {
  return {
      .name = "emit",
      .group = CommandGroup::distribute,
      .summary = "Write a program for other machines",
      .describe = describe,
      .examples = {{"pando emit torch four.pando -o four", "a folder of PyTorch programs, one for each rank, and check.py"},
                   {"pando emit torch model.onnx --dimension batch=8 -o model", "an ONNX model"}},
      .statuses = {{"0", "written"}, {"2", "the input or the command line is wrong"}},
  };
}

}  // namespace pando::cli
