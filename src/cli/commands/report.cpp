// pando report: shows a profile report that a program has written.
#include "profile/report.h"

#include <iostream>
#include <memory>
#include <sstream>

#include "base/command/files.h"
#include "base/source_location.h"
#include "cli/commands.h"
#include "poplar/exceptions.hpp"

namespace pando::cli {
namespace {

struct Arguments {
  std::string input, svg;
  profile::SummaryOptions options;
};

profile::Report read(const std::string& file) {
  std::istringstream in(read_file(file));
  try {
    return profile::read_json(in);
  } catch (const poplar::parse_error& e) { fail_at(ErrorKind::parse_error, id_of(e.what()), {file}, "{}", without_id(e.what())); }
}

int run(const Arguments& arguments) {
  const profile::Report report = read(arguments.input);
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
