#include "transform/devices/place_calls.h"

#include "ir/checks/verify.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"

#include <gmock/gmock.h>

namespace pando::transform {
namespace {

using testing::HasSubstr;

constexpr const char* kTwoDevices = R"(module
variable "w" input 0: Tensor[(2), float32]
variable "v" input 1: Tensor[(2), float32]

graph main(w: Tensor[(2), float32], v: Tensor[(2), float32]):
    a: Tensor[(2), float32, 0] = relu(w)
    b: Tensor[(2), float32, 0] = call(a, w) @f
    c: Tensor[(2), float32, 1] = send(b, device=1)
    d: Tensor[(2), float32, 0] = call(c, v) @f
    e: Tensor[(2), float32, 0] = copy_var_update_(v, d)
    g: Tensor[(2), float32, 0] = send(d, device=0)
    h: Tensor[(2), float32, 0] = call(g, a) @f
    return h
    final v = e

graph f(x: Tensor[(2), float32], y: Tensor[(2), float32]):
    z: Tensor[(2), float32, 0] = add(x, y)
    return z
)";

TEST(PlaceCalls, TheyLieWhereTheirOperandsDo) {
  ir::Module m = ir::parse(kTwoDevices);
  place_calls(m);
  EXPECT_EQ(ir::to_string(ir::verify(m)), "");
  const std::string text = ir::print(m);
  EXPECT_THAT(text, HasSubstr("b: Tensor[(2), float32, 0] = call(a, w) @f"));
  EXPECT_THAT(text, HasSubstr("d: Tensor[(2), float32, 1] = call(c, v) @f"));
  EXPECT_THAT(text, HasSubstr("e: Tensor[(2), float32, 1] = copy_var_update_(v, d)"));
  EXPECT_THAT(text, HasSubstr("g: Tensor[(2), float32, 0] = send(d, device=0)"));
  EXPECT_THAT(text, HasSubstr("h: Tensor[(2), float32, 0] = call(g, a) @f"));
  EXPECT_THAT(text, HasSubstr("z: Tensor[(2), float32] = add(x, y)"));
}

TEST(PlaceCalls, ProgramsOfOneDeviceStay) {
  std::string text = kTwoDevices;
  text.erase(text.find("    c:"), text.find("    h:") - text.find("    c:"));
  text.replace(text.find("call(g, a)"), 10, "call(b, a)");
  text.erase(text.find("    final v = e\n"), 16);
  ir::Module m = ir::parse(text);
  const std::string before = ir::print(m);
  place_calls(m);
  EXPECT_EQ(ir::print(m), before);
}

}  // namespace
}  // namespace pando::transform
