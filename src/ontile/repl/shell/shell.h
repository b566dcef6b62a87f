// What can be said to the tiles and to the host, from wherever it comes: a prompt, a script, a notebook.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ontile/repl/shell/groups.h"
#include "ontile/repl/shell/machine.h"

namespace pando::ontile {

// What came of one command.
struct Outcome {
  enum class Next { go_on, quit, keys };

  bool ran = false;  // tiles answered: groups says what
  std::vector<Group> groups;
  std::string message;  // of the host, to be shown after the answers; whole lines
  bool wrong = false;   // the command could not be carried out: the message says why
  Next next = Next::go_on;
};

class Shell {
 public:
  // `style` is for what commands such as %groups print.
  Shell(Machine& machine, Style style) : machine_(machine), style_(style) {}

  using Sink = std::function<void(const Outcome&)>;
  // Carries out Python code and commands: lines that begin with % where a statement could begin. Each part's outcome goes to `sink` when it
  // is there. Stops after a part in which something went wrong, or that ends the session. Never throws for what is wrong with the source.
  void execute(std::string_view source, Session::Input input, const Sink& sink, std::string_view name = "<stdin>");

  // Whether a prompt would execute it now, or ask for more. A %% command takes all until a blank line.
  bool is_complete(std::string_view source);
  // Who shows what tiles say while code runs for long.
  void show_with(Machine::Output show) { show_ = std::move(show); }
  // Of Python on the tiles, or of a command's name.
  Completion complete(std::string_view line);

  Machine& machine() { return machine_; }
  const Style& style() const { return style_; }
  const std::vector<Group>& last() const { return last_; }              // what the tiles said last
  const std::vector<std::string>& history() const { return history_; }  // what was executed

  Outcome run(std::string_view source, Session::Input input, std::string_view name);

 private:
  Machine& machine_;
  Style style_;
  Machine::Output show_;
  std::vector<Group> last_;
  std::vector<std::string> history_;
};

// Something went wrong: a tile raised or ended, or the command could not be carried out.
bool went_wrong(const Outcome& outcome);

}  // namespace pando::ontile
