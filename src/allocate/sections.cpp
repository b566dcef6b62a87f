#include "allocate/sections.h"

#include <algorithm>

#include "base/check.h"

namespace pando::allocate {
namespace {

struct Event {
  std::uint64_t time;
  bool begins;             // ends sort before begins: intervals are half open
  std::uint32_t interval;  // over all buffers
};

std::vector<Event> sorted_events(const std::vector<Buffer>& buffers) {
  std::vector<Event> events;
  std::uint32_t interval = 0;
  for (const Buffer& buffer : buffers)
    for (const Interval& live : buffer.live) {
      PANDO_CHECK(live.begin < live.end);
      events.push_back({live.begin, true, interval});
      events.push_back({live.end, false, interval++});
    }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    if (a.time != b.time) return a.time < b.time;
    return a.begins < b.begins;
  });
  return events;
}

}  // namespace

Span Sections::hull(std::size_t buffer) const {
  if (first[buffer] == first[buffer + 1]) return {};
  return {begin_of(buffer)->begin, (end_of(buffer) - 1)->end};
}

bool Sections::conflict(std::size_t a, std::size_t b) const {
  const Span *i = begin_of(a), *j = begin_of(b);
  while (i != end_of(a) && j != end_of(b)) {
    if (i->begin < j->end && j->begin < i->end) return true;
    if (i->end < j->end)
      ++i;
    else
      ++j;
  }
  return false;
}

Sections make_sections(const std::vector<Buffer>& buffers) {
  Sections out;
  out.first.reserve(buffers.size() + 1);
  std::uint32_t intervals = 0;
  for (const Buffer& buffer : buffers) {
    out.first.push_back(intervals);
    intervals += static_cast<std::uint32_t>(buffer.live.size());
  }
  out.first.push_back(intervals);
  out.spans.resize(intervals);

  bool grew = false;  // since the last section was cut
  for (const Event& event : sorted_events(buffers)) {
    Span& span = out.spans[event.interval];
    if (event.begins) {
      span.begin = out.count;
      grew = true;
      continue;
    }
    if (grew) ++out.count;
    grew = false;
    span.end = out.count;
  }

  out.load.assign(out.count, 0);
  for (std::size_t i = 0; i < buffers.size(); ++i)
    for (const Span* span = out.begin_of(i); span != out.end_of(i); ++span)
      for (std::uint32_t s = span->begin; s < span->end; ++s) out.load[s] += buffers[i].size;
  return out;
}

std::uint64_t largest_load(const AllocationProblem& problem) {
  const Sections sections = make_sections(problem.buffers);
  return sections.load.empty() ? 0 : *std::max_element(sections.load.begin(), sections.load.end());
}

}  // namespace pando::allocate
