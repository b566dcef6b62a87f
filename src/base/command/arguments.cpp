#include "base/command/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>

#include "base/messages.h"
#include "base/text/similar_names.h"

namespace pando {

namespace {

// Nothing if it is no finite number.
std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

template <class T>
CLI::Validator number_between(T lowest, T highest) {
  const auto check = [lowest, highest](const std::string& text) {
    T n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    const bool is_number = error == std::errc() && text == std::to_string(n);
    if (is_number && n >= lowest && n <= highest) return std::string();
    return fmt::format("'{}': a whole number from {} to {} is expected", text, lowest, highest);
  };
  return CLI::Validator(check, "");
}

std::string nearest_of(const std::string& word, const std::vector<std::string>& known) {
  constexpr std::size_t kFew = 8;
  const std::vector<std::string> near = similar_names(word, known);
  if (!near.empty()) return "; the nearest is " + near.front();
  return known.size() <= kFew ? fmt::format("; there are {}", fmt::join(known, ", ")) : "";
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) {
    names.push_back(command->get_name());
    for (const std::string& alias : command->get_aliases()) names.push_back(alias);
  }
  return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// The app that a word was left over of; null if none was.
const CLI::App* app_with_rest(const CLI::App& app) {
  if (app.remaining_size() > 0) return &app;
  for (const CLI::App* command : app.get_subcommands()) {
    if (const CLI::App* found = app_with_rest(*command)) return found;
  }
  return nullptr;
}

// What to say about the first word that nothing takes; empty if that is not what is wrong. A help is given of a command that there is.
std::string unknown_word(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* const at = app_with_rest(app);
  if (at == nullptr) return "";
  const std::string word = at->remaining().front(), name = full_name(*at);
  const std::vector<std::string> commands = commands_of(*at);
  const bool is_option = word.size() > 1 && word.front() == '-';
  if (!commands.empty() && !is_option)
    return fmt::format("{}: there is no command '{}'{}\n{} --help lists the commands", name, word, nearest_of(word, commands), name);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) return "";
  const std::string option = word.substr(0, word.find('='));
  const std::string what = is_option ? fmt::format("there is no option '{}'{}", option, nearest_of(option, options_of(*at)))
                                     : fmt::format("'{}' is one word too many", word);
  return fmt::format("{}: {}\n{} --help says what it takes", name, what, name);
}

// The library says "A subcommand is required".
std::string what_is_wrong(const CLI::App& command, const CLI::ParseError& error) {
  const std::vector<std::string> commands = commands_of(command);
  const bool is_missing =
      dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !commands.empty() && command.get_subcommands().empty();
  return is_missing ? fmt::format("a command is required: {}", fmt::join(commands, ", ")) : error.what();
}

}  // namespace

std::string check_number(const std::string& text) { return number_of(text) ? "" : "'" + text + "': a number is expected"; }

std::string check_positive(const std::string& text) {
  const auto n = number_of(text);
  return n && *n > 0 ? "" : "'" + text + "': a number above 0 is expected";
}

std::string check_not_negative(const std::string& text) {
  const auto n = number_of(text);
  return n && *n >= 0 ? "" : "'" + text + "': a number of 0 or more is expected";
}

CLI::Validator whole_number(std::int64_t lowest, std::int64_t highest) { return number_between(lowest, highest); }
CLI::Validator unsigned_number() { return number_between<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max()); }

CLI::Validator one_of(std::vector<std::string> values) {
  const std::string known = fmt::format("{}", fmt::join(values, ", "));
  const std::string description = fmt::format("{{{}}}", fmt::join(values, ","));
  const auto check = [values = std::move(values), known](const std::string& text) {
    if (std::find(values.begin(), values.end(), text) != values.end()) return std::string();
    const std::vector<std::string> near = similar_names(text, values);
    return fmt::format("'{}': one of {} is expected{}", text, known, near.empty() ? "" : "; the nearest is " + near.front());
  };
  return CLI::Validator(check, description);
}

const CLI::App& command_given(const CLI::App& app) {
  const std::vector<CLI::App*> given = app.get_subcommands();
  return given.empty() ? app : command_given(*given.front());
}

std::string full_name(const CLI::App& command) {
  return command.get_parent() == nullptr ? command.get_name() : full_name(*command.get_parent()) + " " + command.get_name();
}

int explain(const CLI::App& app, const CLI::ParseError& error) {
  constexpr int kWrong = 2;
  std::string wrong = unknown_word(app, error);
  if (wrong.empty()) {
    std::ostringstream help, complaint;
    const bool is_wrong = app.exit(error, help, complaint) != 0;
    fmt::print("{}", help.str());
    if (!is_wrong) return 0;
    const std::string name = full_name(command_given(app));
    wrong = fmt::format("{}: {}\n{} --help says what it takes", name, what_is_wrong(command_given(app), error), name);
  }
  complain(wrong);
  return kWrong;
}

}  // namespace pando
