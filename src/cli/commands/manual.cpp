// pando manual: the manual page, from the help of every command.
#include <fmt/format.h>

#include <sstream>

#include "base/command/files.h"
#include "base/version.h"
#include "cli/command_row.h"
#include "cli/shared/help_table.h"

namespace pando::cli {
namespace {

// As text of troff: no character is a request, a hyphen is the one that is typed.
std::string troff(const std::string& text) {
  std::string out;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) out += "\\&";
    begins = c == '\n';
    out += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  }
  return out;
}

std::string summaries(const std::vector<HelpEntry>& entries) {
  std::string text, group;
  for (const HelpEntry& entry : entries) {
    if (entry.name.find(' ') != std::string::npos) continue;
    if (entry.group != group) text += fmt::format(".SS {}\n", troff(group = entry.group));
    text += fmt::format(".TP\n.B {}\n{}", troff(entry.name), troff(entry.summary));
    if (!entry.aliases.empty()) text += fmt::format(" (also {})", troff(fmt::format("{}", fmt::join(entry.aliases, ", "))));
    text += ".\n";
  }
  return text;
}

std::string page(const std::vector<HelpEntry>& entries) {
  std::string text = fmt::format(
      ".TH PANDO 1 \"\" \"Pando {}\" \"User Commands\"\n.SH NAME\npando \\- compile and run programs for tile machines\n.SH SYNOPSIS\n"
      ".B pando\n.I COMMAND\n[\\fIARGUMENTS\\fR]\n.br\n.B pando\n.I COMMAND\n.B \\-\\-help\n.br\n.B pando \\-\\-version\n"
      ".SH DESCRIPTION\nPando compiles and runs programs for tile machines such as Graphcore's IPU, without the hardware, and shows what "
      "every "
      "tile does. It also distributes training steps over devices, and predicts their time and memory.\n.SH COMMANDS\n{}.SH DETAILS\n",
      version(), summaries(entries));
  for (const HelpEntry& entry : entries) text += fmt::format(".SS pando {}\n.nf\n{}\n.fi\n", troff(entry.name), troff(entry.text));
  return text +
         ".SH EXIT STATUS\n0: it worked. 1: the answer is no. 2: the input or the command line is wrong. The details of each command say "
         "more.\n"
         ".SH SEE ALSO\npopc \\-\\-help; the pages of the documentation.\n";
}

void describe(CLI::App* command, Invocation& invocation) {
  command->callback([command, &invocation] {
    const CLI::App* const pando = command->get_parent();
    write_file("-", page(help_entries(*pando)));
    invocation.status = 0;
  });
}

}  // namespace

CommandRow command_manual() {
  return {
      .name = "manual",
      .group = CommandGroup::setup,
      .summary = "Write the manual page, which holds the help of every command",
      .describe = describe,
      .examples = {{"pando manual | man -l -", "read it"}, {"pando manual > /usr/local/share/man/man1/pando.1", "install it"}},
      .statuses = {{"0", "written"}, {"2", "the input or the command line is wrong"}},
  };
}

}  // namespace pando::cli
