#include "ontile/shell/tile_shell.h"

#include <sys/wait.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <sstream>

#include <fmt/format.h>

#include <poplar/exceptions.hpp>

#include "ontile/reject.h"
#include "ontile/repl/shell/tile_set.h"
#include "ontile/shell/on_tile.h"

namespace pando::ontile {

namespace {

// The statuses of on_tile.py.
constexpr int kLeave = 253, kRun = 255;
constexpr int kCannotRun = 126, kWrong = 2;

std::string quoted(std::string_view text) {
  std::string literal = "'";
  for (const char c : text) {
    if (c == '\n')
      literal += "\\n";
    else if (c == '\\' || c == '\'')
      literal += {'\\', c};
    else if (static_cast<unsigned char>(c) < 32)
      literal += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      literal += c;
  }
  return literal + "'";
}

// On every tile of a program, once it has come there. Names of a program are its own.
constexpr std::string_view kRunIt =
    "import sys\n"
    "sys.argv[:] = _program[2]\n"
    "exec(compile(_program[1], _program[0], 'exec'), dict(globals(), __name__='__main__'))\n";

}  // namespace

std::string text_of(const Reply& reply, const Style& style) {
  if (reply.answers.size() == 1) return reply.texts[reply.answers[0].text];
  return render(group(reply), style);
}

TileShell::TileShell(Machine& machine, TileShellOptions options, Print print)
    : machine_(machine), options_(std::move(options)), print_(std::move(print)) {
  start();
}

void TileShell::start() {
  machine_.select({0});
  const std::string code =
      fmt::format("_names = {{'__name__': 'shell'}}\nexec({}, _names)\n_shell = _names['Shell']({}, {}, {}, {})\n", quoted(kOnTile),
                  quoted(options_.machine), quoted(options_.tile), quoted(options_.disk), options_.interactive ? "True" : "False");
  const Reply reply = machine_.run(code, Session::Input::script, "shell");
  if (reply.answers[0].ending != Ending::done) reject<poplar::poplar_error>("shell-start", "the shell does not start: {}", reply.texts[0]);
}

// A command of the host is what a person wrote, here and nowhere else: no answer of a tile can start one, since what runs there may say
// whatever it likes. The tile only remembers the line.
int TileShell::line(std::string_view text) {
  if (text.starts_with('!')) {
    ask("_shell.remember(" + quoted(text) + ")");
    return status_ = run_on_host(std::string(text.substr(1)));
  }
  machine_.select({0});
  const Reply reply = run_shown("_shell.line(" + quoted(text) + ")", "shell");
  print_(text_of(reply, options_.style));
  const Answer& answer = reply.answers[0];
  if (answer.ending == Ending::ended || answer.ending == Ending::skipped) {
    machine_.reset({0});
    start();
    print_("Tile 0 has a new interpreter. What was on the disk is there.\n");
    return status_ = 1;
  }
  if (answer.ending != Ending::exited) return status_ = 1;
  switch (answer.status) {
    case kRun: return status_ = run_program(ask("print(_shell.request, end='')"));
    case kLeave: {
      const std::string wanted = ask("print(_shell.request, end='')");
      has_left_ = true;
      std::from_chars(wanted.data(), wanted.data() + wanted.size(), status_);
      return status_;
    }
    default: return status_ = answer.status;
  }
}

// What it says is printed while it runs, if that is long.
Reply TileShell::run_shown(const std::string& code, std::string_view name) {
  machine_.set_output([this](const Reply& said) { print_(text_of(said, options_.style)); });
  try {
    Reply reply = machine_.run(code, Session::Input::script, name);
    machine_.set_output(nullptr);
    return reply;
  } catch (...) {
    machine_.set_output(nullptr);
    throw;
  }
}

std::string TileShell::ask(const std::string& code) {
  machine_.select({0});
  const Reply reply = machine_.run(code, Session::Input::script, "shell");
  return reply.answers[0].ending == Ending::done ? reply.texts[0] : std::string();
}

std::string TileShell::prompt() { return ask("_shell.prompt()"); }

// The program is on tile 0: it goes to the others by an exchange, then all of them run it.
int TileShell::run_program(const std::string& tiles) {
  std::vector<unsigned> runners;
  try {
    runners = parse_tiles(tiles, {machine_.ipus(), machine_.tiles()});
  } catch (const poplar::poplar_error& error) {
    print_(fmt::format("@{}: {}\n", tiles, error.what()));
    return kWrong;
  }
  std::vector<unsigned> all = runners;
  if (all.front() != 0) all.insert(all.begin(), 0);
  machine_.select(all);
  const char* const get =
      all.size() == 1 ? "_program = _shell.program" : "_program = broadcast(_shell.program if __tileid == 0 else None, 0)";
  const Reply got = machine_.run(get, Session::Input::script, "shell");
  const bool all_have_it = std::all_of(got.answers.begin(), got.answers.end(), [](const Answer& a) { return a.ending == Ending::done; });
  if (!all_have_it) return show(got);
  machine_.select(runners);
  return show(run_shown(std::string(kRunIt), "shell"));
}

// Prints it. The status is the highest of all tiles.
int TileShell::show(const Reply& reply) {
  print_(text_of(reply, options_.style));
  int status = 0;
  std::vector<unsigned> ended;
  for (const Answer& a : reply.answers) {
    if (a.ending == Ending::exited)
      status = std::max(status, a.status);
    else if (a.ending != Ending::done)
      status = std::max(status, 1);
    if (a.ending == Ending::ended || a.ending == Ending::skipped) ended.push_back(a.tile);
  }
  if (ended.empty()) return status;
  machine_.reset(ended);
  print_(fmt::format("{} {} a new interpreter.\n",
                     ended.size() == 1 ? fmt::format("Tile {}", ended[0]) : fmt::format("Tiles {}", print_tiles(ended)),
                     ended.size() == 1 ? "has" : "have"));
  if (ended[0] == 0) start();
  return status;
}

int TileShell::run_on_host(const std::string& command) {
  if (!options_.allow_host) {
    print_("!: commands of the host are off; --allow-host switches them on\n");
    return kCannotRun;
  }
  print_("");  // what came before is out before the command's own
  const int status = std::system(command.c_str());
  if (status == -1) return kCannotRun;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Completion TileShell::complete(std::string_view line) {
  std::istringstream ways(ask("_shell.complete(" + quoted(line) + ")"));
  std::vector<std::string> all;
  for (std::string way; std::getline(ways, way);) all.push_back(way);
  Completion completion;
  if (all.empty()) return completion;
  // As far as all agree.
  std::string& common = completion.insert = all.front();
  for (const std::string& way : all) {
    const auto differs = std::mismatch(common.begin(), common.end(), way.begin(), way.end()).first;
    common.resize(static_cast<std::size_t>(differs - common.begin()));
  }
  if (!common.empty()) return completion;
  const std::size_t space = line.find_last_of(" /");
  for (const std::string& way : all) completion.candidates += std::string(line.substr(space == line.npos ? 0 : space + 1)) + way + "\n";
  return completion;
}

}  // namespace pando::ontile
