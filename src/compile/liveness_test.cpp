// The live range of one byte range, against what random runs of random programs need.
#include "compile/liveness.h"

#include <gtest/gtest.h>

#include <random>

#include "machine/machine.h"

namespace pando::compile {
namespace {

// Random step trees over a handful of actions, and runs of them.
class Fixture {
 public:
  explicit Fixture(std::uint32_t seed)
      : rng_(seed), graph_(*find_machine("tiny4"), 1), plan_{graph_, options_, std::make_shared<tile::Program>()} {
    for (int a = 0; a < kActions; ++a) plan_.actions.push(Action{});
    const std::uint32_t functions = pick(3);
    plan_.function_bodies = DenseMap<FunctionId, Node>(functions);
    for (std::uint32_t f = 0; f < functions; ++f) {
      callable_ = f;  // a function calls those before it only
      plan_.function_bodies[FunctionId(f)] = random_node(2);
    }
    callable_ = functions;
    for (std::uint32_t p = 0; p < 1 + pick(2); ++p) plan_.programs.push_back(random_node(3));
    for (Node& n : plan_.programs) number(n);
    for (Node& n : plan_.function_bodies) number(n);
    for (std::uint32_t a = 0; a < kActions; ++a)
      if (pick(2)) pattern_.push_back({ActionId(a), static_cast<AccessKind>(pick(5))});
  }

  void check() {
    const tile::LiveRange range = LiveRanges(plan_).of(pattern_, false);
    for (int run = 0; run < 20; ++run) {
      trace_.clear();
      for (int i = 0; i < 3; ++i) execute(plan_.programs[pick(static_cast<std::uint32_t>(plan_.programs.size()))]);
      check_trace(range);
    }
  }

 private:
  static constexpr std::uint32_t kActions = 6;

  std::uint32_t pick(std::uint32_t n) { return static_cast<std::uint32_t>(rng_() % n); }

  Node action() {
    Node n;
    n.kind = Node::Kind::action;
    n.action = ActionId(pick(kActions));
    return n;
  }
  Node random_node(int depth) {
    Node n;
    const std::uint32_t kind = depth == 0 ? 0 : pick(6);
    if (kind == 0) return action();
    if (kind == 1) {
      n.kind = Node::Kind::repeat;
      n.count = 1 + pick(3);
      n.children.push_back(random_node(depth - 1));
    } else if (kind == 2) {
      n.kind = Node::Kind::repeat_while;
      n.children = {random_node(depth - 1), action(), random_node(depth - 1)};
    } else if (kind == 3) {
      n.kind = Node::Kind::branch;
      n.children = {action(), random_node(depth - 1), pick(2) ? random_node(depth - 1) : Node{}};
    } else if (kind == 4 && callable_ > 0) {
      n.kind = Node::Kind::call;
      n.function = FunctionId(pick(callable_));
      n.action = plan_.actions.push(Action{});
    } else {
      for (std::uint32_t i = 0; i < pick(5); ++i) n.children.push_back(random_node(depth - 1));
    }
    return n;
  }
  void number(Node& n) {
    n.begin = plan_.orders;
    if (n.kind == Node::Kind::action || n.kind == Node::Kind::call) ++plan_.orders;
    for (Node& c : n.children) number(c);
    n.end = plan_.orders;
  }

  void execute(const Node& n) {
    if (trace_.size() > 400) return;
    switch (n.kind) {
      case Node::Kind::sequence:
        for (const Node& c : n.children) execute(c);
        return;
      case Node::Kind::action: trace_.push_back({n.begin, n.action}); return;
      case Node::Kind::call:
        trace_.push_back({n.begin, n.action});
        execute(plan_.function_bodies[n.function]);
        trace_.push_back({n.begin, n.action});
        return;
      case Node::Kind::repeat:
        for (std::uint64_t i = 0; i < n.count; ++i) execute(n.children[0]);
        return;
      case Node::Kind::repeat_while:
        for (;;) {
          execute(n.children[0]);
          execute(n.children[1]);
          if (pick(2)) return;
          execute(n.children[2]);
        }
      case Node::Kind::branch:
        execute(n.children[0]);
        execute(n.children[1 + pick(2)]);
        return;
    }
  }

  // Backwards over the trace: between a write (or the begin) and the last read before the next write, every step is live.
  void check_trace(const tile::LiveRange& range) {
    bool needed = false;
    for (auto step = trace_.rbegin(); step != trace_.rend(); ++step) {
      const auto access = std::find_if(pattern_.begin(), pattern_.end(), [&](const ActionAccess& a) { return a.action == step->second; });
      const bool touched = access != pattern_.end();
      if (needed || touched) ASSERT_TRUE(live_at(range, step->first)) << "order " << step->first;
      if (!touched) continue;
      if (access->kind == AccessKind::read || access->kind == AccessKind::modify) needed = true;
      if (access->kind == AccessKind::write || access->kind == AccessKind::undefine) needed = false;
    }
  }
  static bool live_at(const tile::LiveRange& range, std::uint32_t order) {
    for (const auto& [begin, end] : range)
      if (begin <= order && order < end) return true;
    return false;
  }

  std::mt19937 rng_;
  graph::Graph graph_;
  Options options_;
  Plan plan_;
  AccessPattern pattern_;
  std::uint32_t callable_ = 0;
  std::vector<std::pair<std::uint32_t, ActionId>> trace_;
};

TEST(LiveRanges, HoldsEveryValueThatARandomRunStillReads) {
  for (std::uint32_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Fixture fixture(seed);
    fixture.check();
    if (testing::Test::HasFailure()) return;
  }
}

// Straight code: nothing is live that need not be.
TEST(LiveRanges, EndsAtTheLastRead) {
  graph::Graph graph(*find_machine("tiny4"), 1);
  Options options;
  Plan plan{graph, options, std::make_shared<tile::Program>()};
  Node root;
  for (std::uint32_t a = 0; a < 6; ++a) {
    Node n;
    n.kind = Node::Kind::action;
    n.action = plan.actions.push(Action{});
    n.begin = a;
    n.end = a + 1;
    root.children.push_back(n);
  }
  root.end = plan.orders = 6;
  plan.programs.push_back(root);
  LiveRanges ranges(plan);
  const ActionId a1(1), a3(3), a4(4);
  EXPECT_EQ(ranges.of({{a1, AccessKind::write}, {a3, AccessKind::read}}, false), (tile::LiveRange{{1, 4}}));
  // Written again: dead between the read and the write.
  EXPECT_EQ(ranges.of({{a1, AccessKind::write}, {a3, AccessKind::write}, {a4, AccessKind::read}}, false),
            (tile::LiveRange{{1, 2}, {3, 5}}));
  // Read first: the value comes from the run before.
  EXPECT_EQ(ranges.of({{a1, AccessKind::read}, {a3, AccessKind::write}}, false), (tile::LiveRange{{0, 2}, {3, 6}}));
  EXPECT_EQ(ranges.of({{a1, AccessKind::read}}, true), (tile::LiveRange{{0, 6}}));
  EXPECT_EQ(ranges.last_reads({{a1, AccessKind::write}, {a3, AccessKind::read}}), (std::vector<std::uint32_t>{3}));
}

// A function's own values are live in there alone; what it hands over is live at its call, too.
TEST(LiveRanges, EndInsideTheFunctionThatNeedsThem) {
  graph::Graph graph(*find_machine("tiny4"), 1);
  Options options;
  Plan plan{graph, options, std::make_shared<tile::Program>()};
  const auto step = [&](Node::Kind kind) {
    Node n;
    n.kind = kind;
    n.action = plan.actions.push(Action{});
    n.begin = plan.orders++;
    n.end = plan.orders;
    return n;
  };
  plan.function_bodies = DenseMap<FunctionId, Node>(1);
  Node root;
  for (int call = 0; call < 2; ++call) {
    Node n = step(Node::Kind::call);
    n.function = FunctionId(0);
    root.children.push_back(n);
  }
  root.children.push_back(step(Node::Kind::action));
  root.end = plan.orders;
  Node& body = plan.function_bodies[FunctionId(0)];
  body.begin = plan.orders;
  for (int i = 0; i < 3; ++i) body.children.push_back(step(Node::Kind::action));
  body.end = plan.orders;
  plan.programs.push_back(root);
  LiveRanges ranges(plan);
  const ActionId after(2), first(3), second(4), third(5);
  EXPECT_EQ(ranges.of({{first, AccessKind::write}, {second, AccessKind::read}}, false), (tile::LiveRange{{3, 5}}));
  EXPECT_EQ(ranges.of({{after, AccessKind::read}, {third, AccessKind::write}}, false), (tile::LiveRange{{1, 3}, {5, 6}}));
}

}  // namespace
}  // namespace pando::compile
