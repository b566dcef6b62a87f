#include "ontile/repl/shell/magics.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <poplar/exceptions.hpp>

#include "ontile/reject.h"
#include "ontile/repl/shell/tile_set.h"

namespace pando::ontile {
namespace {

struct Magic {
  std::string_view name, arguments, what;
  Outcome (*run)(Shell& shell, std::string_view argument);
};

Outcome say(std::string message) {
  Outcome outcome;
  outcome.message = std::move(message);
  return outcome;
}

Tiles all_tiles(Shell& shell) { return {shell.machine().ipus(), shell.machine().tiles()}; }

std::string plural(std::size_t n, std::string_view what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

std::string named(const std::vector<unsigned>& tiles) { return fmt::format("tile{} {}", tiles.size() == 1 ? "" : "s", print_tiles(tiles)); }

std::string selection(Shell& shell) {
  const auto& selected = shell.machine().selected();
  if (selected.size() == shell.machine().tiles()) return fmt::format("all {} tiles", selected.size());
  return fmt::format("{} of {}: {}", plural(selected.size(), "tile"), shell.machine().tiles(), print_tiles(selected));
}

Outcome select(Shell& shell, std::string_view argument) {
  if (argument == "all")
    shell.machine().select_all();
  else if (!argument.empty())
    shell.machine().select(parse_tiles(argument, all_tiles(shell)));
  return say(fmt::format("Commands go to {}\n", selection(shell)));
}

std::string first_line(std::string_view text) {
  constexpr std::size_t kWidth = 60;
  const std::size_t end = std::min(text.find('\n'), text.size());
  if (end > kWidth) return fmt::format("{} ...", text.substr(0, kWidth));
  return std::string(text.substr(0, end)) + (end + 1 < text.size() ? " ..." : "");
}

std::string describe(const Group& group) {
  if (group.ending == Ending::skipped) return "(no interpreter)";
  return group.text.empty() ? "(nothing)" : first_line(group.text);
}

const std::vector<Group>& answers(Shell& shell) {
  if (shell.last().empty()) reject<poplar::poplar_error>("no-answer", "the tiles have not said anything yet");
  return shell.last();
}

std::optional<std::size_t> group_number(Shell& shell, std::string_view argument) {
  std::size_t n = 0;
  const auto [end, error] = std::from_chars(argument.data(), argument.data() + argument.size(), n);
  if (error != std::errc() || end != argument.data() + argument.size()) return std::nullopt;
  if (n == 0 || n > answers(shell).size())
    reject<poplar::invalid_option>("no-such-group", "group {}: the last answer has {}, 1 to {}", n, plural(answers(shell).size(), "group"),
                                   answers(shell).size());
  return n - 1;
}

Outcome who(Shell& shell, std::string_view argument) {
  const auto only = group_number(shell, argument);
  std::string text;
  for (std::size_t i = 0; i < answers(shell).size(); ++i) {
    const Group& group = shell.last()[i];
    if (only ? i != *only : group.text.find(argument) == group.text.npos) continue;
    text += fmt::format("{:>3} [{}x] {}\n    {}\n", i + 1, group.tiles.size(), describe(group), named(group.tiles));
  }
  return say(text.empty() ? fmt::format("no tile said {}\n", argument) : text);
}

Outcome groups(Shell& shell, std::string_view argument) {
  Style style = shell.style();
  style.fold = false;
  if (argument.empty()) return say(render(answers(shell), style));
  const auto n = group_number(shell, argument);
  if (!n) reject<poplar::invalid_option>("no-such-group", "%groups {}: expected the number of a group", argument);
  const Group& one = shell.last()[*n];
  return say(one.text.empty() ? describe(one) + "\n" : fold(one.text, style));
}

Outcome reset(Shell& shell, std::string_view argument) {
  const std::vector<unsigned> tiles = argument.empty() ? shell.machine().selected() : parse_tiles(argument, all_tiles(shell));
  shell.machine().reset(tiles);
  return say(fmt::format("{} new interpreter{}\n", tiles.size(), tiles.size() == 1 ? "" : "s"));
}

Outcome tiles(Shell& shell, std::string_view) {
  std::map<std::string, std::vector<unsigned>> ended;
  std::size_t alive = shell.machine().tiles();
  for (unsigned tile = 0; tile < shell.machine().tiles(); ++tile) {
    const TileState state = shell.machine().state(tile);
    if (!state.ended) continue;
    ended[state.why].push_back(tile);
    --alive;
  }
  std::string text = fmt::format("{} on {}; {} alive\nCommands go to {}\n", plural(shell.machine().tiles(), "interpreter"),
                                 plural(shell.machine().ipus(), "IPU"), alive, selection(shell));
  for (const auto& [why, which] : ended) text += fmt::format("ended [{}x] {}: {}\n", which.size(), named(which), why);
  return say(text);
}

std::string duration(std::chrono::duration<double> time) {
  const double seconds = time.count();
  if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
  return seconds >= 1e-3 ? fmt::format("{:.1f} ms", seconds * 1e3) : fmt::format("{:.0f} us", seconds * 1e6);
}

Outcome time(Shell& shell, std::string_view argument) {
  if (argument.empty()) reject<poplar::invalid_option>("no-line", "%time: which line?");
  const bool cell = argument.find('\n') != argument.npos;
  const auto began = std::chrono::steady_clock::now();
  Outcome outcome = argument.starts_with('%') ? run_magic(shell, argument)
                                              : shell.run(argument, cell ? Session::Input::cell : Session::Input::line, "<stdin>");
  outcome.message += fmt::format("Wall time: {}\n", duration(std::chrono::steady_clock::now() - began));
  return outcome;
}

Outcome run(Shell& shell, std::string_view argument) {
  const std::string path(argument);
  if (path.empty()) reject<poplar::invalid_option>("no-file", "%run: which file?");
  std::ifstream in(path, std::ios::binary);
  if (!in) reject<poplar::file_load_error>("no-such-file", "cannot read {}", path);
  const std::string source{std::istreambuf_iterator<char>(in), {}};
  return shell.run(source, Session::Input::script, path);
}

Outcome history(Shell& shell, std::string_view) {
  std::string text;
  for (std::size_t i = 0; i + 1 < shell.history().size(); ++i) {
    text += shell.history()[i];
    if (!text.empty() && text.back() != '\n') text += '\n';
  }
  return say(text);
}

Outcome keys(Shell&, std::string_view) {
  Outcome outcome;
  outcome.next = Outcome::Next::keys;
  return outcome;
}

Outcome quit(Shell&, std::string_view) {
  Outcome outcome;
  outcome.next = Outcome::Next::quit;
  return outcome;
}

Outcome help(Shell& shell, std::string_view argument);

constexpr Magic kMagics[] = {
    {"groups", "[N]", "all of the last answer, or of its N-th group, in full", groups},
    {"help", "", "this list", help},
    {"history", "", "what was entered in this session", history},
    {"keys", "", "every key goes to the tiles' own prompts; Ctrl-D or Ctrl-] leaves", keys},
    {"quit", "", "ends the session; so do exit and Ctrl-D", quit},
    {"reset", "[TILES]", "new interpreters on these tiles, or on the selected ones", reset},
    {"run", "FILE", "runs a file of Python", run},
    {"select", "[TILES]", "which tiles commands go to: 0-99, 5,7, even, odd, ipu 3, 0:1472:2, all", select},
    {"tiles", "", "how many interpreters there are, which have ended and why", tiles},
    {"time", "LINE", "runs the line and says how long it took; %%time: the cell", time},
    {"who", "[N|TEXT]", "which tiles gave the last answers, or the N-th, or those with that text", who},
};

Outcome help(Shell&, std::string_view) {
  std::string text =
      "Python goes to every selected tile: tile number __tileid of __ntiles, on IPU __ipuid. name? asks the tiles what a name is.\n\n";
  for (const Magic& magic : kMagics) text += fmt::format("%{:<16} {}\n", fmt::format("{} {}", magic.name, magic.arguments), magic.what);
  return say(text);
}

std::string_view strip(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == text.npos ? std::string_view() : text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

}  // namespace

Outcome run_magic(Shell& shell, std::string_view line) {
  const std::string_view whole = line.substr(line.starts_with("%%") ? 2 : 1);
  const std::size_t name_end = std::min(whole.find_first_of(" \t\r\n"), whole.size());
  const std::string_view name = whole.substr(0, name_end);
  if (line.starts_with("%%") && name != "time") reject<poplar::invalid_option>("no-such-command", "%%{}: only %%time takes a cell", name);
  for (const Magic& magic : kMagics) {
    if (magic.name != name) continue;
    const std::string_view argument = strip(whole.substr(name_end));
    if (magic.arguments.empty() && !argument.empty())
      reject<poplar::invalid_option>("extra-argument", "%{} takes no argument; found {}", name, argument);
    return magic.run(shell, argument);
  }
  reject<poplar::invalid_option>("no-such-command", "%{}: no such command; %help lists them", name);
}

std::vector<std::string_view> magic_names() {
  std::vector<std::string_view> names;
  for (const Magic& magic : kMagics) names.push_back(magic.name);
  return names;
}

}  // namespace pando::ontile
