// pando report: shows a profile report that a program has written.
#include "profile/report.h"

#include <iostream>
#include <memory>
#include <sstream>

#include "cli/commands.h"
#include "cli/files.h"

namespace pando::cli {
namespace {

struct Arguments {
  std::string input, svg;
  profile::SummaryOptions options;
};

int run(const Arguments& arguments) {
  std::istringstream in(read_file(arguments.input));
  const profile::Report report = profile::read_json(in);
  std::ostringstream out;
  profile::print_summary(report, arguments.options, out);
  write_file("-", out.str());
  if (arguments.svg.empty()) return 0;
  std::ostringstream picture;
  profile::write_svg(report, picture);
  write_file(arguments.svg, picture.str());
  return 0;
}

}  // namespace

void add_report(CLI::App& app, int& status) {
  CLI::App* const command = app.add_subcommand("report", "Show a profile report (JSON) as text, or draw it");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("file", arguments->input, "The report")->required();
  command->add_flag("--execution-steps", arguments->options.execution_steps, "Show the cycles of every step");
  command->add_flag("--var-storage", arguments->options.var_storage, "Show the largest variables and live memory by step");
  command->add_flag("--per-ipu-memory", arguments->options.per_ipu_memory, "Show memory by IPU");
  command->add_option("--svg", arguments->svg, "Draw memory by tile, live memory and cycles by step into this file");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace pando::cli
