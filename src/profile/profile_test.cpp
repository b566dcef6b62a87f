#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <sstream>

#include "base/testing/golden.h"
#include "poplar/exceptions.hpp"
#include "profile/report.h"
#include "profile/text.h"

namespace pando::profile {
namespace {

// Two streams on one IPU of 16 tiles; every section of the summary has something to say.
Report sample_report() {
  Report r;
  r.target = {"ipu2", 1, 16, 16, 6, 1, 624 * 1024, 1.33e9};
  r.graph = {12, 96, 4, 300, 1};
  r.categories = {{"variable", false, 0}, {"vertex_code", true, 0}, {"exchange_buffer", false, 0}};
  for (std::uint64_t t = 0; t < 16; ++t) {
    TileMemory tile{0, 0, {4096 + 700 * t, 900, t % 3 * 512}};
    for (std::size_t c = 0; c < 3; ++c) tile.used += tile.by_category[c], r.categories[c].bytes += tile.by_category[c];
    tile.with_gaps = tile.used + 64 + 8 * t;
    r.tiles.push_back(tile);
  }
  r.liveness = {{"ipu0.compute", 60'000, {}}, {"ipu0.io", 0, {}}};
  for (std::uint32_t i = 0; i < 40; ++i)
    r.liveness[0].steps.push_back({2 * i, "train/layer" + std::to_string(i / 10), 1000 * (i < 20 ? i : 40 - i) * (i % 10), 9000 + 10 * i});
  r.liveness[1].steps = {{1, "batch", 512, 512}, {79, "", 0, 0}};
  r.largest = {{"weights/layer0/a_name_that_is_a_good_deal_longer_than_its_column", "variable", 70'000, 16},
               {"", "exchange_buffer", 512, 1}};
  r.program = {{0, "steps", "loop", 0}, {0, "train/forward", "compute", 1}, {2, "train/halo", "exchange", 1}, {4, "batch", "host", 0}};
  r.compute_sets = {{"train/forward", {{"popops::Fill<float>", {0, 12, 6, 12, 16, 3}}, {"Unknown", {3, 4, 1}}}}};
  r.variables = {{"weights", "variable", 70'000, {}}, {"sum", "variable", 0, {0, 2, 512, 4, 5, 512}}};
  r.executed = true;
  r.runs = 2;
  Cycles compute{.compute = 1'000'000, .exchange = 20'500, .local_copy = 3000, .sync = 1800, .host = 60'000, .wait = 114'700};
  Cycles io{.sync = 1800, .host = 1'100'000, .wait = 98'200};
  r.total_cycles = 1'200'000;
  r.blocks = {{"stage", 0, false, 10, 500}, {"in", 1, true, 0, 90}};
  r.block_streams = {{"ipu0.compute", 0, false, {0, 14}}, {"ipu0.io", 0, true, {14, 16}}};
  r.streams = {{"ipu0.compute", compute, compute.total()}, {"ipu0.io", io, io.total()}};
  r.steps = {{"ipu0.compute", "train/forward", "compute", 100, {.compute = 900'000}, 9600, 0, 0, 0.93},
             {"ipu0.compute", "train/halo", "exchange", 100, {.exchange = 20'500, .local_copy = 3000, .sync = 1800}, 0, 0, 819'200, 0},
             {"ipu0.compute", "train/user", "compute", 100, {.compute = 100'000}, 600, 200, 0, 0.25},
             {"ipu0.io", "batch", "host", 100, {.sync = 1800, .host = 1'100'000, .wait = 98'200}, 0, 0, 0, 0}};
  r.steps[0].order = 0, r.steps[1].order = 2, r.steps[3].order = 4;
  r.steps[0].tile_cycles = {0, 14, 900'000, 14, 16, 700'000};
  r.codelets = {{"MyReduce<float>", 400, 77'000, false}, {"popops::Fill<float>", 9600, 5'000'000, true}, {"Unknown", 200, 0, false}};
  return r;
}

std::string summary(const Report& r, const SummaryOptions& options = {}) {
  std::ostringstream out;
  print_summary(r, options, out);
  return out.str();
}

std::string json(const Report& r) {
  std::ostringstream out;
  write_json(r, out);
  return out.str();
}

Report parse(const std::string& text) {
  std::istringstream in(text);
  return read_json(in);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Summary, Golden) {
  expect_golden("profile/summary.txt", summary(sample_report()));
  expect_golden("profile/summary_full.txt",
                summary(sample_report(), {.execution_steps = true, .var_storage = true, .per_ipu_memory = true}));
}

TEST(Summary, FitsIn100Columns) {
  Report r = sample_report();
  r.liveness[0].stream = r.steps[0].stream = r.streams[0].stream = std::string(150, 's');
  for (StepCycles& s : r.steps) s.name = std::string(200, 'n'), s.kind = std::string(50, 'k');
  for (CodeletCycles& c : r.codelets) c.codelet = std::string(200, 'c');
  for (LargestVariable& v : r.largest) v.name = v.category = std::string(200, 'v');
  for (LiveStep& s : r.liveness[0].steps) s.name = std::string(200, 'l');
  r.categories[0].category = std::string(90, 'g');
  r.tiles[3].by_category[0] = 1ull << 60;
  r.steps[0].cycles.compute = 1ull << 40;
  r.streams[0].cycles.compute = 1ull << 40;
  for (const std::string& line : lines_of(summary(r, {true, true, true}))) EXPECT_LE(display_width(line), 100u) << line;
}

TEST(Summary, SaysWhatIsOver) {
  Report r = sample_report();
  r.tiles[5].with_gaps = 700 * 1024;
  r.out_of_memory = "tile 5 needs 700 KiB";
  std::string text = summary(r);
  EXPECT_THAT(text, testing::HasSubstr("Tiles over memory:   1: 5\n"));
  EXPECT_THAT(text, testing::HasSubstr("OUT OF MEMORY:       tile 5 needs 700 KiB\n"));
  EXPECT_THAT(summary(sample_report()), testing::HasSubstr("Tiles over memory:   none\n"));
}

TEST(Summary, UnestimatedVerticesAreSaid) {
  EXPECT_THAT(summary(sample_report()), testing::HasSubstr("200 of 10,200 executed vertices have no estimate"));
  Report r = sample_report();
  r.steps[2].unestimated_vertices = 0;
  EXPECT_THAT(summary(r), testing::Not(testing::HasSubstr("have no estimate")));
}

TEST(Summary, EmptyReport) {
  std::string text = summary(Report());
  EXPECT_THAT(text, testing::HasSubstr("unbounded"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("Execution")));
}

TEST(Text, Numbers) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(1234567), "1,234,567");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1024), "1.0 KiB");
  EXPECT_EQ(bytes_text(624 * 1024), "624.0 KiB");
  EXPECT_EQ(bytes_text(1048575), "1.0 MiB");
  EXPECT_EQ(short_count_text(99'999), "99,999");
  EXPECT_EQ(short_count_text(1'234'567), "1.23 M");
  EXPECT_EQ(short_count_text(999'999), "1.00 M");
  for (std::uint64_t n = 1; n < 1ull << 63; n = n * 3 + 1) EXPECT_LE(display_width(short_count_text(n)), 6u) << n;
  EXPECT_EQ(time_text(9.28e-6), "9.28 us");
}

TEST(Text, CutsInTheMiddleByCharacters) {
  EXPECT_EQ(cut("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(cut("abcdefghijk", 5), "ab…jk");
  EXPECT_EQ(cut("äöüßäöüß", 5), "äö…üß");
  EXPECT_EQ(left("ä", 3), "ä  ");
  EXPECT_EQ(right("ä", 3), "  ä");
}

TEST(Text, Bars) {
  EXPECT_EQ(bar(1, 3), "███");
  EXPECT_EQ(bar(0.5, 3), "█▌");
  EXPECT_EQ(bar(0, 3), "");
  EXPECT_EQ(bar(1e-9, 3), "▏");  // something is not nothing
  EXPECT_EQ(bar(7, 3), "███");
}

// Law: bins cover all values, each once, with no bin outside the values at either end.
// Values that a short text does not tell apart.
TEST(Texts, EdgesOfANarrowHistogramDiffer) {
  const auto lines = [](const std::vector<std::uint64_t>& values, Unit unit) {
    std::ostringstream out;
    print_histogram(values, unit, out);
    return out.str();
  };
  std::vector<std::uint64_t> narrow;
  for (std::uint64_t i = 0; i < 40; ++i) narrow.push_back(2'000'000 + i);
  EXPECT_EQ(lines(narrow, Unit::bytes).find("MiB"), std::string::npos);
  EXPECT_NE(lines(narrow, Unit::bytes).find("2,000,000 ≤ bytes < 2,000,004"), std::string::npos) << lines(narrow, Unit::bytes);
  EXPECT_NE(lines({0, 12 * 1024}, Unit::bytes).find("KiB"), std::string::npos);
}

TEST(Text, BinsHoldEveryValueOnce) {
  std::uint64_t seed = 1;
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint64_t> values;
    for (int i = 0; i < 50; ++i) values.push_back((seed = seed * 6364136223846793005ull + 1442695040888963407ull) >> (20 + round % 40));
    for (Unit unit : {Unit::bytes, Unit::cycles}) {
      Bins bins = bins_of(values, 12, unit);
      std::uint64_t sum = 0;
      for (std::uint64_t c : bins.counts) sum += c;
      EXPECT_EQ(sum, values.size());
      EXPECT_LE(bins.counts.size(), 12u);
      EXPECT_GT(bins.counts.front(), 0u);
      EXPECT_GT(bins.counts.back(), 0u);
    }
  }
}

TEST(Text, AreaChart) {
  std::ostringstream out;
  print_area_chart({.values = {0, 1024, 2048, 1024}, .floor = 1024, .width = 4, .height = 3}, out);
  EXPECT_EQ(out.str(),
            "       3.0 KiB ┤  █\n"
            "               ┤ ███\n"
            "           0 B ┤░░░░\n");
}

TEST(Json, RoundTrip) {
  Report r = sample_report();
  r.out_of_memory = "\"quoted\"\n\xff";  // not UTF-8: replaced, not thrown
  Report back = parse(json(r));
  EXPECT_EQ(json(back), json(r));
  EXPECT_EQ(summary(back), summary(parse(json(back))));
  EXPECT_EQ(back.tiles[15].by_category, r.tiles[15].by_category);
  EXPECT_EQ(back.steps[3].cycles, r.steps[3].cycles);
  EXPECT_EQ(back.total_cycles, r.total_cycles);
  EXPECT_EQ(json(parse(json(Report()))), json(Report()));
}

std::string error_of(const std::string& text) {
  try {
    parse(text);
  } catch (const poplar::parse_error& e) { return e.what(); }
  return "no error";
}

TEST(Json, MalformedIsRejectedAndNamed) {
  using testing::HasSubstr;
  EXPECT_THAT(error_of(""), HasSubstr("report-not-json"));
  EXPECT_THAT(error_of("{\"format\":"), HasSubstr("report-not-json"));
  EXPECT_THAT(error_of("[1]"), HasSubstr("report-foreign"));
  EXPECT_THAT(error_of("{\"format\":\"other\"}"), HasSubstr("report-foreign"));
  std::string good = json(sample_report());
  auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  EXPECT_THAT(error_of(good.substr(0, good.size() / 2)), HasSubstr("report-not-json"));
  EXPECT_THAT(error_of(with("\"version\":3", "\"version\":2")), HasSubstr("version 2, this reader knows version 3"));
  EXPECT_THAT(error_of(with("\"workers\"", "\"wrokers\"")), HasSubstr("'target.workers' is missing"));
  EXPECT_THAT(error_of(with("\"workers\":6", "\"workers\":\"6\"")),
              HasSubstr("target.workers: expected a whole number that is not negative, found string"));
  EXPECT_THAT(error_of(with("\"workers\":6", "\"workers\":-6")), HasSubstr("target.workers"));
  EXPECT_THAT(error_of(with("\"workers\":6", "\"workers\":4294967296")), HasSubstr("report-number-too-big"));
  EXPECT_THAT(error_of(with("\"executed\":true", "\"executed\":1")), HasSubstr("executed: expected true or false"));
  EXPECT_THAT(error_of(with("\"order\":2,", "\"order\":null,")), HasSubstr("liveness[0].steps[1].order"));
  EXPECT_THAT(error_of(with("\"by_category\":[4096,900,0]", "\"by_category\":[4096]")), HasSubstr("tiles[0].by_category has 1 numbers"));
  EXPECT_THAT(error_of(with("\"stream\":1,\"stream_copy\":true", "\"stream\":2,\"stream_copy\":true")), HasSubstr("blocks[1].stream is 2"));
  EXPECT_THAT(error_of(with("\"kind\":\"loop\",\"inside\":0", "\"kind\":\"loop\",\"inside\":1")), HasSubstr("program[0].inside is 1"));
  EXPECT_THAT(error_of(with("\"order\":4,\"name\":\"batch\"", "\"order\":1,\"name\":\"batch\"")), HasSubstr("program[3].order is 1"));
  EXPECT_THAT(error_of(with("[0,12,6,12,16,3]", "[0,12,6,12]")), HasSubstr("compute_sets[0].codelets[0].tiles has 4 numbers"));
  EXPECT_THAT(error_of(with("[0,2,512,4,5,512]", "[0,2]")), HasSubstr("variables[1].live has 2 numbers"));
  EXPECT_THAT(error_of(with("[0,14,900000,14,16,700000]", "[0,17,900000]")), HasSubstr("tiles 0 to 17, there are 16"));
}

// Every tag is closed in order and nothing of a name reaches the markup.
void expect_well_formed(const std::string& svg) {
  std::vector<std::string> open;
  for (std::size_t at = svg.find('<'); at != std::string::npos; at = svg.find('<', at + 1)) {
    std::size_t end = svg.find('>', at);
    ASSERT_NE(end, std::string::npos);
    std::string tag = svg.substr(at + 1, end - at - 1);
    ASSERT_EQ(tag.find('<'), std::string::npos) << tag;
    if (tag[0] == '/') {
      ASSERT_FALSE(open.empty());
      ASSERT_EQ(open.back(), tag.substr(1));
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
  }
  EXPECT_TRUE(open.empty());
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

std::string svg_of(const Report& r) {
  std::ostringstream out;
  write_svg(r, out);
  return out.str();
}

TEST(Svg, DrawsEveryPart) {
  Report r = sample_report();
  r.steps[0].name = "a<b> & \"c\"\x01";
  std::string svg = svg_of(r);
  expect_well_formed(svg);
  EXPECT_THAT(svg, testing::HasSubstr("a&lt;b&gt; &amp; &quot;c&quot; "));
  for (const char* part :
       {"Memory by tile", "ipu0.compute: 40 steps", "ipu0.io: 2 steps", "Cycles by step", "200 unestimated", "tile 15: variable"})
    EXPECT_THAT(svg, testing::HasSubstr(part));
  EXPECT_EQ(svg_of(parse(json(sample_report()))), svg_of(sample_report()));
}

TEST(Svg, EmptyOrHugeReports) {
  expect_well_formed(svg_of(Report()));
  Report r = sample_report();
  r.tiles.assign(47'104, r.tiles[3]);
  for (int i = 0; i < 40; ++i) r.liveness.push_back({"ipu", 0, {}}), r.steps.push_back(r.steps[1]);
  r.out_of_memory = "tile 3";
  r.target.bytes_per_tile = 5000;
  std::string svg = svg_of(r);
  expect_well_formed(svg);
  EXPECT_LT(svg.size(), 400'000u);
  EXPECT_THAT(svg, testing::HasSubstr(">limit<"));
  EXPECT_THAT(svg, testing::HasSubstr("and 34 more streams"));
}

TEST(ChromeTrace, OneRowPerStream) {
  std::ostringstream out;
  write_chrome_trace(
      {{"ipu0.compute", "a", "compute", 0, 10}, {"ipu0.io", "", "host", 0, 25}, {"ipu0.compute", "b \"x\"", "exchange", 10, 12}}, out);
  auto trace = nlohmann::json::parse(out.str());
  std::vector<std::string> rows;
  std::uint64_t busy = 0;
  for (const auto& e : trace["traceEvents"]) {
    if (e["ph"] == "M") rows.push_back(e["args"]["name"]);
    if (e["ph"] == "X" && e["tid"] == 0) busy += e["dur"].get<std::uint64_t>();
  }
  EXPECT_THAT(rows, testing::ElementsAre("ipu0.compute", "ipu0.io"));
  EXPECT_EQ(busy, 12u);
  EXPECT_EQ(trace["traceEvents"][4]["name"], "b \"x\"");
  std::ostringstream empty;
  write_chrome_trace({}, empty);
  EXPECT_TRUE(nlohmann::json::parse(empty.str())["traceEvents"].empty());
}

}  // namespace
}  // namespace pando::profile
