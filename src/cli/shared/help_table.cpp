#include "cli/shared/help_table.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>
#include <sstream>

#include "cli/command_row.h"

namespace pando::cli {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

// What the program prints; empty if it cannot be run. The words are this program's own: names of programs and commands.
std::string output_of(const std::string& program, const std::string& words) {
  if (access(program.c_str(), X_OK) != 0) return "";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(fmt::format("'{}' {} --help 2>/dev/null", program, words).c_str(), "r"), pclose);
  std::string text;
  std::array<char, 4096> some{};
  for (std::size_t n = 0; pipe && (n = std::fread(some.data(), 1, some.size(), pipe.get())) > 0;) text.append(some.data(), n);
  return text;
}

// "  -o,--output TEXT:{a,b}=-  What it is": the columns of a line of help; the last is empty if it stands in the next line.
HelpOption option_of(const std::string& line) {
  HelpOption option;
  const std::size_t end = std::min(line.find(' ', 2), line.size());
  option.names = split(line.substr(2, end - 2), ',');
  for (std::string& name : option.names) name = name.substr(0, name.find('{'));  // "--no-shards{false}"
  const std::string rest = end < line.size() ? line.substr(end + 1) : "";
  for (const char* type : {"TEXT", "INT", "UINT", "FLOAT"}) option.takes_value |= rest.starts_with(type);
  const std::size_t open = rest.find(":{"), close = rest.find('}');
  const std::size_t gap = rest.starts_with(' ') ? 0 : rest.find("  ");
  if (option.takes_value && open < gap && close < gap) option.choices = split(rest.substr(open + 2, close - open - 2), ',');
  if (gap != std::string::npos) option.summary = trimmed(rest.substr(gap));
  return option;
}

// Names that stand below "Subcommands:".
std::vector<std::string> parts_in(const std::string& help) {
  std::vector<std::string> parts;
  bool inside = false;
  for (const std::string& line : lines_of(help)) {
    if (inside && line.starts_with("  ") && line.size() > 2 && line[2] != ' ')
      parts.push_back(line.substr(2, line.find(' ', 2) - 2));
    else if (!line.starts_with(" "))
      inside = line == "Subcommands:";
  }
  return parts;
}

HelpEntry entry_of(const CommandRow& row, const std::string& part, std::string text) {
  HelpEntry entry;
  entry.name = part.empty() ? std::string(row.name) : fmt::format("{} {}", row.name, part);
  entry.group = title_of(row.group);
  entry.summary = part.empty() ? std::string(row.summary) : text.substr(0, text.find('\n'));
  if (part.empty()) entry.aliases = row.aliases;
  entry.text = std::move(text);
  entry.options = options_in(entry.text);
  if (part.empty()) entry.parts = parts_in(entry.text);
  return entry;
}

}  // namespace

std::vector<HelpOption> options_in(const std::string& help) {
  std::vector<HelpOption> options;
  for (const std::string& line : lines_of(help)) {
    if (line.starts_with("  -"))
      options.push_back(option_of(line));
    else if (!options.empty() && options.back().summary.empty() && line.starts_with("     "))
      options.back().summary = trimmed(line);
    else if (line == "Example:" || line == "Examples:")
      break;
  }
  return options;
}

std::vector<HelpEntry> help_entries(const CLI::App& pando) {
  std::vector<HelpEntry> entries;
  for (const CommandRow& row : command_table()) {
    const CLI::App* const command = pando.get_subcommand_ptr(std::string(row.name)).get();
    const std::string program = row.describe == nullptr ? program_beside(row.program) : "";
    entries.push_back(entry_of(row, "", program.empty() ? command->help("pando") : output_of(program, "")));
    for (const std::string& part : std::vector<std::string>(entries.back().parts)) {
      const std::string text =
          program.empty() ? command->get_subcommand_ptr(part)->help(fmt::format("pando {}", row.name)) : output_of(program, part);
      entries.push_back(entry_of(row, part, text));
    }
  }
  return entries;
}

}  // namespace pando::cli
