#include "profile/file/container.h"
#include "base/testing/places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <fstream>
#include <random>
#include <sstream>
#include <tuple>
#include <utility>

#include "poplar/exceptions.hpp"
#include "profile/example_report.h"
#include "profile/export.h"
#include "profile/question.h"

namespace pando::profile {
namespace {

using ::testing::HasSubstr;

std::string bytes_of(const Report& r) {
  std::ostringstream out;
  write_report(r, out);
  return out.str();
}

std::string error_of(std::string bytes) {
  try {
    read_report(std::move(bytes));
  } catch (const poplar::parse_error& e) { return e.what(); }
  return {};
}

TEST(ReportFile, ReadsWhatWasWritten) {
  const std::string bytes = bytes_of(example_report());
  Container::parse(bytes).check();
  const Report r = read_report(bytes);
  EXPECT_EQ(r.writer, "a test");
  EXPECT_EQ(bytes_of(r), bytes);
  EXPECT_EQ(r.steps[1].slowest_codelet, "Add");
  EXPECT_EQ(r.steps[1].tile_balance, 0.73);
  EXPECT_EQ(r.traces[0], example_report().traces[0]);
  EXPECT_EQ(r.placements[3].offset, 128u);
  EXPECT_EQ(r.live_sets, example_report().live_sets);
  ASSERT_EQ(r.largest.size(), 2u);
  EXPECT_EQ(r.largest[0].name, "x");
}

TEST(ReportFile, AnEmptyReportIsOne) {
  const std::string bytes = bytes_of({});
  EXPECT_EQ(bytes_of(read_report(bytes)), bytes);
}

TEST(ReportFile, OfVersion3) {
  std::ostringstream out;
  write_json(example_report(), out);
  const Report r = read_report(out.str());
  EXPECT_EQ(r.total_cycles, 1500u);
  EXPECT_EQ(r.steps.size(), 2u);
}

TEST(ReportFile, SaysWhatIsWrong) {
  const std::string good = bytes_of(example_report());
  EXPECT_THAT(error_of("hello"), HasSubstr("not a report of Pando"));
  EXPECT_THAT(error_of(""), HasSubstr("not a report of Pando: the file is empty"));
  EXPECT_THAT(error_of(good.substr(0, 20)), HasSubstr("cut off"));
  EXPECT_THAT(error_of(good.substr(0, good.size() - 1)), HasSubstr("cut off after"));
  std::string newer = good;
  newer[8] = 9;
  EXPECT_THAT(error_of(newer), HasSubstr("version 9, this Pando reads version 4"));
  std::string flipped = good;
  flipped[40] ^= 1;
  EXPECT_THAT(error_of(flipped), HasSubstr("checksum"));
}

// Of any byte: the error that is documented, or the report that was written.
TEST(ReportFile, BitFlipsAndCuts) {
  const std::string good = bytes_of(example_report());
  for (std::size_t i = 0; i < good.size(); i += 29) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
    EXPECT_NE(error_of(bad), "") << "byte " << i;
    if (i % 2 == 0) { EXPECT_NE(error_of(good.substr(0, i)), "") << "the first " << i << " bytes"; }
  }
}

// Files that an earlier build wrote keep opening.
TEST(ReportFile, Samples) {
  for (const char* name : {"hello", "loop", "out_of_memory"}) {
    std::ifstream in(source_path("tests/data/report/") + name + ".pando", std::ios::binary);
    const Report r = read_report({std::istreambuf_iterator<char>(in), {}});
    EXPECT_EQ(r.target.tiles, 1472u) << name;
    EXPECT_EQ(r.executed, r.out_of_memory.empty()) << name;
    EXPECT_FALSE(r.residents.empty()) << name;
  }
}

TEST(Container, LongTablesAreReadInPieces) {
  std::ostringstream out;
  ContainerWriter writer(out, "a test");
  constexpr std::uint64_t kRows = 3 * kChunkRows + 17;
  for (std::uint64_t i = 0; i < kRows; ++i)
    writer.table("runs").add({i % 3, i * 1'000'000'007, i * 1'000'000'007 + 5, i % 2 ? kLargestNumber : 0, 0});
  writer.finish();
  const Container c = Container::parse(out.str());
  EXPECT_EQ(c.rows("runs"), kRows);
  for (const std::uint64_t begin : {std::uint64_t{0}, std::uint64_t{kChunkRows - 2}, std::uint64_t{2 * kChunkRows}, kRows - 3}) {
    const std::vector<std::uint64_t> ends = c.slice("runs", "end", begin, begin + 3), ns = c.slice("runs", "host_ns", begin, begin + 3);
    for (std::uint64_t i = 0; i < 3; ++i) {
      EXPECT_EQ(ends[i], (begin + i) * 1'000'000'007 + 5);
      EXPECT_EQ(ns[i], (begin + i) % 2 ? kLargestNumber : 0);
    }
  }
  EXPECT_EQ(c.column("runs", "begin").back(), (kRows - 1) * 1'000'000'007);
  EXPECT_THROW(c.slice("runs", "end", kRows, kRows + 1), poplar::parse_error);
  EXPECT_TRUE(c.column("blocks", "name").empty());
}

// Of more steps than are kept in memory: what is read a block at a time is what was written.
TEST(ReportFile, VeryManyStepsAreReadWhenTheyAreAskedFor) {
  Report r = example_report();
  const StepCycles first = r.steps[0], second = r.steps[1];
  constexpr std::size_t kSteps = kMostRowsKept + 17;
  r.steps.clear();
  for (std::size_t i = 0; i < kSteps; ++i) {
    StepCycles s = i % 2 ? second : first;
    s.name = "layer" + std::to_string(i % 1000);
    s.cycles.compute = s.cycles.compute > 0 ? (i * 7919) % 100'003 : 0;
    s.order = static_cast<std::uint32_t>(i);
    r.steps.push_back(s);
  }
  r.program.clear(), r.liveness[0].steps.clear();
  for (std::uint32_t order = 0; order < kSteps; ++order) {
    r.program.push_back({order, "part" + std::to_string(order % 1000), order % 2 ? "compute" : "exchange", order % 5 ? 1u : 0u, 0, 0, 1});
    if (order % 100'000 == 7) r.program.back().other_sources = {1};
    r.liveness[0].steps.push_back({order, "part" + std::to_string(order % 1000), (order * 7919ull) % 100'003, 300 + order % 17, order % 4});
  }
  r.program[0].inside = 0;
  const std::string bytes = bytes_of(r);
  const Report back = read_report(bytes);
  ASSERT_EQ(back.steps.size(), kSteps);
  std::size_t i = 0;
  for (const StepCycles& s : back.steps) {
    const StepCycles& was = std::as_const(r).steps[i++];
    ASSERT_EQ(std::tie(s.stream, s.name, s.kind, s.cycles, s.order, s.slowest_codelet, s.tile_balance, s.profile),
              std::tie(was.stream, was.name, was.kind, was.cycles, was.order, was.slowest_codelet, was.tile_balance, was.profile));
  }
  EXPECT_EQ(i, kSteps);
  // Here and there, further apart than what is kept.
  for (const std::size_t at : {std::size_t{0}, kSteps - 1, Steps::kBlock, 3 * Steps::kBlock - 1, kSteps / 2, std::size_t{1}})
    EXPECT_EQ(back.steps[at].order, at);
  i = 0;
  for (const ProgramStep& s : back.program) {
    const ProgramStep& was = std::as_const(r).program[i++];
    ASSERT_EQ(std::tie(s.order, s.name, s.kind, s.inside, s.other_sources),
              std::tie(was.order, was.name, was.kind, was.inside, was.other_sources));
  }
  EXPECT_EQ(i, kSteps);
  for (const char* question : {"slowest_steps", "imbalance", "operations=1", "summary", "codelets", "program", "live", "live=200000",
                               "exchanges", "why_not_fit", "worst_tiles", "advice"})
    EXPECT_EQ(ask(back, question, 5), ask(r, question, 5)) << question;
  r.largest = back.largest;  // follows from the residents
  std::ostringstream mine, theirs;
  print_summary(r, {}, mine);
  print_summary(back, {}, theirs);
  EXPECT_EQ(mine.str(), theirs.str());
  std::ostringstream a, b;
  export_report(r, "speedscope", {}, a);
  export_report(back, "speedscope", {}, b);
  EXPECT_TRUE(a.str() == b.str());
  a.str(""), b.str("");
  write_json(r, a);
  write_json(back, b);
  EXPECT_TRUE(a.str() == b.str());
  Report changed = back;
  changed.steps[kSteps - 1].name = "another";
  EXPECT_EQ(changed.steps.size(), kSteps);
  EXPECT_EQ(std::as_const(changed).steps[kSteps - 1].name, "another");
  EXPECT_EQ(back.steps[kSteps - 1].order, kSteps - 1);
}

// A file gets a prediction without being read or written again; what it was is what it stays.
TEST(ReportFile, APredictionIsPutIntoAFile) {
  const std::string before = bytes_of(example_report());
  DevicePlan predicted{.title = "predicted for a test", .machine = "ipu2"};
  predicted.seconds = 3;
  std::string after = with_prediction(before, predicted);
  Report expected = example_report();
  expected.predicted = predicted;
  EXPECT_EQ(bytes_of(read_report(after)), bytes_of(expected));
  EXPECT_EQ(with_prediction(after, predicted), after) << "the old one makes room";
  predicted.seconds = 4;
  EXPECT_EQ(read_report(with_prediction(after, predicted)).predicted.seconds, 4);
  EXPECT_EQ(with_prediction(bytes_of(expected), predicted).size() > before.size(), true);
  std::ostringstream old;
  write_json(example_report(), old);
  EXPECT_EQ(read_report(with_prediction(old.str(), predicted)).predicted.title, "predicted for a test");
  for (const std::size_t cut : {std::size_t{0}, std::size_t{5}, before.size() / 2, before.size() - 1})
    EXPECT_THROW(with_prediction(before.substr(0, cut), predicted), poplar::parse_error) << cut;
  after[after.size() - 30] ^= 1;
  EXPECT_THROW(with_prediction(after, predicted), poplar::parse_error);
}

TEST(Schema, IsWhatTheDocumentationSays) {
  std::ifstream in(source_path("docs/level/report.md"));
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  EXPECT_THAT(page, HasSubstr(schema_markdown())) << "pando report --schema prints the tables";
  for (const DocumentSpec& d : document_specs()) EXPECT_THAT(page, HasSubstr("| `" + std::string(d.name) + "` |"));
}

}  // namespace
}  // namespace pando::profile
