#include "base/testing/places.h"
#include "schedule/anneal.h"
#include "schedule/draw.h"
#include "schedule/generate.h"
#include "schedule/lower.h"
#include "schedule/synthesised.h"

#include <gmock/gmock.h>
#include <poplar/exceptions.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

namespace pando::schedule {
namespace {

const std::string kData = source_path("tests/data/distribution/schedules/");

Table table_of(const std::string& file) {
  std::ifstream in(kData + file);
  std::stringstream text;
  text << in.rdbuf();
  return read_csv(text.str(), file);
}

struct Row {
  std::string file, name;
  Shape shape;
  double makespan = 0, span = 0, bubble = 0, makespan_c1 = 0;
  std::vector<double> peak, peak_half;
};

std::vector<double> numbers(const std::string& text) {
  std::istringstream in(text);
  std::vector<double> all;
  for (double v; in >> v;) all.push_back(v);
  return all;
}

std::vector<Row> index() {
  std::ifstream in(kData + "index.csv");
  std::string line;
  std::getline(in, line);
  std::vector<Row> rows;
  while (std::getline(in, line)) {
    std::vector<std::string> f;
    std::istringstream cells(line);
    for (std::string c; std::getline(cells, c, ',');) f.push_back(c);
    rows.push_back({f[0],
                    f[2],
                    {std::stoi(f[3]), std::stoi(f[4]), std::stoi(f[5])},
                    std::stod(f[7]),
                    std::stod(f[8]),
                    std::stod(f[9]),
                    std::stod(f[13]),
                    numbers(f[10]),
                    numbers(f[11])});
  }
  return rows;
}

TEST(Schedule, PublishedTablesObeyTheRulesAndTakeTheirTime) {
  const auto rows = index();
  ASSERT_EQ(rows.size(), 15u);
  for (const Row& row : rows) {
    SCOPED_TRACE(row.file);
    const Table t = table_of(row.file);
    const auto broken = first_broken_rule(t);
    ASSERT_FALSE(broken) << broken->message;
    const Timing timing = replay(t);
    EXPECT_EQ(timing.makespan, row.makespan);
    EXPECT_EQ(timing.span, row.span);
    EXPECT_NEAR(timing.bubble, row.bubble, 5e-7);
    EXPECT_EQ(timing.peak, row.peak);
    EXPECT_EQ(timing.peak_half, row.peak_half);
    EXPECT_EQ(replay(t, {{10}, {11}, {8}, 1}).makespan, row.makespan_c1);
  }
}

TEST(Schedule, RowsSayWhatTablesDo) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < schedule_table().size(); ++i) {
    const ScheduleRow& row = *schedule_table()[i];
    SCOPED_TRACE(row.name);
    EXPECT_EQ(row.position, static_cast<std::int32_t>(i)) << "positions are 0, 1, 2 ...";
    EXPECT_TRUE(names.insert(row.name).second);
    const Table t = generate(row.name, {4, 8, row.stages_per_rank == 0 ? 3 : row.stages_per_rank});
    bool apart = false;
    for (std::int32_t r = 0; r < 4; ++r) {
      for (const Cell& c : t.ranks[static_cast<std::size_t>(r)]) {
        apart = apart || c.action == Action::weight_gradient;
        EXPECT_TRUE(row.in_a_v ? c.stage == r || c.stage == 7 - r : c.stage % 4 == r) << to_string(c);
      }
    }
    EXPECT_EQ(apart, row.splits_backward);
    EXPECT_EQ(splits_backward(row.name), row.splits_backward);
    EXPECT_EQ(is_in_a_v(row.name), row.in_a_v);
  }
  EXPECT_TRUE(splits_backward("synthesised:4"));
  EXPECT_TRUE(is_in_a_v("synthesised-v:4"));
  EXPECT_THROW(splits_backward("none"), poplar::poplar_error);
}

TEST(Schedule, NamesMakeThePublishedTables) {
  const std::map<std::string, std::string> ours = {
      {"GPipe", "GPipe"},          {"1F1B", "1F1B"},           {"Interleaved1F1B", "Interleaved1F1B"},
      {"VPP2", "Interleaved1F1B"}, {"LoopedBFS", "LoopedBFS"}, {"InterleavedZeroBubble", "InterleavedZeroBubble"},
      {"ZBVZeroBubble", "ZBV"},    {"DualPipeV", "DualPipeV"}};
  int compared = 0;
  for (const Row& row : index()) {
    const auto name = ours.find(row.name);
    if (name == ours.end()) continue;
    SCOPED_TRACE(row.file);
    EXPECT_EQ(write_csv(generate(name->second, row.shape)), write_csv(without_idle(table_of(row.file))));
    ++compared;
  }
  EXPECT_EQ(compared, 9);
}

// Schedules that others found by search: ours hold no more and take no longer.
TEST(Schedule, SearchedSchedulesAreAsGood) {
  const std::map<std::string, std::string> ours = {{"ZB1P", "ZB-H1"}, {"ZB2P", "ZB-H2"},   {"ZBV", "ZBV"},
                                                   {"VMIN", "V-Min"}, {"VHALF", "V-Half"}, {"V1F1B", "V-1F1B"}};
  int compared = 0;
  for (const Row& row : index()) {
    const auto it = ours.find(row.name);
    if (it == ours.end()) continue;
    SCOPED_TRACE(row.file);
    const Table t = generate(it->second, row.shape);
    ASSERT_FALSE(first_broken_rule(t));
    const Timing timing = replay(t);
    EXPECT_LE(timing.span, row.span);
    for (std::size_t r = 0; r < row.peak.size(); ++r) EXPECT_LE(timing.peak[r], row.peak[r]) << r;
    ++compared;
  }
  EXPECT_EQ(compared, 6);
}

// A row of zero bubble's tables: times of passes of a whole rank, and the bubble rate that the authors computed from them.
struct Published {
  std::string line, schedule;
  std::int32_t ranks = 1, microbatches = 1, layers = 1;
  double forward = 0, input = 0, weight = 0, transfer = 0, bubble = 0, hidden = 0, heads = 0, positions = 0;

  // Of ranks with several stages, each with an equal part.
  Costs costs(double stages) const { return {{forward / stages}, {input / stages}, {weight / stages}, transfer}; }
};

std::vector<Published> published_rates() {
  std::vector<Published> all;
  for (const auto& [file, times, whole] : {std::tuple{"zb_iclr24.csv", "_ms", 1.0}, {"zbv_arxiv.csv", "_half_ms", 2.0}}) {
    std::ifstream in(source_path("tests/data/distribution/") + file);
    std::string line;
    std::vector<std::string> head;
    while (std::getline(in, line)) {
      std::vector<std::string> cells;
      std::istringstream row(line);
      for (std::string c; std::getline(row, c, ',');) cells.push_back(c);
      if (head.empty()) {
        head = cells;
        continue;
      }
      const auto cell = [&](const std::string& name) {
        return cells.at(static_cast<std::size_t>(std::find(head.begin(), head.end(), name) - head.begin()));
      };
      if (cell("bubble_rate_computed").empty()) continue;
      const auto time = [&](const char* pass) { return whole * std::stod(cell(pass + std::string(times))); };
      all.push_back({line, cell("schedule"), std::stoi(cell("p")), std::stoi(cell("m")), std::stoi(cell("layers")), time("T_F"),
                     time("T_B"), time("T_W"), std::stod(cell("T_comm_ms")), std::stod(cell("bubble_rate_computed")),
                     std::stod(cell("hidden")), std::stod(cell("heads")), std::stod(cell("seq"))});
    }
  }
  return all;
}

// Zero bubble's published rates, from the published times of passes and transfers.
TEST(Schedule, BubbleRatesAreThePublishedOnes) {
  const std::map<std::string, std::string> ours = {{"1F1B", "1F1B"}, {"ZB-H1", "ZB-H1"}, {"ZB-1p", "ZB-H1"}, {"ZB-H2", "ZB-H2"}};
  int compared = 0;
  for (const Published& row : published_rates()) {
    const auto name = ours.find(row.schedule);
    if (name == ours.end()) continue;
    const Table t = generate(name->second, {row.ranks, row.microbatches, 1});
    EXPECT_NEAR(replay(t, row.costs(1)).bubble, row.bubble, 5e-5) << row.line;
    ++compared;
  }
  EXPECT_EQ(compared, 33);
}

// When the last rank ends, if a rank that takes microbatches from the other end of the pipeline waits for the first of each round alone.
double ends_with_one_wait_a_round(const Table& t, const Costs& costs) {
  const auto ranks = static_cast<std::int32_t>(t.ranks.size());
  std::map<std::tuple<Action, std::int32_t, std::int32_t>, double> ends;
  std::vector<double> now(t.ranks.size(), 0);
  std::vector<std::size_t> next(t.ranks.size(), 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t r = 0; r < t.ranks.size(); ++r) {
      for (; next[r] < t.ranks[r].size(); ++next[r], moved = true) {
        const Cell& c = t.ranks[r][next[r]];
        const bool forward = c.action == Action::forward, around = c.stage % ranks == (forward ? 0 : ranks - 1);
        const std::int32_t from = forward ? c.stage - 1 : c.stage + 1;
        const bool waits = from >= 0 && from < t.stages() && (!around || c.microbatch % ranks == 0);
        const auto it = ends.find({c.action, from, c.microbatch});
        if (waits && it == ends.end()) break;
        now[r] = std::max(now[r], waits ? it->second + costs.transfer : 0) + costs.of(c);
        ends[{c.action, c.stage, c.microbatch}] = now[r];
      }
    }
  }
  EXPECT_EQ(static_cast<std::int64_t>(ends.size()), t.cells());
  return *std::max_element(now.begin(), now.end());
}

// The published rates of interleaved 1F1B are those of our tables, with a layer to a stage (embedding and head count as one), if what comes
// around the ring is waited for once a round: at most a transfer for each rank less than is waited for in truth.
TEST(Schedule, BubbleRatesOfInterleavedStages) {
  int compared = 0;
  for (const Published& row : published_rates()) {
    if (row.schedule != "1F1B-I") continue;
    const std::int32_t stages = (row.layers + 2) / row.ranks;
    const Table t = generate("Interleaved1F1B", {row.ranks, row.microbatches, stages});
    const Costs costs = row.costs(stages);
    const double work = row.microbatches * (row.forward + row.input + row.weight), ends = ends_with_one_wait_a_round(t, costs);
    EXPECT_NEAR(1 - work / ends, row.bubble, 5e-5) << row.line;
    EXPECT_NEAR(replay(t, costs).span, ends + row.ranks * row.transfer, 1e-6 * ends) << row.line;
    ++compared;
  }
  EXPECT_EQ(compared, 9);
}

// ZB-2p is what its authors' solver finds under twice 1F1B's memory, where all of a layer's activations but the operands of its products go
// with the input gradient. Ours hold no more and are no worse; the one that is no better has as little as can be.
TEST(Schedule, BubblesUnderTwiceTheMemory) {
  int compared = 0, better = 0, at_least = 0;
  for (const Published& row : published_rates()) {
    if (row.schedule != "ZB-2p") continue;
    Problem p{{row.ranks, row.microbatches, 1}, false, true, row.costs(1), {2.0 * row.ranks}};
    p.released = 1 - 32 * row.hidden / (34 * row.hidden + 5 * row.heads * row.positions);
    const Table t = synthesise(p);
    EXPECT_FALSE(first_broken_rule(t));
    const double bubble = replay(t, p.costs).bubble;
    EXPECT_LE(bubble, row.bubble + 5e-5) << row.line;
    better += bubble < row.bubble - 5e-5;
    // The last rank begins when a microbatch has come to it, and its last gradient has to go back to the first one.
    const double way = (row.ranks - 1) * (row.forward + row.input + 2 * row.transfer) + row.microbatches * (row.forward + row.input);
    const double least = way + row.weight, work = row.microbatches * (row.forward + row.input + row.weight);
    EXPECT_GE(bubble, 1 - work / std::max(work, least) - 1e-9) << row.line;
    at_least += least > work && bubble <= 1 - work / least + 1e-9;
    for (double peak : peaks(t, p.released)) EXPECT_LE(peak, 2 * row.ranks + 1e-6) << row.line;
    ++compared;
  }
  EXPECT_EQ(compared, 6);
  EXPECT_EQ(better, 5);
  EXPECT_EQ(at_least, 1);
}

// ZB-V's published tables are found by a search of their authors. Ours are no worse, and hold no more.
TEST(Schedule, BubblesOfAVAreNoLargerThanPublished) {
  int compared = 0;
  for (const Published& row : published_rates()) {
    if (row.schedule != "ZB-V") continue;
    const Timing timing = replay(generate("ZBV", {row.ranks, row.microbatches, 2}), row.costs(2));
    EXPECT_LE(timing.bubble, row.bubble + 5e-5) << row.line;
    EXPECT_GE(timing.bubble, row.bubble - 2e-3) << row.line;
    for (double peak : timing.peak) EXPECT_LE(peak, row.ranks) << row.line;
    ++compared;
  }
  EXPECT_EQ(compared, 3);
}

// DistIR's two schedulers, timestep by timestep: a forward pass takes one, a backward pass takes one.
TEST(Schedule, DistIrsTables) {
  std::ifstream in(source_path("tests/data/distir/schedules.txt"));
  std::string line;
  std::vector<std::string> rows;
  int compared = 0;
  while (std::getline(in, line)) {
    if (line.starts_with("  dev")) rows.push_back(line);
    if (!line.starts_with("^")) continue;
    std::istringstream words(line);
    std::string hat, name, p, k, timesteps, in_flight;
    Shape shape;
    double steps = 0;
    words >> hat >> name >> p >> shape.ranks >> k >> shape.microbatches >> timesteps >> steps >> in_flight;
    SCOPED_TRACE(line);
    const Table t = generate(name == "FIFO" ? "GPipe" : "eager-1F1B", shape);
    const Timing timing = replay(t, {{1}, {0.5}, {0.5}, 0});
    EXPECT_EQ(timing.makespan, steps);
    ASSERT_EQ(rows.size(), t.ranks.size());
    for (std::size_t r = 0; r < rows.size(); ++r) {
      std::istringstream cells(rows[r]);
      std::string device, cell, ours;
      cells >> device;
      std::vector<std::string> column;
      while (cells >> cell) column.push_back(cell);
      std::vector<std::string> made(column.size(), "--");
      for (std::size_t i = 0; i < t.ranks[r].size(); ++i)
        made.at(static_cast<std::size_t>(timing.start[r][i])) = to_string(t.ranks[r][i]).substr(1);
      EXPECT_EQ(made, column) << device;
    }
    std::string held;
    for (double peak : timing.peak) held += (held.empty() ? "[" : ", ") + std::to_string(static_cast<int>(peak));
    EXPECT_NE(line.find("in-flight " + held + "]"), std::string::npos) << held;
    rows.clear();
    ++compared;
  }
  EXPECT_EQ(compared, 6);
}

TEST(Schedule, EagerWarmUpIsDistIrs) {
  const Table t = generate("eager-1F1B", {4, 8, 1});
  std::vector<int> warm;
  for (const auto& rank : t.ranks) {
    int n = 0;
    while (rank[static_cast<std::size_t>(n)].action == Action::forward) ++n;
    warm.push_back(n);
  }
  EXPECT_EQ(warm, (std::vector<int>{7, 5, 3, 1}));
}

TEST(Schedule, RejectsTheNegativeTable) {
  const auto broken = first_broken_rule(table_of("negative_torch_1F1B_p4_m8.csv"));
  ASSERT_TRUE(broken);
  EXPECT_EQ(broken->rule, "order");
  EXPECT_EQ(broken->message, "rank 3, cell 2 '3B0': a backward pass without its forward pass before it");
}

TEST(Schedule, NamesTheFirstBrokenRule) {
  const auto rule = [](const char* text) {
    const auto broken = first_broken_rule(read_csv(text));
    return broken ? broken->rule + ": " + broken->message : "none";
  };
  EXPECT_EQ(rule(""), "no-cells: the table has no passes");
  EXPECT_EQ(rule(",\n"), "no-cells: the table has no passes");
  EXPECT_EQ(rule("0F0,0B0\n"), "none");
  EXPECT_EQ(rule("0F0,0I0,0W0\n"), "none");
  EXPECT_EQ(rule("0F0\n0B0\n"), "stage-on-two-ranks: rank 1, cell 1 '0B0': stage 0 is on rank 0, too");
  EXPECT_EQ(rule("0F0,0F0,0B0\n"), "cell-twice: rank 0, cell 2 '0F0': it stands in the row twice");
  EXPECT_EQ(rule("0F0,0W0,0I0\n"), "order: rank 0, cell 2 '0W0': W without its I before it");
  EXPECT_EQ(rule("0F0,0I0,0B0\n"), "backward-mixed: rank 0, cell 3 '0B0': B beside I or W of the same microbatch");
  EXPECT_EQ(rule("0F0,0I0\n"), "cell-missing: stage 0 (rank 0) has no W of microbatch 0");
  EXPECT_EQ(rule("0F0,0B0,1F0\n"), "cell-missing: stage 1 (rank 0) has no B (or I and W) of microbatch 0");
  EXPECT_EQ(rule("1F0,1B0\n"), "cell-missing: stage 0 (on no rank) has no F of microbatch 0");
  EXPECT_EQ(rule("0F0,0B0,0F1,0B1\n1F1,1F0,1B1,1B0\n"),
            "deadlock: no rank can go on: rank 0 waits at cell 2 '0B0'; rank 1 waits at cell 1 '1F1'");
}

TEST(Schedule, TextsThatCannotBeReadAreRejectedWithTheirPlace) {
  const auto message = [](const char* text) {
    try {
      read_csv(text, "t.csv");
    } catch (const poplar::poplar_error& e) { return std::string(e.what()); }
    return std::string("no error");
  };
  using testing::HasSubstr;
  EXPECT_EQ(message("0F0,0Q0"), "t.csv:1: cell 2 '0Q0': expected F, I, W, B or a transfer behind the stage [schedule-text]");
  EXPECT_THAT(message("0F0\n0B0x"), HasSubstr("t.csv:2: cell 1 '0B0x': something stands behind"));
  EXPECT_THAT(message("(0F0;1B0)OVER"), HasSubstr("expected (a;b)OVERLAP_F_B"));
  EXPECT_THAT(message("F0"), HasSubstr("expected a number"));
  EXPECT_THAT(message("0F99999999999"), HasSubstr("expected a number"));
  EXPECT_EQ(write_csv(read_csv("0UNSHARD,0F0,,(0F1;0B0)OVERLAP_F_B,0SEND_F1,0WAIT_SEND_F1\n")),
            "0UNSHARD,0F0,,(0F1;0B0)OVERLAP_F_B,0SEND_F1,0WAIT_SEND_F1\n");
}

TEST(Schedule, ShapesThatDoNotExistAreRejected) {
  EXPECT_THROW(generate("GPipe", {2, 2, 2}), poplar::poplar_error);
  EXPECT_THROW(generate("ZBV", {4, 7, 2}), poplar::poplar_error);
  EXPECT_THROW(generate("Interleaved1F1B", {4, 9, 2}), poplar::poplar_error);
  EXPECT_THROW(generate("nonsense", {1, 1, 1}), poplar::poplar_error);
  EXPECT_THROW(generate("GPipe", {0, 1, 1}), poplar::poplar_error);
  EXPECT_THROW(generate("GPipe", {1 << 20, 1 << 20, 1}), poplar::poplar_error);
}

// Every name at many shapes: valid, and no cell missing. Those that are found by search take their time.
TEST(Schedule, AllNamesAtManyShapes) {
  for (const std::string& name : names()) {
    const bool searched = name.starts_with("V-") || name == "ZB-H2";
    for (int ranks = 1; ranks <= (searched ? 3 : 6); ++ranks) {
      for (const int microbatches : {1, 2 * ranks, 3 * ranks}) {
        for (int stages = 1; stages <= 3; ++stages) {
          Table t;
          try {
            t = generate(name, {ranks, microbatches, stages});
          } catch (const poplar::poplar_error&) { continue; }
          const auto broken = first_broken_rule(t);
          ASSERT_FALSE(broken) << name << " " << ranks << " " << microbatches << " " << stages << ": " << broken->message;
          EXPECT_EQ(t.stages(), ranks * stages);
          EXPECT_EQ(t.microbatches(), microbatches);
        }
      }
    }
  }
}

TEST(Schedule, NamesHaveTheirStages) {
  for (const std::string& name : names()) {
    const std::int32_t stages = stages_per_rank_of(name);
    if (stages == 0) continue;
    EXPECT_EQ(generate(name, {2, 4, stages}).stages(), 2 * stages) << name;
    EXPECT_EQ(is_in_a_v(name), generate(name, {2, 4, stages}).ranks[0].back().stage == 3 || stages == 2) << name;
  }
  EXPECT_THROW(stages_per_rank_of("nonsense"), poplar::poplar_error);
}

// PyTorch's own lowering of two schedules.
TEST(Schedule, LoweredAsPublished) {
  for (const char* name : {"Interleaved1F1B", "ZBVZeroBubble"}) {
    const Table t = without_idle(table_of("torchcomms_" + std::string(name) + "_p2_m4_v2.csv"));
    Table passes = t;
    for (auto& row : passes.ranks) std::erase_if(row, [](const Cell& c) { return !computes(c.action); });
    EXPECT_EQ(write_csv(lower(passes)), write_csv(t)) << name;
    EXPECT_THROW(lower(t), poplar::poplar_error);
    const Table deferred = lower(passes, {.defer_receives = true});
    EXPECT_EQ(write_csv(deferred), write_csv(without_idle(table_of("torchcomms_" + std::string(name) + "_p2_m4_v2_defer.csv")))) << name;
  }
}

// Where nothing is interleaved, any number of microbatches is possible.
TEST(Schedule, ZeroBubbleForAnyMicrobatches) {
  for (std::int32_t ranks : {1, 2, 3, 5}) {
    for (std::int32_t m : {1, 2, 5, 7, 9, 13}) {
      for (const char* name : {"ZB-H1", "ZB-H2"}) {
        const Table t = generate(name, {ranks, m, 1});
        EXPECT_FALSE(first_broken_rule(t)) << name << ranks << " " << m;
        EXPECT_EQ(t.microbatches(), m);
      }
    }
  }
  Problem p;
  p.shape = {4, 9, 1};
  p.memory = {4};
  EXPECT_FALSE(first_broken_rule(synthesise(p)));
}

// Each message has its two ends, each wait its send; a receive stands before the pass that takes it, deferred directly before it or before
// the last send.
TEST(Schedule, LoweredHasAllTransfers) {
  for (const std::string& name : names()) {
    const std::int32_t stages = std::max(1, stages_per_rank_of(name));
    const Table passes = generate(name, {3, 6, stages});
    for (const bool defer : {false, true}) {
      const Table t = lower(passes, {.defer_receives = defer});
      std::map<Action, int> count;
      for (const auto& row : t.ranks) {
        std::set<std::string> before;
        for (std::size_t i = 0; i < row.size(); ++i) {
          const Cell& c = row[i];
          ++count[c.action];
          before.insert(to_string(c));
          if (c.action == Action::wait_send_forward)
            EXPECT_TRUE(before.contains(to_string({c.stage, c.microbatch, Action::send_forward, false})));
          if (c.action == Action::receive_forward)
            EXPECT_FALSE(before.contains(to_string({c.stage, c.microbatch, Action::forward, false})));
          // Or before the send that precedes it.
          const bool pass_next =
              i + 1 < row.size() &&
              (computes(row[i + 1].action) || (row[i + 1].action >= Action::send_forward && row[i + 1].action <= Action::receive_backward));
          if (defer && (c.action == Action::receive_forward || c.action == Action::receive_backward)) EXPECT_TRUE(pass_next);
        }
      }
      EXPECT_EQ(count[Action::send_forward], count[Action::receive_forward]) << name;
      EXPECT_EQ(count[Action::send_forward], count[Action::wait_send_forward]) << name;
      EXPECT_EQ(count[Action::send_backward], count[Action::receive_backward]) << name;
      EXPECT_EQ(count[Action::send_backward], count[Action::wait_send_backward]) << name;
      EXPECT_GE(count[Action::send_forward], 6 * 2) << name;
      EXPECT_EQ(count[Action::unshard], 3 * stages) << name;
      EXPECT_EQ(count[Action::reshard], 3 * stages) << name;
      EXPECT_EQ(lower(passes, {.defer_receives = defer, .shards = false}).cells(), t.cells() - 4 * 3 * stages);
    }
  }
  EXPECT_THROW(lower(read_csv("0F0,0B0,0F1,0B1\n1F1,1F0,1B1,1B0\n")), poplar::poplar_error);
}

// A table may be annealed for less than it is, never for more; the limit holds.
TEST(Schedule, AnnealingKeepsTheRules) {
  Problem p;
  p.shape = {3, 6, 2};
  p.in_a_v = true;
  p.memory = {2};
  p.costs = {{2}, {3}, {1}, 0.5};
  const Table start = generate("V-Half", {3, 6, 2});
  const double span = replay(start, p.costs).span;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Table t = anneal(p, start, 20000, seed);
    ASSERT_FALSE(first_broken_rule(t));
    const Timing timing = replay(t, p.costs);
    EXPECT_LE(timing.span, span);
    for (const double peak : timing.peak) EXPECT_LE(peak, 2);
    EXPECT_EQ(write_csv(t), write_csv(anneal(p, start, 20000, seed)));
  }
}

TEST(Schedule, SynthesisedFromCostsUnderALimit) {
  Problem p;
  p.shape = {4, 12, 1};
  p.costs = {{8, 5, 5, 9}, {8, 5, 5, 9}, {8, 5, 5, 9}, 0.5};
  double last = 1e9;
  for (const double limit : {1.0, 2.0, 4.0, 8.0}) {
    p.memory = {limit};
    const Table t = synthesise(p);
    ASSERT_FALSE(first_broken_rule(t));
    const Timing timing = replay(t, p.costs);
    EXPECT_LE(*std::max_element(timing.peak.begin(), timing.peak.end()), limit);
    EXPECT_LE(timing.span, last);  // more memory never costs time
    last = timing.span;
  }
  EXPECT_GE(last, 12 * 27.0);  // the slowest stage's work
  EXPECT_LE(last, 1.15 * 12 * 27.0);
  p.memory = {0.5};
  EXPECT_THROW(synthesise(p), poplar::poplar_error);
  // A limit for each rank: what one rank may not hold costs time, what others may not use of theirs does not.
  p.costs = {{8}, {5}, {5}, 0};
  const auto peaks = [&](std::vector<double> limits) {
    p.memory = std::move(limits);
    const Table t = synthesise(p);
    EXPECT_FALSE(first_broken_rule(t));
    return replay(t, p.costs);
  };
  const Timing descending = peaks({4, 3, 2, 1}), low = peaks({1, 4, 4, 4}), high = peaks({4});
  for (std::size_t r = 0; r < 4; ++r) EXPECT_LE(descending.peak[r], static_cast<double>(4 - r));
  EXPECT_LE(low.peak[0], 1);
  EXPECT_GT(high.peak[0], 1);
  EXPECT_GE(low.span, 1.5 * high.span);
  EXPECT_LE(high.span, descending.span);
  EXPECT_LT(descending.span, low.span);
  p.memory = {4, 4};
  EXPECT_THROW(synthesise(p), poplar::poplar_error);
  p.memory = {4};
  p.costs.forward = {1, 2};
  EXPECT_THROW(synthesise(p), poplar::poplar_error);
}

// A made schedule is made again from its name.
// What is made under a limit is no worse than what has a name and holds to the limit, whatever passes and transfers cost.
TEST(Schedule, SynthesisedIsNoWorseThanNamed) {
  for (const Costs& costs : {Costs{{18.5}, {18.1}, {9.3}, 0.6}, Costs{{10}, {20}, {5}, 3}}) {
    for (const auto& [name, shape, split, in_a_v] : {std::tuple{"ZB-H1", Shape{8, 24, 1}, true, false},
                                                     {"1F1B", Shape{8, 24, 1}, false, false},
                                                     {"Interleaved1F1B", Shape{4, 12, 2}, false, false},
                                                     {"ZBV", Shape{8, 24, 2}, true, true}}) {
      const Timing named = replay(generate(name, shape), costs);
      Problem p{shape, in_a_v, split, costs, named.peak};
      const Timing made = replay(synthesise(p), costs);
      EXPECT_LE(made.span, named.span) << name;
      for (std::size_t r = 0; r < made.peak.size(); ++r) EXPECT_LE(made.peak[r], named.peak[r] + 1e-9) << name;
    }
  }
}

TEST(Schedule, SynthesisedByName) {
  Problem p;
  p.shape = {3, 6, 1};
  p.memory = {2};
  p.costs = {{0.5, 1, 0.25}, {0, 1, 0.25}, {0.5, 0.5, 0.5}, 0};
  const std::string name = name_of(p);
  EXPECT_EQ(name, "synthesised:2:50-100-25:1-100-25:50");
  EXPECT_TRUE(has_costs(name));
  EXPECT_FALSE(has_costs(synthesised_name(false, 2)));
  const Problem again = problem_of(name, p.shape);
  EXPECT_EQ(again.costs.forward, (std::vector<double>{50, 100, 25}));
  EXPECT_EQ(name_of(again), name);
  EXPECT_EQ(write_csv(generate(name, p.shape)), write_csv(synthesise(again)));
  p.memory = {1e9, 2, 1};
  p.costs.transfer = 0.125;
  EXPECT_EQ(name_of(p), "synthesised:0-2-1:50-100-25:1-100-25:50:13");
  const Problem limited = problem_of(name_of(p), p.shape);
  EXPECT_EQ(limited.memory, p.memory);
  EXPECT_EQ(limited.costs.transfer, 13);
  EXPECT_EQ(name_of(limited), name_of(p));
  const Timing timing = replay(generate(name_of(p), p.shape), limited.costs);
  EXPECT_LE(timing.peak[1], 2);
  EXPECT_LE(timing.peak[2], 1);
  EXPECT_EQ(write_csv(generate("synthesised-v:2", {2, 4, 2})),
            write_csv(generate(name_of(problem_of("synthesised-v:2", {2, 4, 2})), {2, 4, 2})));
  EXPECT_TRUE(is_in_a_v("synthesised-v:2"));
  EXPECT_FALSE(is_in_a_v(name));
  for (const char* wrong : {"synthesised", "synthesised:", "synthesised:x", "synthesised:-1", "synthesised:2:1", "synthesised:2:1-2:1",
                            "synthesised:2:0:1", "synthesised:2:1:1:1:x", "synthesised:2:1:1:1:1:1", "synthesised:2-2",
                            "synthesised:2-2-2-2", "synthesised:2:1:1-", "synthesised:99999999999"}) {
    EXPECT_THROW(generate(wrong, p.shape), poplar::poplar_error) << wrong;
  }
  EXPECT_THROW(generate("synthesised-v:2", {2, 4, 1}), poplar::poplar_error);
  EXPECT_THROW(generate("synthesise:2", p.shape), poplar::poplar_error);
}

TEST(Schedule, CostsThatAreNoTimesAreRejected) {
  const Table table = generate("1F1B", {2, 2, 1});
  const auto rejected = [&](const Costs& costs) {
    try {
      replay(table, costs);
      return std::string();
    } catch (const poplar::poplar_error& e) { return std::string(e.what()); }
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(rejected({{1e308}, {1e308}, {1}, 0}), HasSubstr("add up to more than a number can hold"));
  EXPECT_THAT(rejected({{1}, {1}, {1}, 1e308}), HasSubstr("add up to more than a number can hold"));
  EXPECT_THAT(rejected({{-1}, {1}, {1}, 0}), HasSubstr("F costs -1; a cost is a finite number of 0 or more"));
  EXPECT_THAT(rejected({{1}, {std::nan("")}, {1}, 0}), HasSubstr("I costs nan"));
  EXPECT_THAT(rejected({{1}, {1}, {kNever}, 0}), HasSubstr("W costs inf"));
  EXPECT_THAT(rejected({{1}, {1}, {1}, -1}), HasSubstr("a transfer costs -1"));
  EXPECT_THAT(rejected({{1, 2, 3}, {1}, {1}, 0}), HasSubstr("3 costs of F for 2 stages"));
  EXPECT_EQ(rejected({{1e300}, {1, 2}, {0}, 0}), "");
  Problem p;
  p.shape = {2, 4, 1};
  p.costs.forward = {1e308};
  EXPECT_THROW(synthesise(p), poplar::poplar_error);
  p.costs = {};
  p.costs.transfer = kNever;
  EXPECT_THROW(synthesise(p), poplar::poplar_error);
}

TEST(Schedule, PicturesThatNobodyCouldLookAtAreRejected) {
  const Table table = generate("1F1B", {2, 2, 1});
  EXPECT_THAT(draw_text(table, replay(table), {}), ::testing::HasSubstr("rank 1"));
  for (double columns : {std::nan(""), 0.0, -1.0, 1e6, kNever}) {
    EXPECT_THROW(draw_text(table, replay(table), {}, columns), poplar::poplar_error) << columns;
  }
  const Costs slow{{1e12}, {1}, {1}, 0};
  EXPECT_THROW(draw_text(table, replay(table, slow), slow), poplar::poplar_error);
}

}  // namespace
}  // namespace pando::schedule
