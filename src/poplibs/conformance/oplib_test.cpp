// The harness itself: what goes in comes out on every machine, with every mapping and type; differences are found.
#include "oplib.h"

#include <gtest/gtest-spi.h>

namespace oplib {
namespace {

using namespace poplar;

TEST(Oplib, ValuesComeBack) {
  for (const Machine machine : {Machine::cpu, Machine::ipu1, Machine::ipu2, Machine::full})
    for (const Mapping mapping : kMappings)
      for (const Type& type :
           {FLOAT, HALF, INT, UNSIGNED_INT, BOOL, CHAR, UNSIGNED_CHAR, SHORT, UNSIGNED_SHORT, LONGLONG, UNSIGNED_LONGLONG}) {
        const Operand x = operand("x", type, {6, 7}, integers(0, 100, 5), mapping);
        const auto out =
            run(machine, {x}, [](Graph&, std::vector<Tensor>& in, program::Sequence&) { return std::vector<Tensor>{in[0].transpose()}; });
        ASSERT_EQ(out[0].shape, (std::vector<std::size_t>{7, 6}));
        for (std::size_t i = 0; i < 6; ++i)
          for (std::size_t j = 0; j < 7; ++j)
            EXPECT_EQ(out[0][j * 6 + i], x[i * 7 + j]) << name_of(machine) << ' ' << name_of(mapping) << ' ' << type;
      }
}

TEST(Oplib, ADifferenceIsShown) {
  static Values v;  // the macro cannot see locals
  v.type = INT;
  v.values = {1, 2, 3};
  EXPECT_NONFATAL_FAILURE(expect_close(v, {1, 2, 4}, "sum"), "[2] is 3, expected 4");
  EXPECT_FATAL_FAILURE(expect_close(v, {1, 2}, "sum"), "size");
}

TEST(Oplib, RoundingIsTheType) {
  EXPECT_EQ(rounded(HALF, 2049), 2048);
  EXPECT_EQ(rounded(UNSIGNED_CHAR, 257), 1);
  EXPECT_EQ(rounded(CHAR, 128), -128);
  EXPECT_EQ(rounded(BOOL, 7), 1);
}

}  // namespace
}  // namespace oplib
