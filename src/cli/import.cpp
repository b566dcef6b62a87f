// pando import: an ONNX model as text of the model level.
#include <map>
#include <memory>

#include "cli/commands.h"
#include "cli/files.h"
#include "ir/print.h"
#include "onnx/import.h"

namespace pando::cli {
namespace {

struct Arguments {
  std::string input, output = "-";
  std::vector<std::string> dimensions;
};

int run(const Arguments& a) {
  onnx::ImportOptions options;
  for (const std::string& item : a.dimensions) {
    const std::size_t at = item.find('=');
    const std::string size = at == std::string::npos ? "" : item.substr(at + 1);
    if (size.empty() || size.size() > 12 || size.find_first_not_of("0123456789") != std::string::npos) throw CLI::ValidationError(item, "expected name=size");
    options.dimensions[item.substr(0, at)] = std::stoll(size);
  }
  write_file(a.output, ir::print(onnx::import_file(a.input, options)));
  return 0;
}

}  // namespace

void add_import(CLI::App& app, int& status) {
  CLI::App* const c = app.add_subcommand("import", "Print an ONNX model as a module, with its weights");
  const auto a = std::make_shared<Arguments>();
  c->add_option("input", a->input, "A .onnx file; external data lie beside it")->required();
  c->add_option("--dimension", a->dimensions, "Sizes of named dimensions, as name=size")->delimiter(',');
  c->add_option("-o,--output", a->output, "File; - is standard output")->capture_default_str();
  c->callback([a, &status] { status = run(*a); });
}

}  // namespace pando::cli
