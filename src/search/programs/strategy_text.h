// A transform's strategy in words, as users write and read it: "data=2 tensor=2 microbatches=4 zero=1 recompute=full". The words are the
// options of `pando transform`; layers=3/2/2 says how many layers each stage has, offload=weights/optimizer what lies off chip,
// schedule=FILE.csv brings a table, cut=embedding:0;block*.up:-1 says how weights are cut, order=pipeline/tensor which axes have the
// nearest device numbers.
#pragma once

#include "transform/distribute/parallelise.h"

#include <string>
#include <string_view>

namespace pando::search {

// What differs from the default, in a fixed order; "data=1" where nothing does.
std::string to_string(const transform::Strategy& s);
// Reads it, on top of `base`. Refuses (poplar_error) unknown words and values.
transform::Strategy parse_words(std::string_view text, transform::Strategy base = {});
// The same as arguments of `pando transform`.
std::string to_options(const transform::Strategy& s);

// A schedule's table from a file. Refuses (poplar_error) what cannot be read.
schedule::Table table_from(const std::string& file);

}  // namespace pando::search
