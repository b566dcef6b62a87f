#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "graph/graph.h"
#include "graph/test_codelets.h"

namespace pando::graph {
namespace {

using ::testing::ElementsAre;
using testing::expect_error;
using testing::make_graph;

struct Regions : ::testing::Test {
  Graph graph = make_graph();
  View v(const Shape& shape, const char* name = "x") { return graph.view(graph.add_variable(ElementType::float_, shape, name)); }
  std::vector<std::vector<Interval>> sorted(const View& t, bool remove, std::vector<std::size_t>* aliases = nullptr) {
    const Interval all{0, t.num_elements()};
    return graph.sorted_contiguous_regions(t, {&all, 1}, remove, aliases);
  }
};

using List = std::vector<Interval>;

TEST_F(Regions, AreInMemoryOrder) {
  const View x = v({10}), y = v({4});
  const View t = View::concat({y, x.slice(5, 10, 0), x.slice(0, 5, 0)}, 0);
  EXPECT_THAT(sorted(t, false), ElementsAre(List{{9, 14}, {4, 9}}, List{{0, 4}}));
  const std::vector<Interval> some{{0, 2}, {5, 6}, {6, 8}, {13, 14}};
  EXPECT_THAT(graph.sorted_contiguous_regions(t, some, false, nullptr), ElementsAre(List{{13, 14}}, List{{5, 8}}, List{{0, 2}}));
  const Interval beyond{0, 15};
  expect_error<poplar::index_error>([&] { graph.sorted_contiguous_regions(t, {&beyond, 1}, false, nullptr); },
                                    "elements [0, 15) of a tensor of shape {14}");
}

TEST_F(Regions, IntervalsThatAreNoneAreRejected) {
  const View t = graph.view(graph.add_variable(ElementType::float_, {8}, "t"));
  for (const Interval bad : {Interval{3, 2}, Interval{8, 7}, Interval{0, 9}, Interval{~std::uint64_t{0}, 0}})
    EXPECT_THROW(graph.sorted_contiguous_regions(t, {&bad, 1}, false, nullptr), poplar::index_error) << bad.begin;
  const Interval none{5, 5};
  EXPECT_TRUE(graph.sorted_contiguous_regions(t, {&none, 1}, false, nullptr).empty());
}

TEST_F(Regions, AliasesAreLeftOutOrNamed) {
  const View x = v({10});
  const View t = View::concat({x.slice(2, 6, 0), x.slice(0, 4, 0)}, 0);  // 2 3 4 5 0 1 2 3
  EXPECT_THAT(sorted(t, true), ElementsAre(List{{4, 6}, {0, 4}}));
  EXPECT_THAT(sorted(t, false), ElementsAre(List{{4, 6}, {0, 4}}, List{{6, 8}}));
  std::vector<std::size_t> aliases;
  EXPECT_THAT(sorted(t, false, &aliases), ElementsAre(List{{4, 6}, {0, 2}, {2, 4}}, List{{6, 8}}));
  EXPECT_THAT(aliases, ElementsAre(4, 0, 2, 0));
}

TEST_F(Regions, RandomTensorsKeepEveryElementOnce) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
    Graph g = make_graph();
    const View x = g.view(g.add_variable(ElementType::float_, {20}, "x")), y = g.view(g.add_variable(ElementType::float_, {20}, "y"));
    std::vector<View> parts;
    for (int i = 0; i < 6; ++i) {
      const std::size_t begin = below(20), end = begin + 1 + below(20 - begin);
      View part = (below(2) ? x : y).slice(begin, end, 0);
      if (below(3) == 0) part = part.reverse(0);
      parts.push_back(below(3) == 0 ? part.sub_sample(2, 0) : part);
    }
    const View t = View::concat(parts, 0);
    std::vector<Region> element;  // by position
    t.for_each_run([&](const graph::Run& r) {
      for (std::uint64_t i = 0; i < r.count; ++i) {
        const std::uint64_t at = r.offset + static_cast<std::uint64_t>(r.stride) * i;
        element.push_back({r.variable, {at, at + 1}});
      }
    });
    const Interval all{0, t.num_elements()};
    std::vector<std::size_t> aliases;
    for (bool remove : {false, true}) {
      std::multiset<Region> seen;
      std::size_t n = 0;
      const auto lists = g.sorted_contiguous_regions(t, {&all, 1}, remove, &aliases);
      std::map<std::size_t, std::uint64_t> size_at;
      for (const auto& list : lists) {
        const Region* last = nullptr;
        for (const Interval& i : list) {
          size_at[i.begin] = i.size();
          for (std::uint64_t p = i.begin; p < i.end; ++p) {
            if (last) ASSERT_EQ(std::pair(last->variable, last->elements.end), std::pair(element[p].variable, element[p].elements.begin));
            last = &element[p];
            seen.insert(element[p]);
            ++n;
          }
        }
      }
      ASSERT_EQ(n, remove ? std::set<Region>(element.begin(), element.end()).size() : element.size());
      ASSERT_EQ(std::set<Region>(seen.begin(), seen.end()), std::set<Region>(element.begin(), element.end()));
      std::size_t k = 0;
      for (const auto& list : lists)
        for (const Interval& i : list) {
          ASSERT_EQ(size_at.at(aliases.at(k)), i.size());
          for (std::uint64_t e = 0; e < i.size(); ++e) ASSERT_EQ(element[i.begin + e], element[aliases[k] + e]);
          ++k;
        }
      ASSERT_EQ(k, aliases.size());
    }
  }
}

// Element by element: the first of each, in memory order.
std::vector<List> each_once(const View& t) {
  std::map<std::pair<VariableId, std::uint64_t>, std::uint64_t> first;
  std::uint64_t at = 0;
  t.for_each_run([&](const graph::Run& r) {
    for (std::uint64_t i = 0; i < r.count; ++i)
      first.try_emplace({r.variable, r.offset + static_cast<std::uint64_t>(r.stride * static_cast<std::int64_t>(i))}, at++);
  });
  std::vector<List> lists;
  std::pair<VariableId, std::uint64_t> next;
  for (const auto& [element, position] : first) {
    if (lists.empty() || element != next) lists.emplace_back();
    List& list = lists.back();
    if (!list.empty() && list.back().end == position)
      ++list.back().end;
    else
      list.push_back({position, position + 1});
    next = {element.first, element.second + 1};
  }
  return lists;
}

TEST_F(Regions, OfRepeatedElementsAreThoseOfEachOnce) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
    const View x = v({20}), y = v({20});
    std::vector<View> parts;
    for (std::size_t i = 1 + below(5); i-- > 0;) {
      const std::size_t begin = below(20), end = begin + 1 + below(std::min<std::size_t>(4, 20 - begin));
      View part = (below(2) ? x : y).slice(begin, end, 0);
      if (below(3) == 0) part = part.reverse(0);
      if (below(2))
        part = below(2) ? part.broadcast(static_cast<unsigned>(1 + below(4)), 0) : part.upsample(static_cast<unsigned>(1 + below(4)), 0);
      parts.push_back(part);
    }
    const View t = View::concat(parts, 0);
    ASSERT_EQ(sorted(t, true), each_once(t));
    // The lists beside names of what is repeated are the same ones, cut.
    std::vector<std::size_t> aliases;
    std::vector<List> joined = sorted(t, true, &aliases);
    for (List& list : joined) {
      List whole;
      for (const Interval& i : list)
        if (!whole.empty() && whole.back().end == i.begin)
          whole.back().end = i.end;
        else
          whole.push_back(i);
      list = whole;
    }
    ASSERT_EQ(joined, each_once(t));
  }
}

TEST_F(Regions, OfAnElementThatStandsBillionsOfTimes) {
  const View x = v({4});
  const View many = x.slice(1, 2, 0).broadcast(1u << 31, 0);
  std::vector<std::size_t> aliases;
  EXPECT_THAT(sorted(many, true, &aliases), ElementsAre(List{{0, 1}}));
  EXPECT_THAT(aliases, ElementsAre(0));
  EXPECT_THAT(sorted(View::concat({many, x}, 0), true),
              ElementsAre(List{{1ull << 31, (1ull << 31) + 1}, {0, 1}, {(1ull << 31) + 2, (1ull << 31) + 4}}));
  const View more = many.broadcast(1u << 12, 0);
  expect_error<poplar::tensor_creation_error>([&] { sorted(more, false); }, "the host's memory");
}

TEST_F(Regions, ReorderToSimplify) {
  const View x = v({6, 8}), y = v({48});
  View t = x.dim_shuffle({1, 0}).reverse(0), other = y.reshape({48, 1});
  View* others[] = {&other};
  graph.reorder_to_simplify(&t, others);
  EXPECT_EQ(t, x.flatten());
  EXPECT_EQ(other, y.reshape({8, 6}).reverse(0).dim_shuffle({1, 0}).flatten());

  t = View::concat({x.flatten().slice(24, 48, 0), x.flatten().slice(0, 24, 0)}, 0);
  other = y;
  graph.reorder_to_simplify(&t, others);
  EXPECT_EQ(t, x.flatten());
  EXPECT_EQ(other, View::concat({y.slice(24, 48, 0), y.slice(0, 24, 0)}, 0));

  View wrong = v({5});
  View* bad[] = {&wrong};
  expect_error<poplar::tensor_creation_error>([&] { graph.reorder_to_simplify(&t, bad); }, "with one of shape {5}");
}

TEST_F(Regions, FindUnbroadcast) {
  const View x = v({3, 4});
  EXPECT_EQ(graph.find_unbroadcast(x), x);
  EXPECT_EQ(graph.find_unbroadcast(x.broadcast(5, 0)), x);
  EXPECT_EQ(graph.find_unbroadcast(x.broadcast(2, 0).broadcast(3, 1)), x);
  const View row = x.slice(0, 1, 0);
  EXPECT_EQ(graph.find_unbroadcast(row.broadcast(7, 0)), row);
  const View up = x.upsample(2, 0);
  EXPECT_EQ(graph.find_unbroadcast(up), up);
}

}  // namespace
}  // namespace pando::graph
