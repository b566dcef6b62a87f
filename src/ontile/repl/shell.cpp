#include "ontile/repl/shell.h"

#include <fmt/format.h>

#include <algorithm>

#include "ontile/repl/magics.h"
#include "ontile/repl/tile_set.h"

namespace pando::ontile {
namespace {

// What cannot be carried out is an outcome, too.
template <typename Action>
Outcome attempt(Action action) {
  try {
    return action();
  } catch (const std::exception& error) {
    Outcome outcome;
    outcome.message = std::string(error.what()) + '\n';
    outcome.wrong = true;
    return outcome;
  }
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == text.npos; }

std::vector<unsigned> tiles_with(const std::vector<Group>& groups, Ending ending) {
  std::vector<unsigned> tiles;
  for (const Group& group : groups)
    if (group.ending == ending) tiles.insert(tiles.end(), group.tiles.begin(), group.tiles.end());
  std::sort(tiles.begin(), tiles.end());
  return tiles;
}

std::string describe_missing(const std::vector<Group>& groups) {
  const auto ended = tiles_with(groups, Ending::ended), skipped = tiles_with(groups, Ending::skipped);
  std::string text;
  if (!ended.empty())
    text += ended.size() == 1 ? fmt::format("The interpreter of tile {0} has ended: %reset {0} gives it a new one.\n", ended[0])
                              : fmt::format("The interpreters of {} tiles have ended: %reset {} gives them new ones.\n", ended.size(), print_tiles(ended));
  if (!skipped.empty())
    text += fmt::format("{} {} no interpreter any more: see %tiles and %reset.\n",
                        skipped.size() == 1 ? fmt::format("Tile {}", skipped[0]) : fmt::format("{} tiles", skipped.size()),
                        skipped.size() == 1 ? "has" : "have");
  return text;
}

// What a line of Python and a line of IPython have in common: these mean the session, not the tiles.
bool means_quit(std::string_view source) {
  for (const std::string_view word : {"exit", "quit", "exit()", "quit()"})
    if (source == word || (source.starts_with(word) && is_blank(source.substr(word.size())))) return true;
  return false;
}

}  // namespace

bool went_wrong(const Outcome& outcome) {
  return outcome.wrong || std::any_of(outcome.groups.begin(), outcome.groups.end(), [](const Group& group) {
           return group.ending == Ending::raised || group.ending == Ending::ended;
         });
}

Outcome Shell::run(std::string_view source, Session::Input input, std::string_view name) {
  Outcome outcome;
  outcome.ran = true;
  outcome.groups = last_ = group(machine_.run(source, input, name));
  outcome.message = describe_missing(outcome.groups);
  const bool all_left = !outcome.groups.empty() && std::all_of(outcome.groups.begin(), outcome.groups.end(), [](const Group& group) {
    return group.ending == Ending::exited;
  });
  if (all_left) outcome.next = Outcome::Next::quit;
  return outcome;
}

bool Shell::is_complete(std::string_view source) {
  if (source.starts_with("%%")) return source.ends_with('\n');
  return source.starts_with('%') || machine_.is_complete(source);
}

void Shell::execute(std::string_view source, Session::Input input, const Sink& sink, std::string_view name) {
  if (is_blank(source)) return;
  history_.emplace_back(source);
  if (means_quit(source)) return sink({false, {}, "", false, Outcome::Next::quit});
  std::string code;
  bool stopped = false;
  const auto told = [&](const Outcome& outcome) {
    sink(outcome);
    stopped = went_wrong(outcome) || outcome.next == Outcome::Next::quit;
  };
  const auto run_code = [&] {
    if (!is_blank(code)) told(attempt([&] { return run(code, input, name); }));
    // What follows keeps its line numbers.
    code.assign(static_cast<std::size_t>(std::count(code.begin(), code.end(), '\n')), '\n');
  };
  for (std::size_t begin = 0; begin < source.size() && !stopped;) {
    const std::size_t end = std::min(source.find('\n', begin), source.size());
    const std::string_view line = source.substr(begin, end - begin);
    if (line.starts_with("%%")) {  // a command about all that follows
      if (run_code(); !stopped) told(attempt([&] { return run_magic(*this, source.substr(begin)); }));
      return;
    }
    if (line.starts_with('%') && (is_blank(code) || machine_.is_complete(code + '\n'))) {
      if (run_code(); !stopped) told(attempt([&] { return run_magic(*this, line); }));
      code += '\n';
    } else {
      code.append(source.substr(begin, end + 1 - begin));
    }
    begin = end + 1;
  }
  if (!stopped) run_code();
}

Completion Shell::complete(std::string_view line) {
  if (!line.starts_with('%') || line.find(' ') != line.npos) return machine_.complete(line);
  return complete_magic(line);
}

}  // namespace pando::ontile
