// Exchange plans of random copies, carried out byte by byte and compared with copying element by element.
#include "compile/communicate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "machine/machine.h"

namespace pando::compile {
namespace {

using graph::View;

using Byte = std::pair<ShardId, std::uint64_t>;

std::vector<std::pair<Byte, Byte>> bytes_of(const std::vector<SymbolicMove>& moves) {
  std::vector<std::pair<Byte, Byte>> list;  // from, to
  for (const SymbolicMove& m : moves)
    for (std::uint32_t i = 0; i < m.count; ++i)
      for (std::uint32_t b = 0; b < m.bytes; ++b)
        list.push_back({{m.source.shard, m.source.offset + static_cast<std::uint64_t>(m.source_step * i) + b},
                        {m.destination.shard, m.destination.offset + static_cast<std::uint64_t>(m.destination_step * i) + b}});
  return list;
}

class Fixture {
 public:
  explicit Fixture(std::uint32_t seed)
      : rng_(seed), graph_(*find_machine("tiny4"), 1), plan_{graph_, options_, std::make_shared<tile::Program>()} {
    options_.merge_moves = pick(4) != 0;
    for (int v = 0; v < 3; ++v) add_variable();
    plan_.stream_of_tile.assign(4, StreamId(0));
    plan_.out->streams.resize(1);
    lay_out_variables(plan_);
  }

  void check_copy() {
    const View destination = without_repeats(random_view());
    View source = random_view().flatten();
    while (source.num_elements() < destination.num_elements()) source = View::concat({source, random_view().flatten()}, 0);
    source = source.slice(0, destination.num_elements(), 0);
    const SymbolicExchange exchange = plan_exchange(plan_, plan_.name("copy"), moves_between(plan_, source, destination.flatten()));

    std::map<Byte, int> memory;  // every byte of a variable holds a number of its own
    for (std::uint32_t s = 0; s < plan_.shards.size(); ++s)
      for (std::uint64_t b = 0; b < plan_.shards[ShardId(s)].bytes; ++b) memory[{ShardId(s), b}] = next_++;
    std::map<Byte, int> expected = memory;
    const auto from = elements(source), to = elements(destination.flatten());
    for (std::size_t i = 0; i < to.size(); ++i)
      for (std::uint64_t b = 0; b < 4; ++b) expected[{to[i].first, to[i].second + b}] = memory[{from[i].first, from[i].second + b}];

    carry_out(exchange.receive, memory);
    carry_out(exchange.arrange, memory);
    for (const auto& [byte, value] : expected) {
      const tile::Category category = plan_.shards[byte.first].category;
      if (category == tile::Category::variable) ASSERT_EQ(memory[byte], value) << "shard " << byte.first.value << " byte " << byte.second;
    }
    check_arrivals(exchange);
  }

  // Whatever is said to be read once occurs once. Returns whether that is said.
  bool check_reads_once() {
    View view = random_view();
    if (pick(4) == 0)
      view =
          View::concat({view, random_view().flatten().slice(0, 1, 0).reshape({1, 1}).broadcast(static_cast<unsigned>(view.dim(1)), 1)}, 0);
    if (!reads_once(view)) return false;
    std::vector<Byte> list = elements(view);
    std::sort(list.begin(), list.end());
    EXPECT_TRUE(std::adjacent_find(list.begin(), list.end()) == list.end());
    return true;
  }

 private:
  std::uint32_t pick(std::uint32_t n) { return static_cast<std::uint32_t>(rng_() % n); }

  void add_variable() {
    const std::size_t rows = 2 + pick(5), columns = 1 + pick(6);
    const View v = graph_.view(graph_.add_variable(ElementType::float_, {rows, columns}, "v" + std::to_string(views_.size())));
    const View flat = v.flatten();
    for (std::size_t at = 0; at < flat.num_elements();) {
      const std::size_t end = std::min<std::size_t>(flat.num_elements(), at + 1 + pick(8));
      graph_.set_tile_mapping(flat.slice(at, end, 0), TileId(pick(4)));
      at = end;
    }
    views_.push_back(v);
  }

  View random_view() {
    View v = views_[pick(3)];
    for (std::uint32_t i = 0; i < pick(4); ++i) {
      const unsigned dim = pick(2);
      switch (pick(5)) {
        case 0: v = v.dim_shuffle({1, 0}); break;
        case 1: v = v.reverse(dim); break;
        case 2: v = v.broadcast(1 + pick(3), dim); break;
        case 3: v = v.sub_sample(1 + pick(2), dim); break;
        default: {
          const std::size_t begin = pick(static_cast<std::uint32_t>(v.dim(dim)));
          v = v.slice(begin, begin + 1 + pick(static_cast<std::uint32_t>(v.dim(dim) - begin)), dim);
        }
      }
    }
    return v;
  }
  View without_repeats(View v) {
    while (v.contains_aliases()) v = random_view();
    return v;
  }

  std::vector<Byte> elements(const View& v) {
    std::vector<Byte> list;
    v.for_each_run([&](const graph::Run& r) {
      for (std::uint64_t i = 0; i < r.count; ++i) {
        const std::uint64_t e = r.offset + static_cast<std::uint64_t>(r.stride * static_cast<std::int64_t>(i));
        const ShardInterval& at = locate(plan_, r.variable, e);
        list.emplace_back(at.shard, at.local + (e - at.elements.begin) * 4);
      }
    });
    return list;
  }

  // All at once, as the tiles do; what is written is not read, and written once.
  void carry_out(const std::vector<SymbolicMove>& moves, std::map<Byte, int>& memory) {
    std::set<Byte> read, written;
    for (const auto& [from, to] : bytes_of(moves)) {
      read.insert(from);
      ASSERT_TRUE(written.insert(to).second) << "written twice";
    }
    for (const Byte& b : written) ASSERT_FALSE(read.contains(b)) << "written and read in one phase";
    for (const auto& [from, to] : bytes_of(moves)) memory[to] = memory[from];
  }

  // Contract 11: a byte that a tile does not hold arrives there once (a repeated run arrives once); arranging stays on the tile.
  void check_arrivals(const SymbolicExchange& exchange) {
    std::set<std::pair<TileId, Byte>> arrived;
    for (SymbolicMove m : exchange.receive) {
      const TileId tile = plan_.shards[m.destination.shard].tile;
      if (plan_.shards[m.source.shard].tile == tile) continue;
      if (m.source_step == 0) m.count = 1;
      for (const auto& [from, to] : bytes_of({m})) ASSERT_TRUE(arrived.insert({tile, from}).second) << "arrived twice";
    }
    for (const SymbolicMove& m : exchange.arrange) ASSERT_EQ(plan_.shards[m.source.shard].tile, plan_.shards[m.destination.shard].tile);
  }

  std::mt19937 rng_;
  graph::Graph graph_;
  Options options_;
  Plan plan_;
  std::vector<View> views_;
  int next_ = 0;
};

TEST(PlanExchange, CarriesOutRandomCopiesAndBringsEachByteOnce) {
  for (std::uint32_t seed = 1; seed <= 4000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Fixture fixture(seed);
    fixture.check_copy();
    if (testing::Test::HasFatalFailure() || testing::Test::HasFailure()) return;
  }
}

TEST(Communicate, what_is_read_once_has_no_element_twice) {
  int once = 0;
  for (std::uint32_t seed = 1; seed <= 2000; ++seed) once += Fixture(seed).check_reads_once();
  EXPECT_GT(once, 500);
  EXPECT_LT(once, 1900);
}

// A matrix whose halves of columns lie on two tiles: the rows of a half are one strided move, whichever side the host is.
TEST(Communicate, rows_of_a_block_go_to_the_host_and_come_from_it_in_one_move) {
  graph::Graph graph(*find_machine("tiny4"), 1);
  const VariableId v = graph.add_variable(ElementType::float_, {4, 6}, "matrix");
  const View matrix = graph.view(v);
  graph.set_tile_mapping(matrix.slice(0, 3, 1), TileId(0));
  graph.set_tile_mapping(matrix.slice(3, 6, 1), TileId(1));
  Options options;
  Plan plan{graph, options, std::make_shared<tile::Program>()};
  lay_out_variables(plan);
  for (const bool to_host : {true, false}) {
    std::vector<SymbolicMove> moves = to_host ? moves_to_block(plan, matrix, ShardId(), 0) : moves_from_block(plan, ShardId(), 0, matrix);
    auto before = bytes_of(moves);
    merge_moves(moves);
    ASSERT_EQ(moves.size(), 2u) << to_host;
    for (const SymbolicMove& m : moves) {
      EXPECT_EQ(m.count, 4u);
      EXPECT_EQ(m.bytes, 12u);
      EXPECT_EQ(to_host ? m.destination_step : m.source_step, 24);
      EXPECT_TRUE((to_host ? m.source : m.destination).shard.valid());
    }
    auto after = bytes_of(moves);
    std::sort(before.begin(), before.end());
    std::sort(after.begin(), after.end());
    EXPECT_EQ(after, before);
  }
}

// The columns of a matrix whose rows lie on many tiles: as many moves as there are rows, if there are thousands of elements; and none other
// where the elements come from no regular places.
TEST(Communicate, columns_of_a_matrix_come_in_one_move_from_each_row) {
  for (const bool regular : {true, false}) {
    std::mt19937 rng(3);
    std::vector<SymbolicMove> moves;
    constexpr std::uint32_t kRows = 64, kColumns = 512, kOthers = 9;
    for (std::uint32_t column = 0; column < kColumns; ++column)
      for (std::uint32_t row = 0; row < kRows; ++row)
        moves.push_back({{ShardId(row), regular ? column * 8u : static_cast<std::uint32_t>(rng() % 1000) * 8u},
                         {ShardId(100), (column * kRows + row) * 4u},
                         4,
                         1,
                         0,
                         0});
    for (std::uint32_t i = 0; i < kOthers; ++i) moves.push_back({{ShardId(i), 4}, {ShardId(101), i * 8u}, 4, 1, 0, 0});
    auto before = bytes_of(moves);
    const std::size_t count = moves.size();
    merge_turns(moves);
    EXPECT_EQ(moves.size(), regular ? kRows + kOthers : count);
    for (const SymbolicMove& m : moves)
      if (regular && m.destination.shard == ShardId(100)) {
        EXPECT_EQ(m.count, kColumns);
        EXPECT_EQ(m.source_step, 8);
        EXPECT_EQ(m.destination_step, kRows * 4);
      }
    auto after = bytes_of(moves);
    std::sort(before.begin(), before.end());
    std::sort(after.begin(), after.end());
    EXPECT_EQ(after, before);
  }
}

// Blocks of a matrix whose blocks follow each other in memory, of any mapping: every byte comes from and goes to its place.
TEST(Communicate, moves_to_and_from_a_block_are_those_of_its_elements) {
  std::mt19937 rng(7);
  const auto pick = [&](std::uint64_t n) { return std::uniform_int_distribution<std::uint64_t>(0, n - 1)(rng); };
  for (int round = 0; round < 400; ++round) {
    graph::Graph graph(*find_machine("tiny4"), 1);
    const std::size_t across = 1 + pick(3), down = 1 + pick(3), height = 1 + pick(4), width = 1 + pick(4);
    const VariableId v = graph.add_variable(ElementType::float_, {across, down, height, width}, "blocks");
    const View whole = graph.view(v), flat = whole.flatten();
    for (std::uint64_t at = 0; at < flat.num_elements();) {
      const std::uint64_t n = std::min<std::uint64_t>(1 + pick(pick(2) ? 40 : 6), flat.num_elements() - at);
      graph.set_tile_mapping(flat.slice(at, at + n, 0), TileId(static_cast<std::uint32_t>(pick(4))));
      at += n;
    }
    const std::vector<std::vector<unsigned>> orders = {{1, 2, 0, 3}, {0, 1, 2, 3}, {3, 2, 1, 0}, {1, 0, 3, 2}, {2, 3, 0, 1}};
    View view = whole.dim_shuffle(orders[pick(orders.size())]);
    if (pick(2)) view = view.reshape({view.dim(0) * view.dim(1), view.dim(2) * view.dim(3)});
    if (pick(3) == 0) view = view.slice(0, 1 + pick(view.dim(0)), 0);
    if (pick(5) == 0) view = view.reverse(0);
    Options options;
    Plan plan{graph, options, std::make_shared<tile::Program>()};
    lay_out_variables(plan);
    for (const bool to_block : {true, false}) {
      std::vector<SymbolicMove> moves = to_block ? moves_to_block(plan, view, ShardId(), 8) : moves_from_block(plan, ShardId(), 8, view);
      if (pick(2)) merge_moves(moves);
      std::map<std::uint64_t, Byte> found;  // by place in the block
      for (auto [from, to] : bytes_of(moves)) {
        if (!to_block) std::swap(from, to);
        EXPECT_FALSE(to.first.valid());
        EXPECT_TRUE(found.emplace(to.second, from).second);
      }
      std::uint64_t at = 8;
      view.for_each_run([&](const graph::Run& run) {
        for (std::uint64_t i = 0; i < run.count; ++i) {
          const std::uint64_t element = run.offset + static_cast<std::uint64_t>(run.stride * static_cast<std::int64_t>(i));
          const ShardInterval& interval = locate(plan, run.variable, element);
          for (std::uint64_t b = 0; b < 4; ++b, ++at)
            ASSERT_EQ(found[at], Byte(interval.shard, interval.local + (element - interval.elements.begin) * 4 + b)) << round;
        }
      });
      EXPECT_EQ(found.size(), at - 8);
    }
  }
}

}  // namespace
}  // namespace pando::compile
