// pando import: an ONNX model as text of the model level.
#include <memory>

#include "base/command/files.h"
#include "cli/commands.h"
#include "cli/words.h"
#include "ir/text/print.h"
#include "onnx/import.h"

namespace pando::cli {
namespace {

struct Arguments {
  std::string input, output = "-";
  std::vector<std::string> dimensions;
  bool streams = false;
};

int run(const Arguments& a) {
  onnx::ImportOptions options;
  options.dimensions = sizes_of(a.dimensions);
  options.streams = a.streams;
  write_file(a.output, ir::print(onnx::import_file(a.input, options)));
  return 0;
}

}  // namespace

void add_import(CLI::App& app, int& status) {
  CLI::App* const c = app.add_subcommand("import", "Print an ONNX model as a module, with its weights");
  const auto a = std::make_shared<Arguments>();
  c->add_option("input", a->input, "A .onnx file; external data lie beside it")->required();
  c->add_option("--dimension", a->dimensions, "Sizes of named dimensions, as name=size")->delimiter(',');
  c->add_flag("--streams", a->streams, "Inputs and outputs are streams of their names, not variables and outputs of the main graph");
  c->add_option("-o,--output", a->output, "File; - is standard output")->capture_default_str();
  c->callback([a, &status] { status = run(*a); });
}

}  // namespace pando::cli
