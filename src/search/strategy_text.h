// A strategy in words, as users write and read it. The words are those of the axes (axis.h), in two spellings.
#pragma once

#include "transform/distribute/layout/strategy.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace pando::search {

enum class Spelling : std::uint8_t {
  // Of programs: "data=2 tensor=2 microbatches=4 zero=1 recompute=full", as the options of `pando transform`.
  whole,
  // Of predictions by sizes: "t=8 p=8 d=16 b=1 v=3 recompute=selective comm=sequence-parallel".
  brief,
};

// What differs from the default, in a fixed order; "data=1" where nothing does.
std::string to_string(const transform::Strategy& s, Spelling spelling);
// Reads it, on top of `base`; words of the other spelling that mean the same are read, too. Rejects (poplar_error) unknown words and
// values, and in the brief spelling words that are said twice.
transform::Strategy parse_strategy(std::string_view text, Spelling spelling, transform::Strategy base = {});
// The words of a program as arguments of `pando transform`.
std::string to_options(const transform::Strategy& s);

// A schedule's table from a file. Rejects (poplar_error) what cannot be read.
schedule::Table table_from(const std::string& file);

// Parts of a text, none of them empty.
std::vector<std::string_view> split(std::string_view text, std::string_view at);

}  // namespace pando::search
