#include "cli/shared/completion_scripts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace pando::cli {
namespace {

bool is_part(const HelpEntry& entry) { return entry.name.find(' ') != std::string::npos; }

std::vector<std::string> option_names(const HelpEntry& entry) {
  std::vector<std::string> names;
  for (const HelpOption& option : entry.options) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

// Within '...' of a shell.
std::string quoted(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out;
}

// The same for fish, whose quotes have escapes.
std::string fish_quoted(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out;
}

// Within a specification of zsh, whose brackets and colons have a meaning.
std::string zsh_quoted(const std::string& text) {
  std::string out;
  for (const char c : quoted(text)) out += c == '[' || c == ']' || c == ':' ? std::string("\\") + c : std::string(1, c);
  return out;
}

// The function of the script looks words up in these tables. A key is the command so far: "pando", "pando training-step".
constexpr const char* kBashFunction = R"bash(
_pando() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=pando name i
  if [[ $word == '=' ]]; then
    word=
  elif [[ $previous == '=' ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    name=${COMP_WORDS[i]}
    name=${_pando_aliases["$command $name"]-$name}
    [[ " ${_pando_commands["$command"]-} " != *" $name "* ]] || command="$command $name"
  done
  COMPREPLY=()
  if [[ -n ${_pando_values["$command $previous"]-} ]]; then
    COMPREPLY=($(compgen -W "${_pando_values["$command $previous"]-}" -- "$word"))
  elif [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "${_pando_options["$command"]-}" -- "$word"))
  elif [[ -n ${_pando_commands["$command"]-} ]]; then
    COMPREPLY=($(compgen -W "${_pando_commands["$command"]-}" -- "$word"))
  fi
}
complete -o default -F _pando pando
)bash";

std::string zsh_options(const HelpEntry& entry) {
  std::string text;
  for (const HelpOption& option : entry.options) {
    const std::string value = !option.takes_value      ? ""
                              : option.choices.empty() ? ":value:_files"
                                                       : fmt::format(":value:({})", fmt::join(option.choices, " "));
    for (const std::string& name : option.names) text += fmt::format(" \\\n        '{}[{}]{}'", name, zsh_quoted(option.summary), value);
  }
  return text;
}

}  // namespace

std::string bash_completion(std::span<const HelpEntry> entries) {
  std::string commands, aliases, parts, options = "  [pando]='--help --version'\n", values;
  for (const HelpEntry& entry : entries) {
    if (!is_part(entry)) commands += (commands.empty() ? "" : " ") + entry.name;
    for (const std::string& alias : entry.aliases) aliases += fmt::format("  ['pando {}']={}\n", alias, entry.name);
    if (!entry.parts.empty()) parts += fmt::format("  ['pando {}']='{}'\n", entry.name, fmt::join(entry.parts, " "));
    options += fmt::format("  ['pando {}']='{}'\n", entry.name, fmt::join(option_names(entry), " "));
    for (const HelpOption& option : entry.options) {
      if (option.choices.empty()) continue;
      for (const std::string& name : option.names)
        values += fmt::format("  ['pando {} {}']='{}'\n", entry.name, name, quoted(fmt::format("{}", fmt::join(option.choices, " "))));
    }
  }
  return fmt::format(
      "# Completion of pando for bash, written by: pando completion bash\n"
      "declare -gA _pando_commands=(\n  [pando]='{}'\n{})\ndeclare -gA _pando_aliases=(\n{})\n"
      "declare -gA _pando_options=(\n{})\ndeclare -gA _pando_values=(\n{}){}",
      commands, parts, aliases, options, values, kBashFunction);
}

std::string zsh_completion(std::span<const HelpEntry> entries) {
  std::string names, parts, commands;
  for (const HelpEntry& entry : entries) {
    if (is_part(entry)) {
      parts += fmt::format("    '{}')\n      shift 2 words; (( CURRENT -= 2 ))\n      _arguments{} \\\n        '*:file:_files'\n      ;;\n",
                           entry.name, zsh_options(entry));
      continue;
    }
    names += fmt::format("    '{}:{}'\n", entry.name, quoted(entry.summary));
    std::string patterns = fmt::format("'{} '*", entry.name);
    for (const std::string& alias : entry.aliases) patterns += fmt::format("|'{} '*", alias);
    const std::string own = entry.parts.empty() ? "'*:file:_files'" : fmt::format("'1:command:({})'", fmt::join(entry.parts, " "));
    commands += fmt::format("    {})\n      shift words; (( CURRENT -= 1 ))\n      _arguments{} \\\n        {}\n      ;;\n", patterns,
                            zsh_options(entry), own);
  }
  return fmt::format(
      "#compdef pando\n# Completion of pando for zsh, written by: pando completion zsh\n_pando() {{\n  local -a commands\n  commands=(\n{} "
      " )\n"
      "  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n  case \"$words[2] $words[3]\" in\n{}{}  esac\n}}\n"
      "_pando \"$@\"\n",
      names, parts, commands);
}

std::string fish_completion(std::span<const HelpEntry> entries) {
  std::string text = "# Completion of pando for fish, written by: pando completion fish\n";
  for (const HelpEntry& entry : entries) {
    const std::size_t space = entry.name.find(' ');
    std::vector<std::string> names = {entry.name.substr(0, space)};
    names.insert(names.end(), entry.aliases.begin(), entry.aliases.end());
    std::string seen = fmt::format("__fish_seen_subcommand_from {}", fmt::join(names, " "));
    if (is_part(entry)) seen += "; and __fish_seen_subcommand_from " + entry.name.substr(space + 1);
    if (!is_part(entry))
      text += fmt::format("complete -c pando -f -n __fish_use_subcommand -a {} -d '{}'\n", entry.name, fish_quoted(entry.summary));
    if (!entry.parts.empty()) text += fmt::format("complete -c pando -f -n '{}' -a '{}'\n", seen, fmt::join(entry.parts, " "));
    for (const HelpOption& option : entry.options) {
      text += fmt::format("complete -c pando -n '{}'", seen);
      for (const std::string& name : option.names) text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (option.takes_value && option.choices.empty()) text += " -r";
      if (!option.choices.empty()) text += fmt::format(" -x -a '{}'", fmt::join(option.choices, " "));
      text += fmt::format(" -d '{}'\n", fish_quoted(option.summary));
    }
  }
  return text;
}

}  // namespace pando::cli
