// Transformers by name or from a file, as search and simulate take them.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "search/models/transformer.h"
#include "search/settings/emit_settings.h"

namespace pando::cli {

// `seq`: tokens of a sample; 0: what the name or the file says.
search::Transformer transformer_of(const std::string& name_or_file, std::int64_t seq = 0);
// What a user wrote of `option` (a strategy, flags of Megatron-LM, TRAINER:FILE); `devices` and `batch` are the command line's, 0 where it
// does not say them. Notes go to standard error. Throws CLI::ValidationError where both say a batch or a length of samples, and not the
// same.
search::ReadSettings strategy_of(std::string_view command, const char* option, const std::string& text, const search::StrategyFacts& facts,
                                 std::int64_t devices, std::int64_t batch);
// Throws CLI::ValidationError where --devices, unless it is 0, says another number than the strategy.
void check_devices(const search::Strategy& s, std::int64_t devices);
// --memory of a transformer's device, in bytes. Throws CLI::ValidationError where it is no size, or so small that a unit is missing.
double device_memory_of(const std::string& text);
// --batch.
CLI::Option* add_batch(CLI::App& command, std::int64_t& batch, const std::string& what);
// --seq-length.
CLI::Option* add_seq_length(CLI::App& command, std::int64_t& seq, const std::string& what);

}  // namespace pando::cli
