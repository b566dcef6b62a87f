#include "machine/worker/issue.h"

#include <fmt/format.h>

#include <algorithm>

namespace pando {

namespace {

// Slots from the begin of an instruction to the end of the block, along what needs it.
std::vector<unsigned> heights(std::span<const Issue> block) {
  std::vector<unsigned> out(block.size(), 0);
  for (std::size_t i = block.size(); i-- > 0;) {
    out[i] += block[i].what->slots;
    for (const std::uint32_t needed : block[i].after) out[needed] = std::max(out[needed], out[i]);
  }
  return out;
}

// Which instructions may begin, and the best of them for a pipe.
class Ready {
 public:
  explicit Ready(std::span<const Issue> block)
      : block_(block), heights_(heights(block)), done_(block.size(), false), readers_(block.size(), 0) {
    for (std::uint32_t i = 0; i < block.size(); ++i) {
      (is_last(i) ? last_ : block[i].late ? late_ : rest_).push_back(i);
      for (const std::uint32_t read : block[i].reads) ++readers_[read];
    }
  }

  bool is_empty() const { return rest_.empty() && late_.empty() && last_.empty(); }

  // With `most_words`: none that makes more words of the auxiliary file.
  std::uint32_t best(Pipe pipe, unsigned most_words = ~0u) const {
    if (rest_.empty() && late_.empty()) return pipe == Pipe::main ? last_.front() : Bundle::kNone;
    std::uint32_t best = Bundle::kNone;
    for (const std::uint32_t i : rest_.empty() ? late_ : rest_)
      if (block_[i].what->pipe == pipe && aux_words(i) <= most_words && is_ready(i) &&
          (best == Bundle::kNone || heights_[i] > heights_[best]))
        best = i;
    return best;
  }

  // Words of the auxiliary file that an instruction makes, and that it reads as the last one.
  unsigned aux_words(std::uint32_t i) const { return block_[i].file == Pipe::aux ? block_[i].words : 0; }
  unsigned freed_words(std::uint32_t i) const {
    unsigned out = 0;
    for (const std::uint32_t read : block_[i].reads)
      if (readers_[read] == 1 && !block_[read].lives_on) out += aux_words(read);
    return out;
  }

  void take(std::uint32_t i) {
    if (i == Bundle::kNone) return;
    std::vector<std::uint32_t>& from = is_last(i) ? last_ : block_[i].late ? late_ : rest_;
    from.erase(std::find(from.begin(), from.end(), i));
    taken_.push_back(i);
    for (const std::uint32_t read : block_[i].reads) --readers_[read];
  }
  void end_slot() {
    for (const std::uint32_t i : taken_) done_[i] = true;
    taken_.clear();
  }

 private:
  bool is_last(std::uint32_t i) const { return block_[i].what->ends_bundles; }
  bool is_ready(std::uint32_t i) const {
    return std::all_of(block_[i].after.begin(), block_[i].after.end(), [&](std::uint32_t needed) { return done_[needed]; });
  }

  std::span<const Issue> block_;
  const std::vector<unsigned> heights_;
  std::vector<bool> done_;
  std::vector<unsigned> readers_;  // that are still to come
  std::vector<std::uint32_t> rest_, late_, last_, taken_;
};

unsigned slots(std::span<const Issue> block, const Bundle& b) {
  unsigned most = 0;
  for (const std::uint32_t i : {b.main, b.aux})
    if (i != Bundle::kNone) most = std::max(most, block[i].what->slots);
  return most;
}

}  // namespace

std::vector<Bundle> schedule(std::span<const Issue> block, unsigned aux_words) {
  std::vector<Bundle> out;
  Ready ready(block);
  unsigned live = 0;
  while (!ready.is_empty()) {
    Bundle b;
    b.aux = ready.best(Pipe::aux);
    const bool computes = b.aux != Bundle::kNone;
    if (computes) live += ready.aux_words(b.aux), live -= std::min(live, ready.freed_words(b.aux));
    b.main = ready.best(Pipe::main, computes ? aux_words - std::min(aux_words, live) : ~0u);
    if (b.main != Bundle::kNone) live += ready.aux_words(b.main), live -= std::min(live, ready.freed_words(b.main));
    ready.take(b.main);
    ready.take(b.aux);
    ready.end_slot();
    b.slots = slots(block, b);
    out.push_back(b);
  }
  return out;
}

unsigned slots_of(std::span<const Bundle> bundles) {
  unsigned sum = 0;
  for (const Bundle& b : bundles) sum += b.slots;
  return sum;
}

std::vector<std::string> check_schedule(std::span<const Issue> block, std::span<const Bundle> bundles) {
  std::vector<std::string> wrong;
  std::vector<unsigned> times(block.size(), 0);
  std::vector<bool> has_value(block.size(), false);
  bool ended = false;
  for (std::size_t s = 0; s < bundles.size(); ++s) {
    const Bundle& b = bundles[s];
    if (b.main == Bundle::kNone && b.aux == Bundle::kNone) wrong.push_back(fmt::format("bundle {} is empty", s));
    for (const auto& [i, pipe] : {std::pair(b.main, Pipe::main), std::pair(b.aux, Pipe::aux)}) {
      if (i == Bundle::kNone) continue;
      if (i >= block.size()) {
        wrong.push_back(fmt::format("bundle {} has instruction {} of {}", s, i, block.size()));
        continue;
      }
      const Issue& issue = block[i];
      ++times[i];
      if (issue.what->pipe != pipe) wrong.push_back(fmt::format("bundle {}: {} is in the wrong half", s, issue.what->name));
      if (issue.what->slots > b.slots) wrong.push_back(fmt::format("bundle {}: {} is cut short", s, issue.what->name));
      if (ended && !issue.what->ends_bundles) wrong.push_back(fmt::format("bundle {}: {} comes after control", s, issue.what->name));
      for (const std::uint32_t needed : issue.after)
        if (!has_value[needed]) wrong.push_back(fmt::format("bundle {}: {} reads {} too early", s, i, needed));
    }
    for (const std::uint32_t i : {b.main, b.aux}) {
      if (i >= block.size()) continue;
      has_value[i] = true;
      ended = ended || block[i].what->ends_bundles;
    }
  }
  for (std::size_t i = 0; i < block.size(); ++i)
    if (times[i] != 1) wrong.push_back(fmt::format("instruction {} ({}) issues {} times", i, block[i].what->name, times[i]));
  return wrong;
}

}  // namespace pando
