#include "poplibs/poplin/conv/plan/cycles.h"

#include "poplibs/poplin/conv/terms/line.h"
#include "poplibs/poplin/plan/cost.h"

namespace poplin::conv {
namespace {

struct Shape {
  std::uint64_t batch, in, out, taps = 1, meetings = 1;
};

Shape shape_of(const std::vector<int>& numbers) {
  Shape s{static_cast<std::uint64_t>(numbers[1]), static_cast<std::uint64_t>(numbers[2]), static_cast<std::uint64_t>(numbers[3])};
  for (int d = 0; d < numbers[0]; ++d) {
    const int* n = &numbers[6 + 7 * static_cast<std::size_t>(d)];
    s.taps *= static_cast<std::uint64_t>(n[2]);
    s.meetings *= meetings({n[0], n[1], n[2], n[3], n[4], n[5], n[6], false});
  }
  return s;
}

}  // namespace

// The AMP unit multiplies a row of outputs by the weights of one kernel element at a time.
BlockCost forward_cost(const poplar::Target& target, const poplar::Type& type, const std::vector<int>& numbers) {
  const Shape s = shape_of(numbers);
  const std::uint64_t rows = s.taps == 0 ? 0 : (s.batch * s.meetings + s.taps - 1) / s.taps;
  return {s.taps * plan::amp_cycles(target, rows, s.out, s.in, type, poplar::FLOAT), 2 * s.batch * s.meetings * s.in * s.out};
}

// A product for each kernel element; the outputs are what is summed over.
BlockCost gradient_cost(const poplar::Target& target, const poplar::Type& type, const std::vector<int>& numbers) {
  const Shape s = shape_of(numbers);
  const std::uint64_t depth = s.taps == 0 ? 0 : (s.batch * s.meetings + s.taps - 1) / s.taps;
  return {s.taps * plan::amp_cycles(target, s.in, s.out, depth, type, poplar::FLOAT), 2 * s.batch * s.meetings * s.in * s.out};
}

}  // namespace poplin::conv
