#include "allocate/search_state.h"

#include <algorithm>
#include <limits>

namespace pando::allocate {
namespace {

// More rounds find little; what they miss, the children find.
constexpr int kRounds = 8;

template <class Word>
constexpr Word kFar = std::numeric_limits<Word>::max() / 4;

}  // namespace

template <class Word>
Propagator<Word>::Propagator(const UnitProblem<Word>& problem, const AllocationOptions& options)
    : problem_(problem),
      options_(options),
      top_(problem.sections->count),
      lowest_end_(problem.sections->count),
      second_end_(problem.sections->count) {}

// Insertion: the order changes little from round to round.
template <class Word>
void Propagator<Word>::sort_by_release(Node<Word>& node) const {
  std::vector<std::uint32_t>& order = node.by_release;
  for (std::size_t k = 1; k < order.size(); ++k) {
    const std::uint32_t item = order[k];
    const Word release = node.release[item];
    std::size_t at = k;
    for (; at > 0 && node.release[order[at - 1]] > release; --at) order[at] = order[at - 1];
    order[at] = item;
  }
}

// The open buffers of one section lie one above the other, none below its release. Stacking them in order of release gives the
// least height that this can have (one machine, release dates, makespan).
template <class Word>
void Propagator<Word>::stack_sections(const Node<Word>& node) {
  for (std::uint32_t s = node.first_section; s < node.last_section; ++s) {
    top_[s] = 0;
    lowest_end_[s] = second_end_[s] = kFar<Word>;
  }
  Word* const top = top_.data();
  Word* const lowest = lowest_end_.data();
  Word* const second = second_end_.data();
  for (const std::uint32_t item : node.by_release) {
    const std::uint32_t b = node.buffer[item];
    const Word release = node.release[item], size = problem_.buffers[b].size, end = release + size;
    const Span* const last = problem_.sections->end_of(b);
    for (const Span* span = problem_.sections->begin_of(b); span != last; ++span)
      for (std::uint32_t s = span->begin; s < span->end; ++s) {
        top[s] = std::max(top[s], release) + size;
        second[s] = std::min(second[s], std::max(lowest[s], end));
        lowest[s] = std::min(lowest[s], end);
      }
  }
}

template <class Word>
bool Propagator<Word>::some_section_overfull(const Node<Word>& node) {
  overfull_ = kNone;
  Word highest = problem_.capacity;
  for (std::uint32_t s = node.first_section; s < node.last_section; ++s) {
    if (top_[s] <= highest) continue;
    highest = top_[s];
    overfull_ = s;
  }
  return overfull_ != kNone;
}

// The new release of an item, from the ends of the others in its sections.
template <class Word>
Word Propagator<Word>::raised(const Node<Word>& node, std::size_t item) const {
  const std::uint32_t b = node.buffer[item];
  const Word release = node.release[item], end = release + problem_.buffers[b].size;
  const Word* const lowest = lowest_end_.data();
  const Word* const second = second_end_.data();
  const Word* const latest = node.latest.data();
  Word above_all_late = 0;    // where it is too late to be first, it lies above another
  Word support = kFar<Word>;  // the lowest end it could rest on
  const Span* const last = problem_.sections->end_of(b);
  for (const Span* span = problem_.sections->begin_of(b); span != last; ++span)
    for (std::uint32_t s = span->begin; s < span->end; ++s) {
      const Word other = end == lowest[s] ? second[s] : lowest[s];
      support = std::min(support, other);
      above_all_late = std::max(above_all_late, release > latest[s] ? other : Word{0});
    }
  Word result = release;
  if (options_.not_first) result = std::max(result, above_all_late);
  const bool needs_support = node.asleep[item] || result > node.ground[item];
  if (options_.supported_only && needs_support) result = std::max(result, support);
  return result;
}

template <class Word>
bool Propagator<Word>::propagate(Node<Word>& node) {
  for (int round = 0; round < kRounds; ++round) {
    sort_by_release(node);
    stack_sections(node);
    if (options_.check_lower_bound && some_section_overfull(node)) return false;
    bool changed = false;
    for (std::size_t item = 0; item < node.size(); ++item) {
      const UnitBuffer<Word>& buffer = problem_.buffers[node.buffer[item]];
      Word release = raised(node, item);
      if (release == node.release[item]) continue;
      if (release >= kFar<Word>) return false;
      release = align_up(release, buffer.align);
      if (release > buffer.highest_end - buffer.size) return false;
      node.release[item] = release;
      changed = true;
    }
    if (!changed) return true;
  }
  return true;
}

template class Propagator<std::int32_t>;
template class Propagator<std::int64_t>;

}  // namespace pando::allocate
