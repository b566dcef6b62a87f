// The network by hand: what collectives take on its levels, and what transfers do to each other and to computing.
#include "simulate/cluster.h"

#include "simulate/simulate.h"

#include <gtest/gtest.h>

namespace pando::simulate {
namespace {

constexpr double kLatency = 1e-6;

NetworkLevel level(const char* name, std::int32_t devices, double bytes_per_second) {
  NetworkLevel l;
  l.name = name;
  l.devices = devices;
  l.bytes_per_second = bytes_per_second;
  l.latency = kLatency;
  return l;
}

// Eight devices side by side; or two nodes of four.
Cluster flat() {
  Cluster c;
  c.levels = {level("all", 8, 1e9)};
  return c;
}
Cluster nodes() {
  Cluster c;
  c.levels = {level("node", 4, 1e10), level("all", 8, 1e9)};
  return c;
}

void expect_time(const Cluster& c, Collective what, double bytes, double seconds, Algorithm algorithm) {
  const TransferTime t = transfer_time(c, what, bytes, group_of(c, 0, what == Collective::send ? 2 : 8, 1));
  EXPECT_NEAR(t.seconds / seconds, 1, 1e-12) << name_of(what) << " " << bytes;
  EXPECT_EQ(t.algorithm, algorithm) << name_of(what) << " " << bytes;
}

TEST(Cluster, BytesAndMessagesOfCollectives) {
  const Cluster c = flat();
  expect_time(c, Collective::send, 1e6, 1e-3 + kLatency, Algorithm::direct);
  expect_time(c, Collective::all_reduce, 8e6, 14e-3 + 14 * kLatency, Algorithm::ring);
  expect_time(c, Collective::all_gather, 8e6, 7e-3 + 7 * kLatency, Algorithm::ring);
  expect_time(c, Collective::reduce_scatter, 8e6, 7e-3 + 7 * kLatency, Algorithm::ring);
  expect_time(c, Collective::all_to_all, 8e6, 7e-3 + 7 * kLatency, Algorithm::ring);
  // Few bytes: a tree has fewer messages.
  expect_time(c, Collective::all_reduce, 8, 16e-9 + 6 * kLatency, Algorithm::tree);
  Cluster switches = flat();
  switches.levels[0].reduces_in_network = true;
  expect_time(switches, Collective::all_reduce, 8e6, 8e-3 + 2 * kLatency, Algorithm::in_network);
  EXPECT_EQ(transfer_time(c, Collective::all_reduce, 8e6, group_of(c, 3, 1, 1)).seconds, 0);
}

TEST(Cluster, EfficiencyIsBySize) {
  Cluster c = flat();
  c.levels[0].efficiency.points = {{1e2, 0.25}, {1e4, 0.75}};
  for (const auto& [bytes, share] : {std::pair{1e1, 0.25}, {1e2, 0.25}, {1e3, 0.5}, {1e4, 0.75}, {1e6, 0.75}}) {
    expect_time(c, Collective::send, bytes, bytes / (share * 1e9) + kLatency, Algorithm::direct);
  }
}

TEST(Cluster, NodesAreReducedInsideFirst) {
  Cluster c = nodes();
  const Group g = group_of(c, 0, 8, 1);
  EXPECT_EQ(g.inner, 4);
  EXPECT_EQ(g.outer, 2);
  // A reduce-scatter of 8 MB inside, an all-reduce of a quarter across, an all-gather inside.
  expect_time(c, Collective::all_reduce, 8e6, 2 * (6e6 / 1e10 + 3 * kLatency) + 2e6 / 1e9 + 2 * kLatency, Algorithm::hierarchical);
  // The four of a node share the way out.
  c.levels[1].shared_bytes_per_second = 2e9;
  expect_time(c, Collective::all_reduce, 8e6, 2 * (6e6 / 1e10 + 3 * kLatency) + 2e6 / 5e8 + 2 * kLatency, Algorithm::hierarchical);
  // One of each node: a ring goes out of a node once, beside those of the three others.
  EXPECT_EQ(group_of(c, 0, 2, 4).outer, 1);
  EXPECT_DOUBLE_EQ(transfer_time(c, Collective::reduce_scatter, 8e6, group_of(c, 0, 2, 4)).seconds, 4e6 / 5e8 + kLatency);
  // Neighbours are in one node, devices four apart are not.
  EXPECT_EQ(transfer_time(c, Collective::send, 1e6, group_of(c, 0, 2, 1)).level, 0u);
  EXPECT_EQ(transfer_time(c, Collective::send, 1e6, group_of(c, 0, 2, 4)).level, 1u);
  EXPECT_EQ(transfer_time(c, Collective::send, 1e6, group_of(c, 3, 2, 1)).level, 1u);
}

// A step from slot to slot that takes a millisecond.
void add(Program& p, Body& b, StepKind kind, std::uint32_t from, std::uint32_t to, std::uint8_t at_level = 0) {
  BodyWriter w(b);
  const SlotId source = w.input(8, from, MemoryKind::activations), result = w.slot(8, to, MemoryKind::activations);
  w.step(kind, p.label("s"), 1e-3, std::vector{source}, std::vector{result}).level = at_level;
}

Program steps(std::initializer_list<std::tuple<StepKind, std::uint32_t, std::uint32_t, std::uint8_t>> all) {
  Program p;
  Body b;
  for (std::int32_t d = 0; d < 8; ++d) b.device({d, false});
  for (const auto& [kind, from, to, at_level] : all) add(p, b, kind, from, to, at_level);
  p.bodies.push_back(std::move(b));
  return p;
}

TEST(Cluster, ATransferSlowsDownWhatIsComputedBesideIt) {
  Cluster c = flat();
  const Program p = steps({{StepKind::transfer, 0, 1, 0}, {StepKind::compute, 0, 0, 0}});
  EXPECT_DOUBLE_EQ(run_clock(p, c).seconds, 1e-3);
  c.levels[0].slowdown = 0.3;
  EXPECT_DOUBLE_EQ(run_clock(p, c).seconds, 1.3e-3);
  EXPECT_DOUBLE_EQ(run_clock(p, c, {.folded = true, .overlap = false}).seconds, 2e-3);
}

TEST(Cluster, SharedLinksServeOneTransferAtATime) {
  Cluster c = nodes();
  // Two devices of a node send to the other node.
  const Program p = steps({{StepKind::transfer, 0, 4, 1}, {StepKind::transfer, 1, 5, 1}});
  EXPECT_DOUBLE_EQ(run_clock(p, c).seconds, 1e-3);
  c.levels[1].shared_bytes_per_second = 1e9;
  EXPECT_DOUBLE_EQ(run_clock(p, c).seconds, 2e-3);
  const Program inside = steps({{StepKind::transfer, 0, 1, 0}, {StepKind::transfer, 2, 3, 0}});
  EXPECT_DOUBLE_EQ(run_clock(inside, c).seconds, 1e-3);
}

}  // namespace
}  // namespace pando::simulate
