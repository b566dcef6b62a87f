// How regions are cut, against a dumb checker; lists of intervals.
#include <gmock/gmock.h>

#include <numeric>

#include "poputil/Util.hpp"
#include "poputil/exceptions.hpp"

namespace poputil {
namespace {

using poplar::Interval;
using testing::ElementsAre;
using Regions = std::vector<Interval>;

std::vector<std::size_t> elements(const Regions& regions) {
  std::vector<std::size_t> out;
  for (const Interval& r : regions)
    for (std::size_t i = r.begin(); i < r.end(); ++i) out.push_back(i);
  return out;
}

TEST(Regions, SplitIsBalancedCompleteAndInOrder) {
  const std::vector<Regions> cases = {
      {}, {{0, 1}}, {{5, 5}, {7, 100}}, {{0, 13}, {20, 21}, {19, 20}, {40, 97}}, {{0, 4096}}, {{8, 9}, {0, 1}, {3, 4}}};
  for (const Regions& regions : cases)
    for (const unsigned grain : {1u, 2u, 8u})
      for (const unsigned parts : {1u, 3u, 6u, 24u})
        for (const unsigned least : {0u, 16u, 50u})
          for (const unsigned most : {UINT_MAX, 40u, 5u})
            for (const unsigned longest : {UINT_MAX, 3u, 10u}) {
              const auto split = splitRegions(regions, grain, parts, least, most, longest);
              SCOPED_TRACE(testing::Message() << "n " << elements(regions).size() << " grain " << grain << " parts " << parts << " least "
                                              << least << " most " << most << " longest " << longest);
              Regions all;
              std::size_t smallest = SIZE_MAX, largest = 0;
              for (std::size_t p = 0; p < split.size(); ++p) {
                const std::size_t n = elements(split[p]).size();
                for (const Interval& r : split[p]) EXPECT_TRUE(r.size() > 0 && r.size() <= longest);
                if (p + 1 < split.size()) {
                  EXPECT_EQ(n % grain, 0u);
                  smallest = std::min(smallest, n);
                }
                EXPECT_LE(n, std::max(most, grain));
                largest = std::max(largest, n);
                all.insert(all.end(), split[p].begin(), split[p].end());
              }
              EXPECT_EQ(elements(all), elements(regions));
              if (split.size() > 1) {
                EXPECT_LE(largest, smallest + grain);
                if (most == UINT_MAX) EXPECT_GE(smallest, least);
              }
              if (most == UINT_MAX) EXPECT_LE(split.size(), parts);
            }
}

TEST(Regions, FewestPartsForTheSameLargest) {
  // Seven grains for six workers: two each for three of them and one for the last.
  EXPECT_EQ(splitRegions(Regions{{0, 7}}, 1, 6).size(), 4u);
  EXPECT_EQ(splitRegions(Regions{{0, 12}}, 1, 6).size(), 6u);
}

TEST(Regions, IntervalsOfOneRegionStayTogether) {
  const std::vector<Regions> regions = {{{10, 14}, {0, 4}}, {{20, 24}}};
  EXPECT_THAT(splitRegions(regions, 1, 1), ElementsAre(ElementsAre(Regions{{10, 14}, {0, 4}}, Regions{{20, 24}})));
  EXPECT_THAT(splitRegions(regions, 1, 2),
              ElementsAre(ElementsAre(Regions{{10, 14}, {0, 2}}), ElementsAre(Regions{{2, 4}}, Regions{{20, 24}})));
  EXPECT_THAT(splitRegions(regions, 2, 1, 0, UINT_MAX, 5), ElementsAre(ElementsAre(Regions{{10, 14}}, Regions{{0, 4}}, Regions{{20, 24}})));
  EXPECT_EQ(intervalSequenceNumElements(regions), 12u);
  EXPECT_THAT(flattenIntervals(regions), ElementsAre(Interval(10, 14), Interval(0, 4), Interval(20, 24)));
}

TEST(Regions, WorkersAreThoseOfTheTarget) {
  const auto ipu = poplar::Target::createIPUTarget(1, "ipu2"), cpu = poplar::Target::createCPUTarget();
  EXPECT_EQ(splitRegionsBetweenWorkers(ipu, Regions{{0, 4800}}, 1).size(), 6u);
  EXPECT_EQ(splitRegionsBetweenWorkers(cpu, Regions{{0, 4800}}, 1).size(), 24u);
  EXPECT_EQ(splitRegionsBetweenWorkers(ipu, std::vector<Regions>{{{0, 4800}}}, 1).size(), 6u);
}

TEST(Regions, NoPartitionsIsAnError) {
  EXPECT_THROW(splitRegions(Regions{{0, 7}}, 1, 0), poplibs_error);
  EXPECT_THROW(splitRegions(Regions{{0, 7}}, 1, 1, 0, 1, 0), poplibs_error);
}

TEST(Regions, WhatIsNoneOrTooMuchIsAnError) {
  const Regions inverted = {{0, 4}, {7, 3}}, endless = {{0, SIZE_MAX}}, sums_wrap = {{0, std::size_t{1} << 62}, {0, 4}};
  for (const Regions& bad : {inverted, endless, sums_wrap}) {
    EXPECT_THROW(splitRegions(bad, 1, 6), poplibs_error);
    EXPECT_THROW(splitRegions(std::vector<Regions>{{{0, 2}}, bad}, 1, 6), poplibs_error);
    EXPECT_THROW(splitRegionsBetweenWorkers(poplar::Target::createCPUTarget(), bad, 0), poplibs_error);
    EXPECT_THROW(intervalSequenceNumElements({{{0, 2}}, bad}), poplibs_error);
    EXPECT_THROW(calculateUnshufflingIntervals(bad), poplibs_error);
    Regions merged = bad;
    EXPECT_THROW(mergeAdjacentRegions(merged), poplibs_error);
  }
  // Parts or pieces that no host holds.
  EXPECT_THROW(splitRegions(Regions{{0, std::size_t{1} << 40}}, 1, 1, 0, UINT_MAX, 1), poplibs_error);
  EXPECT_THROW(splitRegions(Regions{{0, std::size_t{1} << 40}}, 1, 1, 0, 1), poplibs_error);
  // Long ones in few parts are cut; grains of 0 elements are as those of 1.
  EXPECT_EQ(splitRegions(Regions{{0, std::size_t{1} << 32}}, 1, 2),
            (std::vector<Regions>{{{0, std::size_t{1} << 31}}, {{std::size_t{1} << 31, std::size_t{1} << 32}}}));
  EXPECT_EQ(splitRegions(Regions{{0, 100}}, 0, 7), splitRegions(Regions{{0, 100}}, 1, 7));
}

TEST(Regions, AdjacentOnesMerge) {
  Regions regions = {{7, 9}, {0, 3}, {3, 5}, {6, 6}, {9, 12}};
  mergeAdjacentRegions(regions);
  EXPECT_THAT(regions, ElementsAre(Interval(0, 5), Interval(7, 12)));
  std::vector<Regions> mapping = {{{1, 2}, {0, 1}}, {}};
  mergeAdjacentRegions(mapping);
  EXPECT_THAT(mapping, ElementsAre(Regions{{0, 2}}, Regions{}));
}

TEST(Regions, AShuffleIsUndone) {
  const Regions shuffle = {{4, 9}, {0, 2}, {9, 10}, {2, 4}};
  const Regions undo = calculateUnshufflingIntervals(shuffle);
  const std::vector<std::size_t> shuffled = elements(shuffle);
  std::vector<std::size_t> back;
  for (const std::size_t i : elements(undo)) back.push_back(shuffled[i]);
  std::vector<std::size_t> expected(10);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(back, expected);
}

TEST(Regions, IndicesAndTheirCoordinates) {
  const std::vector<std::size_t> shape = {2, 3, 4};
  EXPECT_EQ(unflattenIndex(shape, 23), (std::vector<std::size_t>{1, 2, 3}));
  for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(flattenIndex(shape, unflattenIndex(shape, i)), i);
}

}  // namespace
}  // namespace poputil
