#include "cycles/validation.h"
#include "base/testing/places.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pando::cycles {
namespace {

std::vector<AmpPoint> amp_points() { return read_amp_points(source_path("tests/data/ipu/bow_amp_f16_matmul_Nx16x16.csv")); }

void expect_within(const std::vector<Validation>& rows) {
  for (const Validation& v : rows) {
    const bool is_listed = std::count(rows_not_met().begin(), rows_not_met().end(), v.check) > 0;
    EXPECT_NE(v.is_met(), is_listed) << v.check << ": predicted " << v.predicted << ", measured " << v.measured_low << ".."
                                     << v.measured_high;
    EXPECT_LE(v.tolerance, kMostTolerance) << v.check;
    EXPECT_GT(v.tolerance, 0) << v.check;
  }
}

TEST(Validation, AmpConstantIsTheFitOnSmallSizes) {
  double sum = 0;
  int n = 0;
  for (const AmpPoint& p : amp_points())
    if (p.fitted()) sum += p.cycles - 4 * static_cast<double>(p.rows), ++n;
  ASSERT_EQ(n, 8);
  EXPECT_NEAR(static_cast<double>(amp_f16_pass_cycles(0) + find_machine("bow")->launch_cycles), sum / n, 0.5);
}

TEST(Validation, AmpHeldOutSizes) {
  std::vector<AmpPoint> points = amp_points();
  std::erase_if(points, [](const AmpPoint& p) { return p.fitted(); });
  std::vector<Validation> rows = amp_validations(points);
  ASSERT_EQ(rows.size(), 8u);  // the stored file ends at 256 rows
  double sum = 0;
  for (const Validation& v : rows) sum += v.error();
  EXPECT_LE(sum / 8, 0.01);
  expect_within(rows);  // each within 2 %
}

TEST(Validation, Additions) {
  std::vector<Validation> rows = addition_validations();
  expect_within(rows);
  for (std::size_t i = 2; i < rows.size(); ++i) EXPECT_EQ(rows[i].predicted, rows[1].predicted) << "does not depend on the number of tiles";
}

TEST(Validation, ThePointsAreThoseOfTheFile) {
  const std::vector<AmpPoint> file = amp_points(), known = published_amp_points();
  ASSERT_EQ(file.size(), known.size());
  for (std::size_t i = 0; i < file.size(); ++i) {
    EXPECT_EQ(known[i].rows, file[i].rows);
    EXPECT_EQ(known[i].cycles, file[i].cycles);
  }
}

TEST(Validation, SyncsAndCopies) { expect_within(phase_validations()); }

TEST(Validation, LandingOfAllPairs) { expect_within(landing_validations()); }

// The checks above have to be able to fail.
TEST(Validation, ErrorIsMeasuredFromTheRange) {
  Validation v{"", 64, 117, 0, false, 1};
  v.predicted = 90;
  EXPECT_EQ(v.error(), 0);
  v.predicted = 234;
  EXPECT_DOUBLE_EQ(v.error(), 1);
  v.predicted = 32;
  EXPECT_DOUBLE_EQ(v.error(), 1);
}

}  // namespace
}  // namespace pando::cycles
