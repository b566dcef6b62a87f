#include "cycles/trace_fold.h"

#include <gtest/gtest.h>

#include <random>

namespace pando::cycles {
namespace {

struct Event {
  std::uint32_t step;
  std::uint64_t gap, cycles;
  friend bool operator==(const Event&, const Event&) = default;
};

// The dumb checker.
void unfold(const std::vector<profile::TraceRow>& rows, std::size_t begin, std::size_t end, std::vector<Event>& out) {
  for (std::size_t i = begin; i < end; i += rows[i].rows + 1)
    for (std::uint64_t k = 0; k < rows[i].times; ++k) {
      if (rows[i].rows == 0)
        out.push_back({rows[i].step, rows[i].gap, rows[i].cycles});
      else
        unfold(rows, i + 1, i + 1 + rows[i].rows, out);
    }
}

std::vector<Event> unfolded(const TraceFold& fold) {
  std::vector<Event> out;
  const std::vector<profile::TraceRow> rows = fold.rows();
  unfold(rows, 0, rows.size(), out);
  return out;
}

TraceFold folded(const std::vector<Event>& events) {
  TraceFold fold;
  for (const Event& e : events) fold.add(e.step, e.gap, e.cycles);
  return fold;
}

TEST(TraceFold, NestedLoops) {
  std::vector<Event> events;
  for (int epoch = 0; epoch < 50; ++epoch) {
    events.push_back({0, 0, 10});
    for (int batch = 0; batch < 100; ++batch)
      for (std::uint32_t step = 1; step < 20; ++step) events.push_back({step, step % 3, 100 + step});
    events.push_back({20, 5, 7});
  }
  const TraceFold fold = folded(events);
  EXPECT_EQ(unfolded(fold), events);
  const std::vector<profile::TraceRow> rows = fold.rows();
  EXPECT_EQ(rows.size(), 23u);
  EXPECT_EQ(rows[0].times, 50u);
  EXPECT_EQ(rows[0].rows, 22u);
  EXPECT_EQ(rows[2].times, 100u);
  std::uint64_t round = 0;
  for (std::uint32_t step = 1; step < 20; ++step) round += step % 3 + 100 + step;
  EXPECT_EQ(rows[2].cycles, round);
  EXPECT_EQ(rows[0].cycles, 10 + 100 * round + 12);
}

TEST(TraceFold, OneStepOverAndOverIsOneRow) {
  const TraceFold fold = folded(std::vector<Event>(1'000'000, Event{3, 1, 2}));
  ASSERT_EQ(fold.rows().size(), 1u);
  EXPECT_EQ(fold.rows()[0].times, 1'000'000u);
}

TEST(TraceFold, RandomProgramsUnfoldToWhatTheyWere) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::vector<Event> events;
    for (int part = 0; part < 20; ++part) {
      std::vector<Event> body;
      for (auto i = random() % 6 + 1; i > 0; --i) body.push_back({static_cast<std::uint32_t>(random() % 4), random() % 2, 1});
      for (auto i = random() % 8; i > 0; --i) events.insert(events.end(), body.begin(), body.end());
      if (random() % 3 == 0 && events.size() < 3000)
        events.insert(events.end(), events.begin(), events.begin() + static_cast<std::ptrdiff_t>(events.size()));
    }
    EXPECT_EQ(unfolded(folded(events)), events);
  }
}

TEST(TraceFold, WhatHasNoRoomIsCounted) {
  TraceFold fold(100);
  for (std::uint32_t i = 0; i < 1000; ++i) fold.add(i, 0, i);
  EXPECT_EQ(fold.rows().size(), 100u);
  EXPECT_EQ(fold.lost(), 900u);
}

}  // namespace
}  // namespace pando::cycles
