// Transformers by name or from a file, as search and simulate take them.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "search/models/transformer.h"

namespace pando::cli {

// `seq`: tokens of a sample; 0: what the name or the file says.
search::Transformer transformer_of(const std::string& name_or_file, std::int64_t seq = 0);
// --seq-length.
CLI::Option* add_seq_length(CLI::App& command, std::int64_t& seq, const std::string& what);

}  // namespace pando::cli
