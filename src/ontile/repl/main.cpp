// pando repl: one prompt for the Python interpreters of all tiles. An executable of its own, which `pando` becomes: it needs the shared
// library of Pando, and `pando` contains it.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/command/arguments.h"
#include "base/messages.h"
#include "ontile/repl/front.h"
#include "ontile/repl/shell/session_machine.h"

namespace {

using namespace pando::ontile;

constexpr int kWrong = 2;  // the command line, or there is no machine like that

struct Arguments {
  FrontOptions front;
  SessionOptions session;
  std::string data, cut = "lines";
};

void describe(CLI::App& app, Arguments& arguments) {
  app.add_option("--ipus", arguments.session.ipus, "IPUs of the machine")->capture_default_str()->check(pando::at_least_one<unsigned>());
  app.add_option("--tiles", arguments.session.tiles, "Interpreters, on the first so many tiles; else on every tile")
      ->check(pando::at_least_one<unsigned>());
  auto* const data = app.add_option("--data", arguments.data, "A file that is cut over the tiles: __tiledata");
  app.add_option("--cut", arguments.cut, "Where it is cut: at ends of lines, or anywhere (bytes)")
      ->needs(data)
      ->check(CLI::IsMember({"lines", "bytes"}))
      ->capture_default_str();
  app.add_option("--fuel", arguments.session.fuel, "Loop rounds and calls that a command may take on a tile before that tile is ended")
      ->check(pando::unsigned_number());
  app.add_option("--disk", arguments.session.disk, "A file that keeps a disk of each tile, mounted there at /; made if it is not there");
  app.add_option("--disk-kib", arguments.session.disk_kib, "KiB of each tile's disk; without --disk it goes with the session")
      ->check(pando::whole_number(0, std::numeric_limits<unsigned>::max()));
  app.add_option("--select", arguments.front.select, "Tiles that commands go to: 0-99, even, ipu 3 ...");
  app.add_option_function<std::string>("-c", [&](const std::string& code) { arguments.front.code = code; }, "Run this and end");
  app.add_flag("-i", arguments.front.interactive, "A prompt after the script");
  app.add_flag("--json", arguments.front.json, "Requests and replies in JSON, one a line, for other programs");
  app.footer(
      "Without a script: a prompt, or what is piped in. Exit status: 0 if every tile is done, 1 if one raised or has ended, that of\n"
      "SystemExit (the highest), 130 after Ctrl-C; 2 if the command line is wrong or the disk image damaged; 3 instead of 0 if the last "
      "write to\n"
      "the disk image was cut off: standard error says where it is kept.");
  app.prefix_command();  // the first word that is no option, and all after it
}

// One moving line on a terminal; a line of JSON for programs.
void show_progress(bool json, std::string_view what) {
  if (json)
    fmt::print("{}\n", nlohmann::json{{"progress", what}}.dump());
  else if (isatty(STDERR_FILENO))
    fmt::print(stderr, "\r\033[K{}", what.empty() ? "" : fmt::format("{} ...", what));
  std::fflush(json ? stdout : stderr);
}

int run(Arguments& arguments) {
  const std::string script = read_script(arguments.front);
  if (!arguments.data.empty()) {
    arguments.session.data = read_host_file(arguments.data, "--data: ");
    arguments.session.has_data = true;
    arguments.session.cut = arguments.cut == "lines" ? Cut::lines : Cut::bytes;
  }
  const bool json = arguments.front.json;
  arguments.session.progress = [json](std::string_view what) { show_progress(json, what); };
  SessionMachine machine(arguments.session, !json);
  if (!json) show_progress(json, "");
  machine.say_what_was_cut_off("pando repl");
  return machine.exit_status(run_front(arguments.front, script, machine));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("One prompt for a Python interpreter on every tile.\npando repl [OPTIONS] [-c CODE | FILE | -] [ARGUMENTS ...]",
               "pando repl");
  Arguments arguments;
  describe(app, arguments);
  try {
    app.parse(argc, argv);
    const auto words = arguments.front.arguments = app.remaining();
    const bool bad_option = !arguments.front.code && !words.empty() && words[0].size() > 1 && words[0][0] == '-';
    if (bad_option) throw CLI::ExtrasError("pando repl", {words[0]});
    return run(arguments);
  } catch (const CLI::ParseError& error) { return pando::explain(app, error); } catch (const std::exception& error) {
    pando::complain(fmt::format("pando repl: {}", error.what()));
    return kWrong;
  }
}
