#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string_view>
#include <system_error>

#include "base/command/arguments.h"
#include "base/command/files.h"
#include "base/messages.h"
#include "cli/commands.h"
#include "cli/version.h"

namespace {

// Printing throws what the system says, and does not know where to.
std::string describe(const std::system_error& error) {
  if (std::ferror(stdout) == 0) return fmt::format("pando: {}", error.what());
  pando::forget_standard_output();
  return fmt::format("pando: cannot write to standard output: {}", error.code().message());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Pando: an open stack for machines of thousands of tiles", "pando");
  app.set_version_flag("--version", pando::cli::versions, "versions of all parts, what is used of the processor, where caches lie");
  app.require_subcommand(0, 1);  // not 1: an unknown command is then named in the message
  int status = 0;
  pando::cli::add_allocate(app, status);
  pando::cli::add_calibrate(app, status);
  pando::cli::add_dump(app, status, std::find(argv, argv + argc, std::string_view("--")) != argv + argc);
  pando::cli::add_emit(app, status);
  pando::cli::add_import(app, status);
  pando::cli::add_jupyter(app, status);
  pando::cli::add_machines(app, status);
  pando::cli::add_measure(app, status);
  pando::cli::add_model(app, status);
  pando::cli::add_project(app, status);
  pando::cli::add_options(app, status);
  pando::cli::add_repl(app, status);
  pando::cli::add_report(app, status);
  pando::cli::add_run(app, status);
  pando::cli::add_schedule(app, status);
  pando::cli::add_search(app, status);
  pando::cli::add_shell(app, status);
  pando::cli::add_simulate(app, status);
  pando::cli::add_transform(app, status);
  pando::cli::add_view(app, status);
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) fmt::print("{}", app.help());
  } catch (const CLI::ParseError& error) { return pando::explain(app, error); } catch (const std::system_error& error) {
    pando::complain(describe(error));
    return pando::cli::kWrong;
  } catch (const std::exception& error) {
    pando::complain(fmt::format("pando: {}", error.what()));
    return pando::cli::kWrong;
  }
  return status;
}
