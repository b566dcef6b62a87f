// pando shell: a shell that runs on tile 0, at a terminal or behind a pipe. An executable of its own, which `pando` becomes.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>
#include <poplar/IPUModel.hpp>
#include <sstream>

#include "base/command/arguments.h"
#include "base/command/help.h"
#include "base/messages.h"
#include "ontile/disk_image.h"
#include "ontile/repl/shell/interrupts.h"
#include "ontile/repl/shell/session_machine.h"
#include "ontile/repl/terminal/line_editor.h"
#include "ontile/repl/terminal/prompt.h"
#include "ontile/shell/tile_shell.h"

namespace {

using namespace pando::ontile;

constexpr int kWrong = 2;  // the command line, or there is no machine like that

struct Arguments {
  SessionOptions session;
  std::string lines;  // -c
  bool has_lines = false, allow_host = false, verbose = false;
};

void describe(CLI::App& app, Arguments& arguments) {
  app.add_option("--ipus", arguments.session.ipus, "IPUs of the machine")->capture_default_str()->check(pando::at_least_one<unsigned>());
  app.add_option("--tiles", arguments.session.tiles, "Interpreters, on the first so many tiles; else on every tile")
      ->check(pando::at_least_one<unsigned>());
  app.add_option("--disk", arguments.session.disk, "The file that the tiles' disks are kept in; without it they last as long as the shell");
  app.add_option("--disk-kib", arguments.session.disk_kib, "KiB of each tile's disk: those of the file, or 64")
      ->check(pando::at_least_one<unsigned>());
  app.add_option("--lent-kib", arguments.session.lent_kib, "KiB that each tile lends to the files of others")
      ->check(pando::whole_number(0, std::numeric_limits<unsigned>::max()));
  app.add_flag("--allow-host", arguments.allow_host, "!COMMAND runs on the host");
  app.add_option("-c", arguments.lines, "Carry out these lines and end")->each([&](const std::string&) { arguments.has_lines = true; });
  app.add_flag("-v,--verbose", arguments.verbose, "Show lines that are not typed before they are carried out");
  app.footer("The command help lists what the shell knows.\n\n" +
             pando::help_footer({{"pando shell", "a shell whose files lie in the memory of 1,472 tiles"},
                                 {"pando shell --tiles 16 --disk disks.img -c 'ls -l'", "one line, on disks that are kept in a file"}},
                                {{"N", "that of exit, or of the last line"},
                                 {"2", "the command line is wrong, or the disk image is damaged"},
                                 {"3", "instead of 0: the last write to the disk image was cut off; the message says where it is kept"}}));
}

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

bool terminal_has_colours() {
  const char* const term = std::getenv("TERM");
  return isatty(STDOUT_FILENO) && std::getenv("NO_COLOR") == nullptr && (term == nullptr || std::strcmp(term, "dumb") != 0);
}

void show_progress(std::string_view what) {
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "\r\033[K{}", what.empty() ? "" : fmt::format("{} ...", what));
  std::fflush(stderr);
}

// Where lines come from, those of the shell and those that programs ask for.
class Source {
 public:
  Source(std::istream& lines, bool shows) : lines_(lines), shows_(shows) {}
  void edit_with(LineEditor* editor) { editor_ = editor; }

  enum class Got { line, end, interrupted };
  Got next(std::string_view prompt, std::string& line, bool remember) {
    if (editor_) return typed(prompt, line, remember);
    if (!std::getline(lines_, line)) return Got::end;
    if (shows_) print(fmt::format("{}{}\n", prompt, line));
    return Got::line;
  }
  bool wants_prompt() const { return editor_ || shows_; }

 private:
  Got typed(std::string_view prompt, std::string& line, bool remember) {
    const LineEditor::Line got = editor_->read(prompt);
    if (got.end == LineEditor::End::end) return Got::end;
    if (got.end == LineEditor::End::interrupted) return Got::interrupted;
    line = got.text;
    if (remember && !line.empty()) editor_->remember(line);
    return Got::line;
  }

  std::istream& lines_;
  bool shows_;
  LineEditor* editor_ = nullptr;
};

TileShellOptions options_of(const Arguments& arguments, const Machine& machine, bool at_terminal) {
  const poplar::Target target = poplar::IPUModel("ipu2").createDevice().getTarget();
  TileShellOptions o;
  o.allow_host = arguments.allow_host;
  o.interactive = at_terminal;
  o.machine = fmt::format("{} IPU{} of {} tiles, {} MHz; Python on {} tile{}", machine.ipus(), machine.ipus() == 1 ? "" : "s",
                          target.getTilesPerIPU(), static_cast<unsigned>(target.getTileClockFrequency() / 1e6), machine.tiles(),
                          machine.tiles() == 1 ? "" : "s");
  o.tile = fmt::format("{} KiB, {} workers", target.getBytesPerTile() / 1024, target.getNumWorkerContexts());
  o.disk = arguments.session.disk.empty() ? "gone when the shell ends" : "kept in " + arguments.session.disk;
  o.style = {terminal_has_colours(), at_terminal};
  return o;
}

int run_lines(TileShell& shell, Source& source, Interrupts& interrupts) {
  int status = 0;
  while (!shell.has_left()) {
    std::string text;
    const Source::Got got = source.next(source.wants_prompt() ? shell.prompt() : "", text, true);
    if (got == Source::Got::end) break;
    if (got == Source::Got::interrupted) print("\n");
    // What was pasted may have several.
    std::istringstream lines(got == Source::Got::line ? text : "");
    for (std::string line; !shell.has_left() && std::getline(lines, line);) {
      status = shell.line(line);
      if (interrupts.take()) break;
    }
    interrupts.take();
  }
  return status;
}

int run(Arguments& arguments) {
  const bool at_terminal = !arguments.has_lines && isatty(STDIN_FILENO);
  std::istringstream given(arguments.lines);
  Source source(arguments.has_lines ? static_cast<std::istream&>(given) : std::cin, arguments.verbose);
  const Style style{terminal_has_colours(), at_terminal};
  if (arguments.session.disk.empty() && arguments.session.disk_kib == 0) arguments.session.disk_kib = DiskImage::kDefaultKib;
  arguments.session.progress = show_progress;
  SessionMachine machine(arguments.session, true);
  show_progress("");
  machine.say_what_was_cut_off("pando shell");
  // A program asks: the last line that it wrote is the prompt.
  machine.set_input([&](const Reply& said, std::string& line) {
    const std::string text = text_of(said, style);
    const std::size_t prompt = at_terminal ? text.rfind('\n') + 1 : text.size();
    print(std::string_view(text).substr(0, prompt));
    return source.next(std::string_view(text).substr(prompt), line, false) == Source::Got::line;
  });
  Interrupts interrupts(machine);
  TileShell shell(machine, options_of(arguments, machine, at_terminal), print);
  if (!at_terminal) return machine.exit_status(run_lines(shell, source, interrupts));
  LineEditor editor(interrupts, [&](std::string_view line) { return shell.complete(line); }, history_file("shell_history"));
  source.edit_with(&editor);
  const int status = run_lines(shell, source, interrupts);
  if (!shell.has_left()) print("\n");
  return machine.exit_status(status);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("A shell that runs on tile 0, with files in the memory of tiles.", "pando shell");
  Arguments arguments;
  describe(app, arguments);
  try {
    app.parse(argc, argv);
    return run(arguments);
  } catch (const CLI::ParseError& error) { return pando::explain(app, error); } catch (const std::exception& error) {
    pando::complain(fmt::format("pando shell: {}", error.what()));
    return kWrong;
  }
}
