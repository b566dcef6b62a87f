#include <fmt/format.h>

#include <algorithm>

#include "cli/command_row.h"

// CMake writes one X(<stem>) per file of commands/; a file without its function, or a function of another name, does not link.
#define X(stem) CommandRow command_##stem();
namespace pando::cli {
#include "command_manifest.inc"
}
#undef X

namespace pando::cli {
namespace {

std::vector<CommandRow> make_all() {
  std::vector<CommandRow> all;
#define X(stem) all.push_back(command_##stem());
#include "command_manifest.inc"
#undef X
  std::sort(all.begin(), all.end(),
            [](const CommandRow& a, const CommandRow& b) { return std::pair(a.group, a.name) < std::pair(b.group, b.name); });
  return all;
}

// The help of `pando` itself.
class HelpOfAll : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override { return "\nUsage: pando COMMAND [ARGUMENTS]\n"; }
  std::string make_subcommand(const CLI::App* command) const override {
    return fmt::format("  {:<15} {}\n", command->get_name(), command->get_description());
  }
};

// That of a command: where the library says "(0x)" of what may come several times, or not at all, dots stand.
class HelpOfCommand : public CLI::Formatter {
 public:
  std::string make_option_usage(const CLI::Option* option) const override {
    std::string text = CLI::Formatter::make_option_usage(option);
    if (const std::size_t at = text.find("(0x)"); at != std::string::npos) text.replace(at, 4, "...");
    return text;
  }
};

// An empty text is none of a value: what reads it would take it for an option that was not given.
void expect_values(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    if (option->get_items_expected_max() == 0 || option->get_lnames().empty()) continue;
    option->check(CLI::Validator([](const std::string& text) { return text.empty() ? "a value is expected, not an empty text" : ""; }, ""));
  }
  for (CLI::App* part : command.get_subcommands({})) expect_values(*part);
}

}  // namespace

std::string_view title_of(CommandGroup group) {
  switch (group) {
    case CommandGroup::look: return "Look into programs";
    case CommandGroup::python: return "Python on tiles";
    case CommandGroup::distribute: return "Make and distribute programs";
    case CommandGroup::predict: return "Predict time and memory";
    case CommandGroup::setup: return "Set up";
  }
  __builtin_unreachable();
}

std::span<const CommandRow> command_table() {
  static const std::vector<CommandRow> all = make_all();
  return all;
}

void add_commands(CLI::App& app, Invocation& invocation) {
  for (const CommandRow& row : command_table()) {
    CLI::App* const command = app.add_subcommand(std::string(row.name), std::string(row.summary))->group(std::string(title_of(row.group)));
    for (const std::string& alias : row.aliases) command->alias(alias);
    if (row.describe != nullptr) {
      row.describe(command, invocation);
      expect_values(*command);
      const std::string footer = help_footer(row.examples, row.statuses);
      command->footer(footer);
      command->formatter(std::make_shared<HelpOfCommand>());
      for (CLI::App* part : command->get_subcommands({})) part->group("Subcommands")->footer(footer);
      continue;
    }
    command->prefix_command();
    command->set_help_flag();  // its own options are its own, --help among them
    command->callback([command, &row] { become(row.program, command->remaining()); });
  }
  app.footer("pando COMMAND --help says what a command takes, with examples and its exit statuses.");
  app.formatter(std::make_shared<HelpOfAll>());  // after the commands, which take it over
}

}  // namespace pando::cli
