// The options that an engine knows, one row each: parsing, `pando options` and docs/level/options.md are made from them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "facade/engine/engine_options.h"

namespace pando::facade {

enum class OptionKind { boolean, number, text, choice };

struct OptionRow {
  std::string name;
  OptionKind kind;
  std::string choices;                                                  // of a choice, separated by '|'
  std::string effect;                                                   // what it does here; empty: it is accepted, has no effect and warns
  std::function<void(const std::string& value, EngineSettings&)> take;  // null exactly where `effect` is empty
};

// Sorted by name.
const std::vector<OptionRow>& engine_option_rows();

// The rows as a table in Markdown.
std::string describe_engine_options();

}  // namespace pando::facade
