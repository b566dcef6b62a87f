#include "base/testing/places.h"

#include <gmock/gmock.h>

#include "base/files/testing.h"

namespace pando {
namespace {

using PlacesTest = InFreshFolder;

TEST_F(PlacesTest, OfTheNearestBuildAboveTheExecutable) {
  std::filesystem::create_directories(root / "build/part/bin");
  std::ofstream(root / "CMakeCache.txt") << "CMAKE_HOME_DIRECTORY:INTERNAL=/far\n";
  std::ofstream(root / "build/CMakeCache.txt") << "# CMAKE_HOME_DIRECTORY\nCMAKE_HOME_DIRECTORY:INTERNAL=/a clone\nOTHER:PATH=/b\n";
  const BuildPlaces places = places_of(root / "build/part/bin/test_base");
  EXPECT_EQ(places.build, (root / "build").string());
  EXPECT_EQ(places.source, "/a clone");
}

TEST_F(PlacesTest, AnExecutableThatWasMovedSaysSo) {
  try {
    places_of(root / "test_base");
    FAIL() << "places were found";
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(),
                testing::HasSubstr("no folder above '" + (root / "test_base").string() + "' has the CMakeCache.txt of a build"));
  }
}

TEST_F(PlacesTest, OfThisBuild) {
  EXPECT_TRUE(std::filesystem::exists(source_path("src/base/testing/places_test.cpp")));
  EXPECT_TRUE(std::filesystem::exists(build_path("CMakeCache.txt")));
}

}  // namespace
}  // namespace pando
