#include "allocate/allocate.h"
#include "base/testing/places.h"

#include <gtest/gtest.h>

#include <fstream>
#include <numeric>
#include <random>
#include <sstream>

#include "allocate/sections.h"
#include "base/testing/processor_time.h"

namespace pando::allocate {
namespace {

AllocationProblem problem_of(std::uint64_t capacity, std::vector<Buffer> buffers) { return {std::move(buffers), capacity}; }

Buffer buffer(std::uint64_t begin, std::uint64_t end, std::uint64_t size) { return {.live = {{begin, end}}, .size = size}; }

// --- the dumb checker: each of its messages is tripped -----------------------------------------------------------------------

TEST(CheckAllocation, AcceptsAValidOne) {
  EXPECT_EQ(check_allocation(problem_of(8, {buffer(0, 2, 4), buffer(1, 3, 4), buffer(2, 4, 4)}), {0, 4, 0}), "");
}
TEST(CheckAllocation, WrongCount) { EXPECT_EQ(check_allocation(problem_of(8, {buffer(0, 2, 4)}), {}), "0 offsets for 1 buffers"); }
TEST(CheckAllocation, Overlap) {
  EXPECT_EQ(check_allocation(problem_of(8, {buffer(0, 2, 4), buffer(1, 3, 4)}), {0, 3}),
            "buffers 0 [0, 4) and 1 [3, 7) overlap while both are live");
}
TEST(CheckAllocation, OverlapInTheSecondIntervalOnly) {
  AllocationProblem p = problem_of(8, {buffer(0, 1, 4), buffer(5, 6, 4)});
  p.buffers[0].live.push_back({5, 7});
  EXPECT_NE(check_allocation(p, {0, 0}), "");
  p.buffers[0].live.back() = {6, 7};
  EXPECT_EQ(check_allocation(p, {0, 0}), "");
}
TEST(CheckAllocation, Capacity) {
  EXPECT_EQ(check_allocation(problem_of(8, {buffer(0, 2, 4)}), {5}), "buffer 0: [5, 5 + 4) passes the capacity 8");
  EXPECT_NE(check_allocation(problem_of(8, {buffer(0, 2, 4)}), {~std::uint64_t{0} - 2}), "");
}
TEST(CheckAllocation, Bounds) {
  AllocationProblem p = problem_of(16, {buffer(0, 2, 4)});
  p.buffers[0].lowest = 4;
  p.buffers[0].highest_end = 12;
  p.buffers[0].align = 4;
  EXPECT_EQ(check_allocation(p, {4}), "");
  EXPECT_EQ(check_allocation(p, {8}), "");
  EXPECT_EQ(check_allocation(p, {0}), "buffer 0: lies at 0, below its lowest offset 4");
  EXPECT_EQ(check_allocation(p, {12}), "buffer 0: ends at 16, above its highest end 12");
  EXPECT_EQ(check_allocation(p, {6}), "buffer 0: lies at 6, not a multiple of 4");
  p.buffers[0].fixed = 5;
  EXPECT_EQ(check_allocation(p, {8}), "buffer 0: lies at 8, expected fixed offset 5");
  EXPECT_EQ(check_allocation(p, {5}), "");
}

// --- sections ----------------------------------------------------------------------------------------------------------------

TEST(Sections, OfTheDrawing) {
  const Sections s = make_sections({buffer(0, 2, 1), buffer(1, 4, 2), buffer(2, 4, 4), buffer(3, 5, 8), buffer(6, 7, 16)});
  ASSERT_EQ(s.count, 3u);
  EXPECT_EQ(s.load, (std::vector<std::uint64_t>{3, 14, 16}));
  EXPECT_EQ(s.hull(1).begin, 0u);
  EXPECT_EQ(s.hull(1).end, 2u);
  EXPECT_TRUE(s.conflict(0, 1));
  EXPECT_FALSE(s.conflict(0, 2));
  EXPECT_FALSE(s.conflict(3, 4));
}
TEST(Sections, AGapIsNoConflict) {
  Buffer gap = buffer(0, 1, 1);
  gap.live.push_back({5, 6});
  const Sections s = make_sections({gap, buffer(1, 5, 1), buffer(5, 7, 1)});
  EXPECT_FALSE(s.conflict(0, 1));
  EXPECT_TRUE(s.conflict(0, 2));
  EXPECT_FALSE(s.conflict(1, 2));
}

// --- small cases -------------------------------------------------------------------------------------------------------------

TEST(Allocate, Nothing) {
  EXPECT_EQ(allocate(problem_of(0, {})).status, AllocationStatus::solved);
  EXPECT_TRUE(allocate_greedy(problem_of(0, {})).offsets.empty());
  EXPECT_EQ(allocate_all({}).size(), 0u);
}
TEST(Allocate, ExactCapacityAndOneLess) {
  AllocationProblem p = problem_of(8, {buffer(0, 2, 4), buffer(1, 3, 4), buffer(2, 4, 4)});
  const AllocationResult fits = allocate(p);
  ASSERT_EQ(fits.status, AllocationStatus::solved);
  EXPECT_EQ(check_allocation(p, fits.offsets), "");
  EXPECT_EQ(fits.high_water, 8u);
  p.capacity = 7;
  const AllocationResult rejected = allocate(p);
  EXPECT_EQ(rejected.status, AllocationStatus::infeasible);
  EXPECT_TRUE(rejected.offsets.empty());
  EXPECT_EQ(rejected.nodes, 0u) << "the load proves it";
}
TEST(Allocate, EmptyAndNeverLiveBuffersTakeNoSpaceButKeepTheirBounds) {
  Buffer empty = buffer(0, 4, 0), dead{.size = 4};
  empty.lowest = 3;
  empty.align = 2;
  const AllocationProblem p = problem_of(8, {buffer(0, 4, 8), empty, dead});
  const AllocationResult r = allocate(p);
  ASSERT_EQ(r.status, AllocationStatus::solved);
  EXPECT_EQ(check_allocation(p, r.offsets), "");
  AllocationProblem too_high = p;
  too_high.buffers[1].lowest = 9;
  EXPECT_EQ(allocate(too_high).status, AllocationStatus::infeasible);
}
TEST(Allocate, OneThatCannotFitAlone) {
  Buffer b = buffer(0, 1, 8);
  b.lowest = 4;
  EXPECT_EQ(allocate(problem_of(11, {b})).status, AllocationStatus::infeasible);
  EXPECT_EQ(allocate(problem_of(12, {b})).status, AllocationStatus::solved);
  b.highest_end = 11;
  EXPECT_EQ(allocate(problem_of(100, {b})).status, AllocationStatus::infeasible);
  b = buffer(0, 1, 8);
  b.lowest = 4;
  b.fixed = 3;
  EXPECT_EQ(allocate(problem_of(100, {b})).status, AllocationStatus::infeasible);
}
TEST(Allocate, FixedBuffersThatCollide) {
  AllocationProblem p = problem_of(100, {buffer(0, 2, 8), buffer(1, 3, 8)});
  p.buffers[0].fixed = 10;
  p.buffers[1].fixed = 17;
  EXPECT_EQ(allocate(p).status, AllocationStatus::infeasible);
  EXPECT_EQ(allocate_greedy(p).status, AllocationStatus::infeasible);
  p.buffers[1].fixed = 18;
  EXPECT_EQ(allocate(p).offsets, (std::vector<std::uint64_t>{10, 18}));
}
TEST(Allocate, TwoRegionsAndAReservedRange) {
  // Code must lie in [0, 16); [0, 4) is reserved; data lies where there is room.
  AllocationProblem p = problem_of(32, {buffer(0, 9, 4), buffer(0, 9, 8), buffer(0, 5, 12), buffer(0, 9, 8), buffer(5, 9, 8)});
  p.buffers[0].fixed = 0;
  p.buffers[1].highest_end = 16;
  const AllocationResult r = allocate(p);
  ASSERT_EQ(r.status, AllocationStatus::solved);
  EXPECT_EQ(check_allocation(p, r.offsets), "");
}
TEST(Allocate, ARegionTooFullIsProvedWithoutSearch) {
  AllocationProblem p = problem_of(100, {buffer(0, 9, 10), buffer(0, 9, 10)});
  for (Buffer& b : p.buffers) b.highest_end = 19;
  const AllocationResult r = allocate(p);
  EXPECT_EQ(r.status, AllocationStatus::infeasible);
  EXPECT_EQ(r.nodes, 0u);
}
TEST(Allocate, UnboundedCapacity) {
  AllocationProblem p = problem_of(~std::uint64_t{0}, {buffer(0, 2, 4), buffer(0, 2, std::uint64_t{1} << 40)});
  AllocationOptions options;
  for (const bool greedy : {true, false}) {
    options.greedy_first = greedy;
    const AllocationResult r = allocate(p, options);
    ASSERT_EQ(r.status, AllocationStatus::solved);
    EXPECT_EQ(check_allocation(p, r.offsets), "");
  }
}
TEST(Allocate, TheBudgetIsInNodes) {
  // A perfect packing that needs search: one node is not enough.
  AllocationProblem p = problem_of(6, {buffer(0, 2, 2), buffer(1, 3, 4), buffer(2, 5, 2), buffer(3, 5, 2), buffer(4, 6, 2)});
  AllocationOptions options;
  options.greedy_first = false;
  options.node_budget = 1;
  const AllocationResult r = allocate(p, options);
  EXPECT_EQ(r.status, AllocationStatus::budget_exhausted);
  EXPECT_EQ(r.nodes, 1u);
  options.node_budget = 1000;
  EXPECT_EQ(allocate(p, options).status, AllocationStatus::solved);
  options.largest_search = 4;
  EXPECT_EQ(allocate(p, options).status, AllocationStatus::budget_exhausted);
}
TEST(AllocateGreedy, GoesHigherWhereABoundCannotBeKept) {
  AllocationProblem p = problem_of(8, {buffer(0, 2, 8), buffer(0, 2, 8)});
  p.buffers[0].highest_end = p.buffers[1].highest_end = 8;
  const AllocationResult r = allocate_greedy(p);
  EXPECT_EQ(r.status, AllocationStatus::infeasible);
  EXPECT_EQ(r.offsets, (std::vector<std::uint64_t>{0, 8}));
  EXPECT_EQ(r.high_water, 16u);
}
TEST(LargestLoad, IsTheMostLiveAtOnce) {
  EXPECT_EQ(largest_load(problem_of(0, {buffer(0, 2, 4), buffer(1, 3, 5), buffer(2, 4, 6)})), 11u);
  EXPECT_EQ(largest_load(problem_of(0, {})), 0u);
}

// --- against an exhaustive search, all combinations of switches -----------------------------------------------------------------

// Tries every offset of every buffer in turn. Shares nothing with the solver.
bool exists(const AllocationProblem& p, std::vector<std::uint64_t>& offsets) {
  const std::size_t k = offsets.size();
  if (k == p.buffers.size()) return true;
  for (std::uint64_t offset = 0; offset + p.buffers[k].size <= p.capacity; ++offset) {
    offsets.push_back(offset);
    const AllocationProblem so_far = {{p.buffers.begin(), p.buffers.begin() + static_cast<std::ptrdiff_t>(k) + 1}, p.capacity};
    if (check_allocation(so_far, offsets).empty() && exists(p, offsets)) return true;
    offsets.pop_back();
  }
  return false;
}

struct Mix {
  bool gaps = false, bounds = false, alignment = false, fixed = false, equals = false;
};

AllocationProblem random_problem(std::mt19937& random, std::size_t buffers, std::uint64_t times, std::uint64_t largest, const Mix& mix) {
  const auto up_to = [&](std::uint64_t n) { return random() % n; };  // the distributions of <random> differ between libraries
  AllocationProblem p;
  for (std::size_t i = 0; i < buffers; ++i) {
    if (mix.equals && i > 0 && up_to(3) == 0) {
      p.buffers.push_back(p.buffers[up_to(i)]);
      continue;
    }
    const std::uint64_t begin = up_to(times), end = begin + 1 + up_to(times - begin);
    Buffer b = buffer(begin, end, 1 + up_to(largest));
    if (mix.gaps && end - begin >= 3 && up_to(2) == 0) b.live = {{begin, begin + 1}, {end - 1, end}};
    if (mix.alignment) b.align = std::uint64_t{1} << up_to(3);
    p.buffers.push_back(b);
  }
  const std::uint64_t load = largest_load(p);
  p.capacity = load + up_to(largest) / 4;
  for (Buffer& b : p.buffers) {
    const std::uint64_t room = p.capacity - b.size;
    if (mix.bounds && up_to(3) == 0) b.lowest = up_to(room / 2 + 1);
    if (mix.bounds && up_to(3) == 0) b.highest_end = p.capacity - up_to(room / 2 + 1);
    if (mix.fixed && up_to(3) == 0) b.fixed = up_to(room + 1);
  }
  return p;
}

bool AllocationOptions::* const kSwitches[] = {
    &AllocationOptions::greedy_first,     &AllocationOptions::canonical_only,    &AllocationOptions::dominance,
    &AllocationOptions::not_first,        &AllocationOptions::supported_only,    &AllocationOptions::section_first,
    &AllocationOptions::split_partitions, &AllocationOptions::check_lower_bound, &AllocationOptions::restarts,
};
constexpr unsigned kCombinations = 1u << std::size(kSwitches);

AllocationOptions combination(unsigned bits) {
  AllocationOptions options;
  for (std::size_t k = 0; k < std::size(kSwitches); ++k) options.*kSwitches[k] = bits >> k & 1;
  return options;
}

constexpr unsigned kSeed = 20240607;

TEST(AllocateSwitches, EveryCombinationAgreesWithAnExhaustiveSearch) {
  std::mt19937 random(kSeed);
  int feasible = 0, infeasible = 0, refuted_by_search = 0;
  for (int round = 0; round < 250; ++round) {
    const Mix mix{
        .gaps = round % 2 == 1, .bounds = round % 3 == 1, .alignment = round % 5 == 1, .fixed = round % 7 == 1, .equals = round % 4 == 1};
    const AllocationProblem p = random_problem(random, 3 + round % 5, 6, 6, mix);
    std::vector<std::uint64_t> witness;
    const bool expected = exists(p, witness);
    ++(expected ? feasible : infeasible);
    if (!expected && allocate(p).nodes > 0) ++refuted_by_search;
    for (unsigned bits = 0; bits < kCombinations; ++bits) {
      const AllocationResult r = allocate(p, combination(bits));
      SCOPED_TRACE(testing::Message() << "seed " << kSeed << " round " << round << " switches " << bits);
      ASSERT_EQ(r.status, expected ? AllocationStatus::solved : AllocationStatus::infeasible);
      if (expected) ASSERT_EQ(check_allocation(p, r.offsets), "");
    }
  }
  EXPECT_GT(feasible, 80);
  EXPECT_GT(infeasible, 20);
  EXPECT_GT(refuted_by_search, 8);
}

// Larger ones, where the exhaustive search is too slow: the single switches against all on.
TEST(AllocateSwitches, EachSwitchAloneAgreesWithAllOn) {
  std::mt19937 random(kSeed + 1);
  int decided = 0;
  for (int round = 0; round < 150; ++round) {
    const Mix mix{
        .gaps = round % 2 == 1, .bounds = round % 3 == 1, .alignment = round % 5 == 1, .fixed = round % 7 == 1, .equals = round % 4 == 1};
    const AllocationProblem p = random_problem(random, 8 + round % 7, 12, 20, mix);
    AllocationOptions all;
    all.greedy_first = false;
    const AllocationResult reference = allocate(p, all);
    ASSERT_NE(reference.status, AllocationStatus::budget_exhausted);
    for (std::size_t k = 0; k < std::size(kSwitches); ++k) {
      SCOPED_TRACE(testing::Message() << "seed " << kSeed + 1 << " round " << round << " without switch " << k);
      AllocationOptions options = combination(kCombinations - 1 - (1u << k));
      options.node_budget = 20'000;
      const AllocationResult r = allocate(p, options);
      if (r.status == AllocationStatus::budget_exhausted) continue;
      ++decided;
      ASSERT_EQ(r.status, reference.status);
      if (r.status == AllocationStatus::solved) ASSERT_EQ(check_allocation(p, r.offsets), "");
    }
  }
  EXPECT_GT(decided, 1200);
}

TEST(AllocateGreedy, IsValidWithoutCapacity) {
  std::mt19937 random(kSeed + 2);
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed + 2 << " round " << round);
    AllocationProblem p = random_problem(random, 60, 40, 100, {.gaps = round % 2 == 1, .alignment = round % 3 == 1});
    const AllocationResult r = allocate_greedy(p);
    ASSERT_EQ(r.status, AllocationStatus::solved);
    p.capacity = r.high_water;
    ASSERT_EQ(check_allocation(p, r.offsets), "");
    ASSERT_GE(r.high_water, largest_load(p));
  }
}

// Units: the same problem in another unit has the same solution in that unit, with 32 and with 64 bits.
TEST(Allocate, ScalingAProblemScalesItsSolution) {
  std::mt19937 random(kSeed + 3);
  AllocationOptions options;
  options.greedy_first = false;
  for (int round = 0; round < 50; ++round) {
    AllocationProblem p = random_problem(random, 12, 10, 20, {.gaps = round % 2 == 1});
    const AllocationResult small = allocate(p, options);
    for (const std::uint64_t scale : {std::uint64_t{3}, std::uint64_t{1} << 30}) {
      AllocationProblem scaled = p;
      scaled.capacity = scaled.capacity * scale + 1;
      for (Buffer& b : scaled.buffers) b.size *= scale;
      // One odd byte at a time of its own makes the unit 1: offsets do not fit 32 bits then.
      scaled.buffers.push_back(buffer(1000, 1001, 1));
      AllocationResult large = allocate(scaled, options);
      ASSERT_EQ(large.status, small.status);
      if (small.status != AllocationStatus::solved) continue;
      large.offsets.pop_back();
      for (std::size_t i = 0; i < p.buffers.size(); ++i) ASSERT_EQ(large.offsets[i], small.offsets[i] * scale) << "seed " << kSeed + 3;
    }
  }
}

// --- the published instances ----------------------------------------------------------------------------------------------------

AllocationProblem read_instance(const std::string& name) {
  std::ifstream in(source_path("tests/data/minimalloc/") + name + ".1048576.csv");
  AllocationProblem p{.capacity = 1048576};
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::uint64_t id, lower, upper, size;
    char comma;
    std::istringstream(line) >> id >> comma >> lower >> comma >> upper >> comma >> size;
    p.buffers.push_back(buffer(lower, upper, size));
  }
  return p;
}

class Instance : public testing::TestWithParam<std::pair<const char*, std::size_t>> {};

TEST_P(Instance, IsPlacedAtExactCapacity) {
  const AllocationProblem p = read_instance(GetParam().first);
  ASSERT_EQ(p.buffers.size(), GetParam().second);
  const double start = processor_seconds();
  const AllocationResult r = allocate(p);
  const double seconds = processor_seconds() - start;
  ASSERT_EQ(r.status, AllocationStatus::solved);
  EXPECT_EQ(check_allocation(p, r.offsets), "");
  EXPECT_LE(r.high_water, p.capacity);
  EXPECT_LT(seconds, 20 * kSlowerBuild) << "generous; the benchmark shows the real time";
  EXPECT_EQ(allocate(p), r) << "deterministic";
}

INSTANTIATE_TEST_SUITE_P(Minimalloc, Instance,
                         testing::Values(std::pair{"A", 154ul}, std::pair{"B", 170ul}, std::pair{"C", 203ul}, std::pair{"D", 213ul},
                                         std::pair{"E", 215ul}, std::pair{"F", 296ul}),
                         [](const auto& info) { return std::string(info.param.first); });

// --- many problems ----------------------------------------------------------------------------------------------------------------

TEST(AllocateAll, EqualProblemsAreSolvedOnceAndAllGetTheirResult) {
  std::mt19937 random(kSeed + 4);
  std::vector<AllocationProblem> problems;
  for (int i = 0; i < 5; ++i) problems.push_back(random_problem(random, 30, 20, 50, {}));
  for (int i = 0; i < 500; ++i) problems.push_back(problems[random() % 5]);
  const std::vector<AllocationResult> results = allocate_all(problems);
  ASSERT_EQ(results.size(), problems.size());
  for (std::size_t i = 0; i < problems.size(); ++i) ASSERT_EQ(results[i], allocate(problems[i])) << i;
}

TEST(AllocateAll, TheTotalBudgetIsShared) {
  const AllocationProblem p = problem_of(6, {buffer(0, 2, 2), buffer(1, 3, 4), buffer(2, 5, 2), buffer(3, 5, 2), buffer(4, 6, 2)});
  AllocationProblem larger = p;
  larger.buffers.push_back(buffer(7, 8, 1));
  AllocationOptions options;
  options.greedy_first = false;
  const std::uint64_t needed = allocate(p, options).nodes;
  options.total_node_budget = needed + 1;
  const std::vector<AllocationResult> results = allocate_all({p, larger, p}, options);
  EXPECT_EQ(results[0].status, AllocationStatus::solved);
  EXPECT_EQ(results[1].status, AllocationStatus::budget_exhausted);
  EXPECT_EQ(results[1].nodes, 1u);
  EXPECT_EQ(results[2], results[0]) << "equal problems cost nothing";
}

// The physics of a compile: a machine full of equal tiles costs little more than reading the problems.
TEST(AllocateAll, FortySevenThousandEqualTiles) {
  std::mt19937 random(kSeed + 5);
  AllocationProblem p = random_problem(random, 100, 60, 4000, {});
  p.capacity *= 2;
  const std::vector<AllocationProblem> problems(47104, p);
  const double start = processor_seconds();
  const std::vector<AllocationResult> results = allocate_all(problems);
  const double seconds = processor_seconds() - start;
  EXPECT_EQ(results.back().status, AllocationStatus::solved);
  EXPECT_EQ(check_allocation(p, results.back().offsets), "");
  EXPECT_LT(seconds, 3 * kSlowerBuild) << "0.3 s as a release build";
}

TEST(AllocateAll, TwoThousandDistinctTiles) {
  std::mt19937 random(kSeed + 6);
  std::vector<AllocationProblem> problems;
  for (int i = 0; i < 2000; ++i) {
    problems.push_back(random_problem(random, 100, 60, 4000, {.gaps = true, .alignment = true}));
    problems.back().capacity *= 2;
  }
  const double start = processor_seconds();
  const std::vector<AllocationResult> results = allocate_all(problems);
  const double seconds = processor_seconds() - start;
  for (std::size_t i = 0; i < problems.size(); i += 100) ASSERT_EQ(check_allocation(problems[i], results[i].offsets), "");
  EXPECT_LT(seconds, 10 * kSlowerBuild) << "1 s as a release build";
}

}  // namespace
}  // namespace pando::allocate
