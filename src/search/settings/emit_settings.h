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

// A strategy in a trainer's words, and how far they go.
struct Settings {
  std::string text;
  // What the format has no word for, and what the trainer rejects: each with what it does instead. The text has them as comments.
  std::vector<std::string> unsaid;
  // What a trainer runs that gets these settings.
  Strategy runs;
};

struct EmitTarget {
  std::string_view name, doc;
  Settings (*settings)(const StrategyFacts& facts, const Strategy& s) = nullptr;
  // Or files in a folder, which the user names. Gives what the user should know beside them; empty: nothing.
  std::string (*folder)(const StrategyFacts& facts, const Strategy& s, const std::string& path) = nullptr;
  // The same of any program and what a strategy made of it.
  std::string (*program)(const transform::Program& whole, const transform::Distributed& d, const std::string& path) = nullptr;
  // Searches for it look at strategies alone that the transforms can make.
  bool runnable = false;
  // What such a text means. `devices` and `batch`: the user's, for texts without them; 0: not said. Rejects (poplar_error, id
  // trainer-settings) what is not understood. Null: it cannot be read.
  ReadSettings (*read)(const std::string& text, const StrategyFacts& facts, std::int64_t devices, std::int64_t batch,
                       const std::string& file) = nullptr;
};

const std::vector<EmitTarget>& emit_targets();
// Null: there is none of that name.
const EmitTarget* find_emit_target(std::string_view name);

// What a user should know of settings before running them, a sentence each; empty: they say the strategy. `limit`: bytes of a device.
std::vector<std::string> warnings_of(const StrategyFacts& facts, const EmitTarget& target, const Strategy& s, const Settings& settings,
                                     double limit);

// A strategy in Pando's words; flags of Megatron-LM ("--tensor-model-parallel-size 8 ..."); or NAME:FILE, a file of the settings of a
// trainer. Rejects (poplar_error) what is none of these.
ReadSettings settings_of(const std::string& text, const StrategyFacts& facts, std::int64_t devices, std::int64_t batch);

// --- for rows

// "llama3-8b, sequences of 8192 tokens, on 64 h100: t=2 ...; 1.234 s, 61.20 GiB a device by prediction".
std::string headline(const StrategyFacts& facts, const Strategy& s);
// The largest number that is read.
inline constexpr std::int64_t kMostOfSettings = std::numeric_limits<std::int32_t>::max();
// Lines that begin with `mark`.
std::string comments(const std::vector<std::string>& lines, std::string_view mark);
// Collects what a target says of a strategy, and what it does not.
class SettingsNotes {
 public:
  // Begins with what no trainer has words for: levels of the network, updates without waiting, all-reduces in two parts.
  explicit SettingsNotes(const Strategy& s);
  // "precision=fp8; products run in bf16". `member` gets `instead`.
  void unsaid(std::string text) { out_.unsaid.push_back(std::move(text)); }
  template <class T, class S, class U>
  void unsaid(T S::* member, U instead, std::string text) {
    set(member, instead);
    unsaid(std::move(text));
  }
  // What runs has another value: a sentence that was said before tells why.
  template <class T, class S, class U>
  void set(T S::* member, U value) {
    out_.runs.*member = static_cast<T>(value);
  }
  // A comment, no loss.
  void note(std::string text) { notes_.push_back(std::move(text)); }
  const Strategy& runs() const { return out_.runs; }
  // The headline, notes, and "not said: " with each that is unsaid.
  std::vector<std::string> lines(const StrategyFacts& facts, const Strategy& s) const;
  Settings with(std::string text) && { return out_.text = std::move(text), std::move(out_); }

 private:
  Settings out_;
  std::vector<std::string> notes_;
};
// Of a strategy that has all but Strategy::weighed: the division that strategies have words for, layers by stage or by rank; or a note that
// there is none. `who` gave `wanted`.
void adopt_division(const StrategyFacts& facts, const std::vector<std::int64_t>& wanted, const std::string& who, ReadSettings& to);
[[noreturn]] void reject_settings(const std::string& file, const std::string& what);

}  // namespace pando::search
