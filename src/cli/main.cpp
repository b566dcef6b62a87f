#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/command/arguments.h"
#include "base/command/files.h"
#include "base/command/standard_output.h"
#include "base/messages.h"
#include "cli/command_row.h"
#include "cli/version.h"

namespace {

int complain(const CLI::App& app, const std::string& text) {
  pando::complain(fmt::format("{}: {}", pando::full_name(pando::command_given(app)), text));
  return pando::cli::kWrong;
}

// Printing throws what the system says, and does not know where to.
int complain_of_system(const CLI::App& app, const std::system_error& error) {
  if (std::ferror(stdout) == 0) return complain(app, error.what());
  pando::forget_standard_output();
  if (pando::standard_output_has_no_reader(error.code().value())) return 0;
  return complain(app, "cannot write to standard output: " + error.code().message());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Pando compiles and runs programs for tile machines, and shows what every tile does.", "pando");
  app.set_version_flag("--version", pando::cli::versions, "Versions of all parts, what is used of the processor, where caches lie");
  app.require_subcommand(0, 1);  // not 1: an unknown command is then named in the message
  pando::cli::Invocation invocation;
  invocation.has_dashes = std::find(argv, argv + argc, std::string_view("--")) != argv + argc;
  invocation.arguments.assign(argv + std::min(argc, 1), argv + argc);
  pando::cli::add_commands(app, invocation);
  // `pando help search` is `pando search --help`.
  std::vector<char*> words(argv, argv + argc);
  char help[] = "--help";
  if (argc > 1 && std::string_view(argv[1]) == "help") {
    words.erase(words.begin() + 1);
    words.push_back(help);
  }
  try {
    app.parse(static_cast<int>(words.size()), words.data());
    if (app.get_subcommands().empty()) fmt::print("{}", app.help());
  } catch (const CLI::ParseError& error) { return pando::explain(app, error); } catch (const std::system_error& error) {
    return complain_of_system(app, error);
  } catch (const std::exception& error) { return complain(app, error.what()); }
  return invocation.status;
}
