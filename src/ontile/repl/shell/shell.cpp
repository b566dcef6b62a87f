#include "ontile/repl/shell/shell.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "ontile/repl/shell/collective_help.h"
#include "ontile/repl/shell/magics.h"
#include "ontile/repl/shell/tile_set.h"

namespace pando::ontile {
namespace {

// What every Python has: keywords, and built-in names that people type.
constexpr std::string_view kWords[] = {"False",
                                       "None",
                                       "True",
                                       "and",
                                       "as",
                                       "assert",
                                       "async",
                                       "await",
                                       "break",
                                       "class",
                                       "continue",
                                       "def",
                                       "del",
                                       "elif",
                                       "else",
                                       "except",
                                       "finally",
                                       "for",
                                       "from",
                                       "global",
                                       "if",
                                       "import",
                                       "in",
                                       "is",
                                       "lambda",
                                       "nonlocal",
                                       "not",
                                       "or",
                                       "pass",
                                       "raise",
                                       "return",
                                       "try",
                                       "while",
                                       "with",
                                       "yield",
                                       "ArithmeticError",
                                       "AssertionError",
                                       "AttributeError",
                                       "Exception",
                                       "ImportError",
                                       "IndexError",
                                       "KeyError",
                                       "KeyboardInterrupt",
                                       "MemoryError",
                                       "NameError",
                                       "NotImplementedError",
                                       "OSError",
                                       "OverflowError",
                                       "RuntimeError",
                                       "StopIteration",
                                       "SyntaxError",
                                       "SystemExit",
                                       "TypeError",
                                       "ValueError",
                                       "ZeroDivisionError",
                                       "abs",
                                       "all",
                                       "any",
                                       "bin",
                                       "bool",
                                       "bytearray",
                                       "bytes",
                                       "callable",
                                       "chr",
                                       "classmethod",
                                       "complex",
                                       "delattr",
                                       "dict",
                                       "dir",
                                       "divmod",
                                       "enumerate",
                                       "eval",
                                       "exec",
                                       "filter",
                                       "float",
                                       "frozenset",
                                       "getattr",
                                       "globals",
                                       "hasattr",
                                       "hash",
                                       "help",
                                       "hex",
                                       "id",
                                       "input",
                                       "int",
                                       "isinstance",
                                       "issubclass",
                                       "iter",
                                       "len",
                                       "list",
                                       "locals",
                                       "map",
                                       "max",
                                       "memoryview",
                                       "min",
                                       "next",
                                       "object",
                                       "oct",
                                       "open",
                                       "ord",
                                       "pow",
                                       "print",
                                       "property",
                                       "range",
                                       "repr",
                                       "reversed",
                                       "round",
                                       "set",
                                       "setattr",
                                       "slice",
                                       "sorted",
                                       "staticmethod",
                                       "str",
                                       "sum",
                                       "super",
                                       "tuple",
                                       "type",
                                       "zip"};

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The name that is begun there; empty if it is an attribute of something.
std::string_view name_at_end(std::string_view line) {
  std::size_t begin = line.size();
  while (begin > 0 && is_name(line[begin - 1])) --begin;
  return begin > 0 && line[begin - 1] == '.' ? std::string_view() : line.substr(begin);
}

Completion complete_word(std::string_view begun, std::vector<std::string_view> words, std::string_view mark) {
  std::erase_if(words, [&](std::string_view word) { return !word.starts_with(begun); });
  if (words.empty()) return {};
  if (words.size() == 1) return {std::string(words[0].substr(begun.size())), ""};
  std::string same(words[0]);
  for (const std::string_view word : words)
    same.resize(std::mismatch(same.begin(), same.end(), word.begin(), word.end()).first - same.begin());
  if (same.size() > begun.size()) return {same.substr(begun.size()), ""};
  std::string candidates;
  for (const std::string_view word : words) candidates += fmt::format("{:<16}", fmt::format("{}{}", mark, word));
  return {"", candidates};
}

// "name?" as in IPython: the name, with its attributes.
std::string_view asked_about(std::string_view source) {
  if (source.ends_with('\n')) source.remove_suffix(1);
  if (source.size() < 2 || !source.ends_with('?')) return {};
  source.remove_suffix(1);
  return std::all_of(source.begin(), source.end(), [](char c) { return is_name(c) || c == '.'; }) ? source : std::string_view();
}

// Is it `help` or `help()`?
bool asks_for_help(std::string_view source) {
  while (!source.empty() && (source.back() == '\n' || source.back() == ' ')) source.remove_suffix(1);
  return source == "help" || source == "help()";
}

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
                              : fmt::format("The interpreters of {} tiles have ended: %reset {} gives them new ones.\n", ended.size(),
                                            print_tiles(ended));
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
  return outcome.wrong || std::any_of(outcome.groups.begin(), outcome.groups.end(),
                                      [](const Group& group) { return group.ending == Ending::raised || group.ending == Ending::ended; });
}

Outcome Shell::run(std::string_view source, Session::Input input, std::string_view name) {
  Outcome outcome;
  outcome.ran = true;
  machine_.set_output(show_);
  try {
    outcome.groups = last_ = group(machine_.run(source, input, name));
  } catch (...) {
    machine_.set_output(nullptr);
    throw;
  }
  machine_.set_output(nullptr);  // what else is asked of the tiles is for nobody to see
  outcome.message = describe_missing(outcome.groups);
  const bool all_left = !outcome.groups.empty() && std::all_of(outcome.groups.begin(), outcome.groups.end(),
                                                               [](const Group& group) { return group.ending == Ending::exited; });
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
  if (asks_for_help(source)) return sink({false, {}, prompt_help(), false, Outcome::Next::go_on});
  const std::string_view name_asked = asked_about(source);
  if (std::string text = collective_help(name_asked); !text.empty()) return sink({false, {}, std::move(text), false, Outcome::Next::go_on});
  if (!name_asked.empty()) return sink(attempt([&] { return run(fmt::format("help({})", name_asked), Session::Input::line, name); }));
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
  if (line.starts_with('%') && line.find(' ') == line.npos) return complete_word(line.substr(1), magic_names(), "%");
  const Completion found = machine_.complete(line);
  const std::string_view begun = name_at_end(line);
  if (!found.insert.empty() || !found.candidates.empty() || begun.empty()) return found;
  // The tiles know the names of their programs, and not these.
  return complete_word(begun, {std::begin(kWords), std::end(kWords)}, "");
}

}  // namespace pando::ontile
