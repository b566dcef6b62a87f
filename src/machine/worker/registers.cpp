#include "machine/worker/registers.h"

#include <algorithm>

namespace pando {

namespace {

constexpr std::size_t kNever = ~std::size_t{0};

// In which bundle each instruction is.
std::vector<std::size_t> slots_by_issue(std::span<const Issue> block, std::span<const Bundle> bundles) {
  std::vector<std::size_t> out(block.size(), kNever);
  for (std::size_t s = 0; s < bundles.size(); ++s)
    for (const std::uint32_t i : {bundles[s].main, bundles[s].aux})
      if (i != Bundle::kNone) out[i] = s;
  return out;
}

unsigned uses_of(std::span<const Issue> block, std::uint32_t value) {
  unsigned uses = 0;
  for (const Issue& i : block) uses += static_cast<unsigned>(std::count(i.held.begin(), i.held.end(), value));
  return uses;
}

// Brings a value back in front of an instruction.
void bring_back(std::vector<Issue>& block, std::vector<Bundle>& bundles, std::uint32_t reader, const HeldValue& value) {
  const std::size_t slot = slots_by_issue(block, bundles)[reader];
  const bool is_made = value.is_made && value.file == Pipe::aux;
  const char* name = value.is_made ? (is_made ? "a.or" : "setzi") : value.words > 1 ? "ld64" : "ld32";
  const auto number = static_cast<std::uint32_t>(block.size());
  block.push_back(
      {find_worker_instruction(name), {}, false, block[reader].line, value.is_made ? "a constant, again" : "back from the stack"});
  block[reader].after.push_back(number);
  const auto half = [&](Bundle& b) -> std::uint32_t& { return is_made ? b.aux : b.main; };
  if (slot > 0 && half(bundles[slot - 1]) == Bundle::kNone) {
    half(bundles[slot - 1]) = number;
    return;
  }
  Bundle alone;
  half(alone) = number;
  alone.slots = 1;
  bundles.insert(bundles.begin() + static_cast<std::ptrdiff_t>(slot), alone);
}

void fit_file(std::vector<Issue>& block, std::vector<Bundle>& bundles, std::span<const HeldValue> held, Pipe file) {
  struct Candidate {
    std::uint32_t value;
    double worth;  // of its register: uses by word; a constant is cheap to make
  };
  unsigned words = most_live_words(block, bundles, file);
  std::vector<Candidate> candidates;
  for (std::uint32_t v = 0; v < held.size(); ++v) {
    const unsigned uses = uses_of(block, v);
    if (held[v].file != file || (uses == 0 && !held[v].changes)) continue;
    words += held[v].words;
    if (!held[v].changes) candidates.push_back({v, (held[v].is_made ? 0.5 : 1.0) * uses / held[v].words});
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) { return a.worth < b.worth; });
  const auto own = static_cast<std::uint32_t>(block.size());
  for (const Candidate& c : candidates) {
    if (words <= registers_of(file)) return;
    words -= held[c.value].words;
    for (std::uint32_t i = 0; i < own; ++i)
      if (std::count(block[i].held.begin(), block[i].held.end(), c.value) > 0) bring_back(block, bundles, i, held[c.value]);
  }
}

}  // namespace

unsigned most_live_words(std::span<const Issue> block, std::span<const Bundle> bundles, Pipe file) {
  const std::vector<std::size_t> at = slots_by_issue(block, bundles);
  std::vector<std::size_t> last(block.size(), 0);
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (block[i].lives_on) last[i] = bundles.size();
    for (const std::uint32_t read : block[i].reads) last[read] = std::max(last[read], at[i]);
  }
  unsigned most = 0;
  for (std::size_t s = 0; s < bundles.size(); ++s) {
    unsigned words = 0;
    for (std::size_t i = 0; i < block.size(); ++i)
      if (block[i].file == file && at[i] <= s && s < last[i]) words += block[i].words;
    most = std::max(most, words);
  }
  return most;
}

void fit_registers(std::vector<Issue>& block, std::vector<Bundle>& bundles, std::span<const HeldValue> held) {
  fit_file(block, bundles, held, Pipe::aux);
  fit_file(block, bundles, held, Pipe::main);
}

}  // namespace pando
