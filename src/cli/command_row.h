// The subcommands of `pando`: one file of commands/ each, with one row. The build finds the file; the command line, its help, shell
// completion, the manual page, the docs and the tests loop over the table.
#pragma once

#include <CLI/CLI.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/command/help.h"

namespace pando::cli {

// What people want of a command. `pando --help` lists the groups in this order.
enum class CommandGroup { look, python, distribute, predict, setup };
std::string_view title_of(CommandGroup group);

// The exit statuses of every command: the answer is no (it does not fit, nothing was found); the input or the command line is wrong.
inline constexpr int kNo = 1;
inline constexpr int kWrong = 2;

// One call of `pando`.
struct Invocation {
  int status = 0;                           // the exit status that the command sets
  bool has_dashes = false;                  // the command line has --
  std::vector<std::string> arguments = {};  // as they were given, from the command's name on
};

struct CommandRow {
  std::string_view name;  // "report"
  CommandGroup group = CommandGroup::look;
  std::string_view summary;  // one line
  // Adds options and the callback that does the work. Null: `pando` becomes the program that stands beside it, which has a help of its own.
  void (*describe)(CLI::App* command, Invocation& invocation) = nullptr;
  std::string_view program = {};  // "pando-run"
  std::vector<CommandExample> examples = {};
  std::vector<CommandStatus> statuses = {};
  std::vector<std::string> aliases = {};  // names that scripts have from earlier versions
};

// By group, then by name.
std::span<const CommandRow> command_table();
// All of them, as subcommands of `app`, with the help of `pando` itself.
void add_commands(CLI::App& app, Invocation& invocation);

// A message on standard error, with the command's name in front: "pando report: ...".
void complain_of(std::string_view command, std::string_view text);
// Becomes a program that stands beside this one, with these arguments.
void become(std::string_view name, const std::vector<std::string>& arguments);
// The path of a program that stands beside this one.
std::string program_beside(std::string_view name);

}  // namespace pando::cli
