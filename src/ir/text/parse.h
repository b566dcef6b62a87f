// Reads what ir/text/print.h writes.
#pragma once

#include "ir/module.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pando::ir {

// Where in the text things begin, as bytes from its beginning, by the number of the op, graph or variable.
struct TextPlaces {
  std::vector<std::size_t> ops, graphs, states;
};

// Rejects (popart) with "FILE:LINE:COLUMN: what was found, what was expected" and the id of the rule. Types are taken as written; the
// verifier says whether they follow from the operands'. Who takes a module from a user calls read_module (ir/checks/read_module.h), which
// verifies it, too.
Module parse(std::string_view text, const std::string& file = "text", TextPlaces* places = nullptr);

}  // namespace pando::ir
