// pando convert: an ONNX model as text of the model level.
#include <memory>

#include "base/command/files.h"
#include "cli/command_row.h"
#include "cli/shared/words.h"
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

void describe(CLI::App* c, Invocation& invocation) {
  const auto a = std::make_shared<Arguments>();
  c->add_option("input", a->input, "A .onnx file; external data lie beside it")->required();
  c->add_option("--dimension", a->dimensions, "Sizes of named dimensions, as name=size")->delimiter(',');
  c->add_flag("--streams", a->streams, "Inputs and outputs are streams of their names, not variables and outputs of the main graph");
  c->add_option("-o,--output", a->output, "File; - is standard output")->capture_default_str();
  c->callback([a, &invocation] { invocation.status = run(*a); });
}

}  // namespace

CommandRow command_convert() {
  return {
      .name = "convert",
      .group = CommandGroup::distribute,
      .summary = "Write an ONNX model as the text of a module, with its weights",
      .describe = describe,
      .examples = {{"pando convert model.onnx -o model.pando", "a module that transform, search and run take"},
                   {"pando convert model.onnx --dimension batch=8 --streams",
                    "the size of a dimension that the model leaves open; inputs as streams"}},
      .statuses = {{"0", "written"}, {"2", "the input or the command line is wrong"}},
      .aliases = {"import"},
  };
}

}  // namespace pando::cli
