// A strategy in the words of the trainers that run it, and back. Each trainer is a file of emit/, found by the build.
#pragma once

#include "search/strategy.h"
#include "transform/distribute/parallelise.h"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pando::search {

// What a text says of a step: devices and samples are 0 where it does not say them.
struct ReadSettings {
  Strategy strategy;
  std::int64_t devices = 0, batch = 0, seq = 0;
  // Settings that Pando has no word for, and what is assumed instead.
  std::vector<std::string> notes;
};

struct EmitTarget {
  std::string_view name, doc;
  // The settings as a text. What the format cannot say is said in a comment.
  std::string (*text)(const StrategyFacts& facts, const Strategy& s) = nullptr;
  // Or files in a folder, which the user names. Gives what the user should know beside them; empty: nothing.
  std::string (*folder)(const StrategyFacts& facts, const Strategy& s, const std::string& path) = nullptr;
  // The same of any program and what a strategy made of it.
  std::string (*program)(const transform::Program& whole, const transform::Distributed& d, const std::string& path) = nullptr;
  // Searches for it look at strategies alone that the transforms can make.
  bool runnable = false;
  // What such a text means. `devices` and `batch`: the user's, for texts without them; 0: not said. Refuses (poplar_error, id
  // trainer-settings) what is not understood. Null: it cannot be read.
  ReadSettings (*read)(const std::string& text, const StrategyFacts& facts, std::int64_t devices, std::int64_t batch,
                       const std::string& file) = nullptr;
};

const std::vector<EmitTarget>& emit_targets();
// Null: there is none of that name.
const EmitTarget* find_emit_target(std::string_view name);

// A strategy in Pando's words; flags of Megatron-LM ("--tensor-model-parallel-size 8 ..."); or NAME:FILE, a file of the settings of a
// trainer. Refuses (poplar_error) what is none of these.
ReadSettings settings_of(const std::string& text, const StrategyFacts& facts, std::int64_t devices, std::int64_t batch);

// --- for rows

// "llama3-8b, sequences of 8192 tokens, on 64 h100: t=2 ...; 1.234 s, 61.20 GiB a device by prediction".
std::string headline(const StrategyFacts& facts, const Strategy& s);
// The largest number that is read.
inline constexpr std::int64_t kMostOfSettings = std::numeric_limits<std::int32_t>::max();
// Lines that begin with `mark`.
std::string comments(const std::vector<std::string>& lines, std::string_view mark);
// What no trainer's settings say: levels of the network, updates without waiting.
std::vector<std::string> unsaid_anywhere(const Strategy& s);
[[noreturn]] void refuse_settings(const std::string& file, const std::string& what);

}  // namespace pando::search
