// The help of every command as a table: what shell completion and the manual page are made from.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace pando::cli {

struct HelpOption {
  std::vector<std::string> names;  // "-o", "--output"
  bool takes_value = false;
  std::vector<std::string> choices;  // its values, where it has a list of them
  std::string summary;               // one line
};

struct HelpEntry {
  std::string name;  // "report", or "training-step gpt"
  std::vector<std::string> aliases;
  std::string group, summary;
  std::string text;  // the whole help
  std::vector<HelpOption> options;
  std::vector<std::string> parts;  // commands of the command: "gpt"
};

// The options that a help text lists.
std::vector<HelpOption> options_in(const std::string& help);
// Every command, in the order of `pando --help`, and after each its parts. Programs that stand beside this one are asked for their help;
// what is not installed has no options. `pando`: the app with the commands.
std::vector<HelpEntry> help_entries(const CLI::App& pando);

}  // namespace pando::cli
