// pando repl: one prompt for the Python interpreters of all tiles. An executable of its own, which `pando` becomes: it needs the shared
// library of Pando, and `pando` contains it.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/command/arguments.h"
#include "base/command/help.h"
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
      ->check(pando::one_of({"lines", "bytes"}))
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
  app.footer("Without a script: a prompt, or what is piped in.\n\n" +
             pando::help_footer(
                 {{"pando repl --data /usr/share/dict/words", "a prompt for 1,472 tiles; each has a part of the file in __tiledata"},
                  {"pando repl --tiles 8 -c 'print(allreduce(__tileid))'", "one command on eight tiles"},
                  {"pando repl --disk disks.img count.py words", "a script with an argument; each tile keeps its disk"}},
                 {{"0", "every tile is done; else the highest status of SystemExit"},
                  {"1", "a tile raised an exception or has ended"},
                  {"2", "the command line is wrong, or the disk image is damaged"},
                  {"3", "instead of 0: the last write to the disk image was cut off; the message says where it is kept"},
                  {"130", "ended by Ctrl-C"}}));
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
