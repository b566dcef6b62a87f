// The options that an engine knows, one row each: parsing, `pando options` and docs/level/options.md are made from them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "facade/engine/engine_options.h"

namespace pando::facade {

// whole: from 0 to 4294967295, for options that have an effect. number: any, for those that are accepted without one.
enum class OptionKind { boolean, number, whole, text, choice };

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
