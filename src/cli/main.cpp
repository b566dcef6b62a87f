#include <fmt/core.h>

#include <cstdio>
#include <exception>

#include "cli/commands.h"

int main(int argc, char** argv) {
  CLI::App app("Pando: an open stack for machines of thousands of tiles", "pando");
  app.set_version_flag("--version", "pando " PANDO_VERSION);
  app.require_subcommand(0, 1);  // not 1: an unknown command is then named in the message
  int status = 0;
  pando::cli::add_allocate(app, status);
  pando::cli::add_calibrate(app, status);
  pando::cli::add_dump(app, status);
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
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) fmt::print("{}", app.help());
  } catch (const CLI::ParseError& error) { return app.exit(error) == 0 ? 0 : pando::cli::kWrong; } catch (const std::exception& error) {
    fmt::print(stderr, "pando: {}\n", error.what());
    return pando::cli::kWrong;
  }
  return status;
}
