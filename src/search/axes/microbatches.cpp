#include "search/axis.h"

#include <algorithm>

namespace pando::search {

namespace {

// Nothing is cut that cannot be: a step without samples has one microbatch.
std::vector<std::int32_t> numbers_of_microbatches(const SpaceFacts& f, const Strategy& s) {
  const std::int64_t share = f.samples / std::max(1, s.data * s.expert);
  return divisors(std::max<std::int64_t>(1, share), f.samples == 0 ? 1 : f.space.most_microbatches);
}

}  // namespace

Axis axis_microbatches() {
  Axis a;
  a.word = "microbatches";
  a.doc = "Parts of the samples, one after the other";
  a.program = {.position = 60, .number = &Strategy::microbatches, .nesting = 60, .numbers_of_space = numbers_of_microbatches};
  return a;
}

}  // namespace pando::search
