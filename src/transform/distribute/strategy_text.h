// A strategy in words, as users write and read it: "data=2 tensor=2 microbatches=4 zero=1 recompute=full". The words are those of the axes
// (axis.h), and the options of `pando transform`.
#pragma once

#include "transform/distribute/layout/strategy.h"

#include <string>
#include <string_view>

namespace pando::transform {

// What differs from the default, in a fixed order; "data=1" where nothing does.
std::string to_string(const Strategy& s);
// Reads it, on top of `base`. Refuses (poplar_error) unknown words and values.
Strategy parse_words(std::string_view text, Strategy base = {});
// The same as arguments of `pando transform`.
std::string to_options(const Strategy& s);

// A schedule's table from a file. Refuses (poplar_error) what cannot be read.
schedule::Table table_from(const std::string& file);

}  // namespace pando::transform
