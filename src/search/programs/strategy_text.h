// A transform's strategy in words, as users write and read it: "data=2 tensor=2 microbatches=4 zero=1 recompute=full". The words are the
// options of `pando transform`; layers=3/2/2 says how many layers each stage has, offload=weights/optimizer what lies off chip.
#pragma once

#include "transform/distribute/parallelise.h"

#include <string>
#include <string_view>

namespace pando::search {

// What differs from the default, in a fixed order; "data=1" where nothing does. Cuts of single weights and tables of schedules have no
// words.
std::string to_string(const transform::Strategy& s);
// Reads it, on top of `base`. Refuses (poplar_error) unknown words and values.
transform::Strategy parse_words(std::string_view text, transform::Strategy base = {});
// The same as arguments of `pando transform`.
std::string to_options(const transform::Strategy& s);

}  // namespace pando::search
