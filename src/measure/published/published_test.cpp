#include "measure/published/published.h"
#include "base/testing/places.h"

#include "measure/published/sets.h"
#include "search/shapes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <map>

namespace pando::measure {
namespace {

// The row that says the same of a schedule, with less behind it.
const PublishedRow& row_of(const PublishedSet& set, const std::string& what) {
  return *std::find_if(set.rows.begin(), set.rows.end(), [&](const PublishedRow& r) { return what.starts_with(r.what); });
}

TEST(Published, MeasurementsBesidePredictions) {
  const auto sets = compare_published(source_path("tests/data/distribution"));
  std::map<std::string, const PublishedSet*> by_name;
  for (const PublishedSet& s : sets) by_name[s.name] = &s;
  ASSERT_EQ(by_name.size(), 26u);
  // Nothing is fitted to these: what comes is shown, not aimed at.
  EXPECT_LE(by_name["llmfoundry_a100_80gb"]->mean_error(), 0.08);
  EXPECT_LE(by_name["internevo_a100"]->mean_error(), 0.1);
  EXPECT_LE(by_name["bigscience_a100"]->mean_error(), 0.09);
  EXPECT_LE(by_name["vocabpar_stage_times"]->mean_error(), 0.02);
  EXPECT_GE(by_name["internevo_a100"]->pairs_right, 0.95);
  EXPECT_LE(by_name["zb_iclr24"]->mean_error(), 0.03);
  EXPECT_LE(by_name["zbv_arxiv"]->mean_error(), 0.03);
  const double right =
      by_name["zb_iclr24"]->pairs_right * by_name["zb_iclr24"]->pairs + by_name["zbv_arxiv"]->pairs_right * by_name["zbv_arxiv"]->pairs;
  EXPECT_GE(right, 0.95 * (by_name["zb_iclr24"]->pairs + by_name["zbv_arxiv"]->pairs));
  const PublishedSet& sync = *by_name["zb_optimizer_sync"];
  ASSERT_EQ(sync.rows.size(), 4u);
  EXPECT_LE(sync.worst_error(), 0.04);
  EXPECT_EQ(sync.pairs_right, 1);
  for (std::size_t i = 0; i < 4; i += 2) {
    EXPECT_LT(sync.rows[i + 1].predicted, 0.96 * sync.rows[i].predicted) << sync.rows[i].what;
    EXPECT_EQ(sync.rows[i].predicted, row_of(*by_name["zb_iclr24"], sync.rows[i].what).predicted);
  }
  ASSERT_EQ(by_name["zb_small_m"]->rows.size(), 6u);
  EXPECT_LE(by_name["zb_small_m"]->worst_error(), 0.05);
  EXPECT_EQ(by_name["zb_small_m"]->pairs_right, 1);
  EXPECT_LE(by_name["selene_steps"]->mean_error(), 0.0365);
  EXPECT_LE(by_name["selene_memory"]->mean_error(), 0.005);
  EXPECT_LE(by_name["b200_steps"]->mean_error(), 0.047);
  EXPECT_LE(by_name["b200_steps memory"]->mean_error(), 0.01);
  EXPECT_LE(by_name["torchtitan_h100"]->mean_error(), 0.065);
  EXPECT_LE(by_name["torchtitan_a100"]->mean_error(), 0.06);
  for (const char* gpu : {"h100", "h200"}) {
    for (const char* software : {"eager", "compiled"}) {
      const std::string name = fmt::format("{}_steps_{}", gpu, software);
      ASSERT_TRUE(by_name.contains(name) && by_name.contains(name + " memory")) << name;
      EXPECT_LE(by_name[name]->mean_error(), 0.05) << name;
      EXPECT_LE(by_name[name]->worst_error(), 0.1) << name;
      EXPECT_LE(by_name[name + " memory"]->mean_error(), 0.09) << name;
    }
  }
  EXPECT_LE(by_name["torchtitan_h100 memory"]->mean_error(), 0.065);
  const std::string text = to_markdown(sets, true);
  EXPECT_THAT(text, testing::HasSubstr("| selene_steps | 8 | 8 |"));
}

// The machine has the rows of the published table; what is compared is what the command computes.
TEST(Published, MeasuredShapesAreTheMachines) {
  const auto& b200 = simulate::cluster_named("b200");
  ASSERT_NE(search::measured_shapes_of(b200), nullptr);
  EXPECT_EQ(*search::measured_shapes_of(b200),
            read_measured_shapes(simulate::Csv::read_file(source_path("tests/data/distribution/b200_op_efficiency.csv"))));
  EXPECT_EQ(search::measured_shapes_of(simulate::cluster_named("selene")), nullptr);
}

}  // namespace
}  // namespace pando::measure
