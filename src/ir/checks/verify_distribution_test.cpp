#include "ir/checks/verify_distribution.h"

#include "ir/text/parse.h"

#include <gtest/gtest.h>

namespace pando::ir {
namespace {

std::string first_rule(const std::vector<Violation>& found) { return found.empty() ? "valid" : found[0].rule; }
std::string first_rule(const std::string& text, std::optional<std::int32_t> devices = {}) {
  return first_rule(verify_distribution(parse("module\n" + text), devices));
}

TEST(VerifyDistribution, DeviceVariablesAreBound) {
  const std::string body =
      "graph body(a: Tensor[(2), float32, d0]):\n    b: Tensor[(2), float32, d0] = call(a) @inner\n    return b\n"
      "graph inner(a: Tensor[(2), float32, d0]):\n    b: Tensor[(2), float32, d0] = relu(a)\n    return b\n";
  EXPECT_EQ(first_rule("graph main():\n    return\ngraph f(x: Tuple[Tensor[(2), float32, 1], Tensor[(2), float32, 2]]):\n"
                       "    y: Tuple[Tensor[(2), float32, 1], Tensor[(2), float32, 2]] = pmap(x, device_var=0) @body\n    return y\n" +
                       body),
            "valid");
  EXPECT_EQ(first_rule("graph main():\n    return\n" + body), "device-variable");
  EXPECT_EQ(first_rule("graph main():\n    return\ngraph f(x: Tuple[Tensor[(2), float32, 1], Tensor[(2), float32, 2]]):\n"
                       "    y: Tuple[Tensor[(2), float32, 1], Tensor[(2), float32, 2]] = pmap(x, device_var=1) @body\n    return y\n" +
                       body),
            "device-variable");
}

TEST(VerifyDistribution, DevicesExist) {
  const std::string text =
      "graph main():\n    return\ngraph f(x: Tensor[(2), float32, 3]):\n    y: Tensor[(2), float32, 3] = relu(x)\n    return y\n";
  EXPECT_EQ(first_rule(text), "valid");
  EXPECT_EQ(first_rule(text, 4), "valid");
  EXPECT_EQ(first_rule(text, 3), "device-range");
}

TEST(VerifyDistribution, GroupsHaveEachDeviceOnce) {
  const auto group = [](const std::string& type) {
    return first_rule("graph main():\n    return\ngraph f(x: " + type + "):\n    y: " + type +
                      " = all_reduce_across(x, op=\"add\")\n    return y\n");
  };
  EXPECT_EQ(group("Tuple[Tensor[(2), float32, 1], Tensor[(2), float32, 2]]"), "valid");
  EXPECT_EQ(group("Tuple[Tensor[(2), float32, 1], Tensor[(2), float32, 1]]"), "group-device");
  EXPECT_EQ(group("Tuple[Tensor[(2), float32, 1], Tensor[(2), float32]]"), "group-device");
}

TEST(VerifyDistribution, AStreamIsOfOneDevice) {
  const auto loads = [](const std::string& second) {
    return first_rule(
        "stream 0 \"x\" to device: Tensor[(2), float32]\ngraph main():\n    a: Tensor[(2), float32, 1] = host_load(stream=@stream0)\n    "
        "b: Tensor[(2), float32, " +
        second + "] = host_load(stream=@stream0)\n    return\n");
  };
  EXPECT_EQ(loads("1"), "valid");
  EXPECT_EQ(loads("2"), "stream-devices");
}

}  // namespace
}  // namespace pando::ir
