// Predictions in reports of runs.
#include "simulate/observed/prediction.h"

#include <gmock/gmock.h>
#include <poplar/exceptions.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "ir/text/parse.h"
#include "profile/question.h"
#include "profile/report.h"

namespace pando::simulate {
namespace {

constexpr const char* kTwoProducts = R"(module
graph main(x: Tensor[(64, 32), float32, 0], w: Tensor[(32, 32), float32, 0]):
    y: Tensor[(64, 32), float32, 0] = matmul(x, w)
    z: Tensor[(64, 32), float32, 0] = matmul(y, w)
    r: Tensor[(64, 32), float32, 0] = relu(z)
    return r
)";

TEST(Prediction, IsAStepByTheFormulasOfTheMachine) {
  const profile::DevicePlan p = prediction(ir::parse(kTwoProducts), "ipu2", 64);
  EXPECT_EQ(p.title, "predicted for ipu2:64");
  ASSERT_EQ(p.devices.size(), 1u);
  ASSERT_EQ(p.events.size(), 3u);
  EXPECT_EQ(p.names, (std::vector<std::string>{"matmul", "relu"}));
  double sum = 0;
  for (const profile::PlanEvent& e : p.events) {
    EXPECT_DOUBLE_EQ(e.begin, sum);
    sum += e.seconds;
  }
  EXPECT_DOUBLE_EQ(p.seconds, sum);
  EXPECT_GT(prediction(ir::parse(kTwoProducts), "ipu2", 4).seconds, p.seconds) << "fewer tiles take longer";
  const profile::DevicePlan none = prediction(ir::parse(kTwoProducts), "toaster", 0);
  EXPECT_TRUE(none.devices.empty());
  EXPECT_THAT(none.text, ::testing::HasSubstr("'toaster' is not a machine with tiles"));
}

TEST(Prediction, StandsInAReportBesideTheClocks) {
  const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) / "predicted.pando";
  const auto question = [&] {
    std::ifstream in(file, std::ios::binary);
    return profile::ask(profile::read_report({std::istreambuf_iterator<char>(in), {}}), "clocks", 10);
  };
  profile::Report report;
  report.writer = "a test";
  report.target = {.name = "ipu2", .ipus = 1, .tiles_per_ipu = 64, .tiles = 64, .workers = 6, .clock_hz = 1e9};
  report.executed = true;
  // Variables come to the device; then the program runs twice.
  report.run_times = {{1, 0, 500, 70'000}, {0, 500, 2500, 4'000'000}, {0, 2500, 4500, 3'000'000}};
  {
    std::ofstream out(file, std::ios::binary);
    profile::write_report(report, out);
  }
  EXPECT_THAT(question()["no_prediction"].get<std::string>(), ::testing::HasSubstr("programs at the model level"));
  const profile::DevicePlan p = prediction(ir::parse(kTwoProducts), "ipu2", 64);
  for (int again = 0; again < 2; ++again) add_prediction(file.string(), p);
  const profile::Json rows = question()["rows"];
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["clock"], "predicted");
  EXPECT_DOUBLE_EQ(rows[0]["us"], p.seconds * 1e6);
  EXPECT_EQ(rows[1]["clock"], "modelled");
  EXPECT_DOUBLE_EQ(rows[1]["us"], 2);
  EXPECT_EQ(rows[1]["of"], "run 3, of program 0");
  EXPECT_DOUBLE_EQ(rows[2]["us"], 3000);
  add_prediction(file.string(), prediction(ir::parse(kTwoProducts), "toaster", 0));
  EXPECT_THAT(question()["no_prediction"].get<std::string>(), ::testing::HasSubstr("toaster"));
  std::ofstream(file) << "no report";
  try {
    add_prediction(file.string(), p);
    ADD_FAILURE() << "that was no report";
  } catch (const poplar::parse_error& e) {
    EXPECT_THAT(e.what(), ::testing::AllOf(::testing::HasSubstr(file.string()), ::testing::HasSubstr("not a report of Pando")));
  }
  std::filesystem::remove(file);
  EXPECT_THROW(add_prediction(file.string(), p), poplar::file_load_error);
}

}  // namespace
}  // namespace pando::simulate
