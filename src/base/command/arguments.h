// Numbers on the command line of a tool, and what it says when the line is wrong.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace pando {

// Checks of an option: a finite number, any, more than 0, or 0 or more.
std::string check_number(const std::string& text);
std::string check_positive(const std::string& text);
std::string check_not_negative(const std::string& text);

// The check of an option that is a whole number in this range. The parser would take the nearest that fits for one out of it, and another
// number for one with zeros in front.
CLI::Validator whole_number(std::int64_t lowest, std::int64_t highest);
// The same for what has all bits of a number without a sign, as a seed: the parser would take -1 for the greatest.
CLI::Validator unsigned_number();
// How many of something there are, at least one.
template <class T>
CLI::Validator at_least_one() {
  return whole_number(1, std::numeric_limits<T>::max());
}

// The check of an option that has one of these values. Its message names the nearest.
CLI::Validator one_of(std::vector<std::string> values);

// The app whose command line is read: the command that was given, of that command the command, and so on.
const CLI::App& command_given(const CLI::App& app);
// The whole name of a command, as a user types it: "pando schedule".
std::string full_name(const CLI::App& command);
// Prints a help that was asked for, or says what is wrong with the command line: a word that is unknown comes with the nearest that is
// known. Returns the exit status.
int explain(const CLI::App& app, const CLI::ParseError& error);

}  // namespace pando
