#include "ontile/repl/terminal/prompt.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "ontile/repl/shell/script.h"
#include "ontile/repl/shell/tile_set.h"
#include "ontile/repl/terminal/indent.h"
#include "ontile/repl/terminal/keys.h"
#include "ontile/repl/terminal/line_editor.h"

namespace pando::ontile {
namespace {

constexpr std::size_t kWidestSelection = 16;

struct Prompts {
  std::string first, next, paste;
};

// Which tiles are asked stands before the prompt if it is not all of them.
Prompts prompts(Shell& shell) {
  std::string selection;
  if (const auto& selected = shell.machine().selected(); selected.size() != shell.machine().tiles()) {
    selection = print_tiles(selected);
    if (selection.size() > kWidestSelection) selection = fmt::format("{} tiles", selected.size());
    selection = fmt::format("[{}] ", selection);
  }
  // \1 begins and ends what has no width.
  const auto green = [&](std::string text) { return shell.style().colours ? fmt::format("\1\033[32m\1{}\1\033[0m\1", text) : text; };
  return {green(selection + ">>> "), green(std::string(selection.size(), ' ') + "... "), green("=== ")};
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t") == text.npos; }

struct Input {
  LineEditor::End end = LineEditor::End::line;
  std::string text;
};

// Lines until Ctrl-D; nothing in them has a meaning of its own.
Input read_paste(LineEditor& editor, const Prompts& prompts) {
  fmt::print("\npaste mode; Ctrl-C to cancel, Ctrl-D to finish\n");
  Input input;
  for (;;) {
    const LineEditor::Line line = editor.read(prompts.paste, {}, true);
    if (line.end == LineEditor::End::interrupted) return {line.end, {}};
    if (line.end != LineEditor::End::line) break;
    input.text += line.text + '\n';
  }
  fmt::print("\n");
  return input;
}

// Lines until the tiles' own rule says that they are whole.
Input read_block(Shell& shell, LineEditor& editor, Interrupts& interrupts) {
  const Prompts all = prompts(shell);
  std::string text;
  for (std::string indent;;) {
    const LineEditor::Line line = editor.read(text.empty() ? all.first : all.next, indent);
    if (line.end == LineEditor::End::paste && text.empty()) return read_paste(editor, all);
    if (line.end != LineEditor::End::line) return {line.end, {}};
    const bool blank = is_blank(line.text);
    if (blank && text.empty()) continue;
    if (!text.empty()) text += '\n';
    if (!blank) text += line.text;
    const bool whole = shell.is_complete(text);
    if (interrupts.take()) return {LineEditor::End::interrupted, {}};
    if (whole) return {LineEditor::End::line, text};
    indent = next_indent(blank ? indent : line.text.substr(line.text.rfind('\n') + 1));
  }
}

void show(const Outcome& outcome, const Shell& shell) {
  const std::string text = render(outcome.groups, shell.style()) + outcome.message;
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

// The exit status if this ends the session.
std::optional<int> execute(Shell& shell, Interrupts& interrupts, const std::string& text) {
  std::optional<int> status;
  const bool several = text.find('\n') != text.npos;
  shell.execute(text, several ? Session::Input::cell : Session::Input::line, [&](const Outcome& outcome) {
    if (interrupts.happened()) fmt::print("\n");  // after the terminal's ^C
    show(outcome, shell);
    if (outcome.next == Outcome::Next::keys) run_keys(shell, interrupts);
    if (outcome.next == Outcome::Next::quit) status = status_of(outcome);
  });
  interrupts.take();
  return status;
}

}  // namespace

std::string history_file(std::string_view name) {
  const char* const state = std::getenv("XDG_STATE_HOME");
  const char* const home = std::getenv("HOME");
  std::filesystem::path folder;
  if (state != nullptr && *state == '/')
    folder = state;  // others are to be ignored
  else if (home != nullptr && *home != '\0')
    folder = std::filesystem::path(home) / ".local" / "state";
  else
    return {};
  folder /= "pando";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  return error ? std::string() : (folder / name).string();
}

int run_prompt(Shell& shell, Interrupts& interrupts) {
  LineEditor editor(interrupts, [&](std::string_view line) { return shell.complete(line); }, history_file());
  for (;;) {
    const Input input = read_block(shell, editor, interrupts);
    if (input.end == LineEditor::End::end) {
      fmt::print("\n");
      return 0;
    }
    if (input.end == LineEditor::End::interrupted) {
      fmt::print("\nKeyboardInterrupt\n");
      continue;
    }
    editor.remember(input.text);
    if (const auto status = execute(shell, interrupts, input.text)) return *status;
  }
}

}  // namespace pando::ontile
