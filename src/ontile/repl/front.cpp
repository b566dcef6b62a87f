#include "ontile/repl/front.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <poplar/exceptions.hpp>

#include "ontile/reject.h"
#include "ontile/repl/json_front.h"
#include "ontile/repl/shell/script.h"
#include "ontile/repl/shell/tile_set.h"
#include "ontile/repl/terminal/prompt.h"

namespace pando::ontile {
namespace {

bool terminal_has_colours() {
  const char* const term = std::getenv("TERM");
  return isatty(STDOUT_FILENO) && std::getenv("NO_COLOR") == nullptr && (term == nullptr || std::strcmp(term, "dumb") != 0);
}

std::string thousands(std::size_t n) {
  std::string text = std::to_string(n);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

void print_banner(const Machine& machine) {
  fmt::print(
      "Pando {}: {} Python interpreter{} (MicroPython) on {} IPU{}\n"
      "What you enter goes to all of them; equal answers are shown once. %help -- commands, Tab completes, Ctrl-C interrupts, Ctrl-D "
      "leaves.\n\n",
      PANDO_VERSION, thousands(machine.tiles()), machine.tiles() == 1 ? "" : "s", machine.ipus(), machine.ipus() == 1 ? "" : "s");
}

std::string quoted(std::string_view text) {
  std::string literal = "'";
  for (const char c : text) {
    if (c == '\\' || c == '\'') literal += '\\';
    literal += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return literal + "'";
}

bool has_file(const FrontOptions& options) { return !options.code && !options.arguments.empty(); }

// What sys.argv is on every tile: the script's name and what follows it.
std::string argv_code(const FrontOptions& options) {
  std::string list;
  if (options.code) list = "'-c'";
  for (const std::string& argument : options.arguments) list += (list.empty() ? "" : ", ") + quoted(argument);
  return "import sys\nsys.argv[:] = [" + list + "]\ndel sys\n";
}

// What tiles have said so far.
void show_so_far(const Reply& said, const Style& style) {
  const std::vector<Group> groups = group(said);
  const std::string text = groups.size() == 1 ? groups[0].text : render(groups, style);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

// Tiles read: what they have said is shown, and all get the next line of standard input.
bool read_line(const Reply& said, std::string& line, const Style& style, const Interrupts& interrupts) {
  show_so_far(said, style);
  for (;;) {
    pollfd ready[] = {{STDIN_FILENO, POLLIN, 0}, {interrupts.descriptor(), POLLIN, 0}};
    if (poll(ready, 2, -1) < 0 && errno != EINTR) return false;
    if (interrupts.happened()) return false;
    char c = 0;
    const ssize_t n = read(STDIN_FILENO, &c, 1);
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) return !line.empty();
    if (n == 1 && c == '\n') return true;
    if (n == 1) line += c;
  }
}

struct Script {
  std::string name;
  Session::Input input;
};

Script kind_of(const FrontOptions& options) {
  if (options.code) return {"<string>", Session::Input::script};
  if (has_file(options)) return {options.arguments[0] == "-" ? "<stdin>" : options.arguments[0], Session::Input::script};
  return {"<stdin>", Session::Input::cell};  // a pipe is as if it were typed: values are printed
}

bool reads_script_from_input(const FrontOptions& options) { return !options.code && (!has_file(options) || options.arguments[0] == "-"); }

}  // namespace

std::string read_host_file(const std::string& path, std::string_view what) {
  struct stat about = {};
  if (stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode))
    reject<poplar::file_load_error>("no-such-file", "{}cannot read {}: it is a folder", what, path);
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) reject<poplar::file_load_error>("no-such-file", "{}cannot read {}: {}", what, path, std::strerror(errno));
  return text;
}

std::string read_script(const FrontOptions& options) {
  if (options.json) return {};
  if (options.code) return *options.code;
  if (has_file(options) && options.arguments[0] != "-") return read_host_file(options.arguments[0], "");
  if (!has_file(options) && isatty(STDIN_FILENO)) return {};
  return {std::istreambuf_iterator<char>(std::cin), {}};
}

int run_front(const FrontOptions& options, const std::string& script, Machine& machine) {
  if (!options.select.empty()) machine.select(parse_tiles(options.select, {machine.ipus(), machine.tiles()}));
  const bool is_script = options.code || has_file(options) || !isatty(STDIN_FILENO);
  const bool prompt = isatty(STDIN_FILENO) && (!is_script || options.interactive);
  Interrupts interrupts(machine);
  if (options.json) {
    Shell shell(machine, {false, true});
    run_json(shell, STDIN_FILENO, stdout);
    return 0;
  }
  const Style style = {prompt && terminal_has_colours(), prompt};
  machine.set_input([&](const Reply& said, std::string& line) { return read_line(said, line, style, interrupts); });
  int status = 0;
  if (is_script) {
    Shell shell(machine, {});
    shell.show_with([&](const Reply& said) { show_so_far(said, shell.style()); });
    const auto [name, input] = kind_of(options);
    if (!options.arguments.empty())
      status = run_script(shell, interrupts, argv_code(options), Session::Input::script, name, stdout, stderr);
    if (status == 0) status = run_script(shell, interrupts, script, input, name, stdout, stderr);
  }
  // Behind a script, what is piped in is as if it were typed.
  if (options.interactive && !prompt && !reads_script_from_input(options)) {
    Shell shell(machine, {});
    shell.show_with([&](const Reply& said) { show_so_far(said, shell.style()); });
    const std::string typed{std::istreambuf_iterator<char>(std::cin), {}};
    return run_script(shell, interrupts, typed, Session::Input::cell, "<stdin>", stdout, stderr);
  }
  if (!prompt) return status;
  Shell shell(machine, style);
  shell.show_with([&](const Reply& said) { show_so_far(said, shell.style()); });
  if (!is_script) print_banner(machine);
  return run_prompt(shell, interrupts);
}

}  // namespace pando::ontile
