#include "project/lags.h"

#include "project/testing/testing.h"
#include "split/place.h"

#include <fmt/format.h>

namespace pando::project::testing {
namespace {

// Stage k on device k, forward f<k> and backward g<k>, each with a weight.
ir::Module stages(int n, bool training) {
  std::string variables, inputs, body = "    x: float32 = host_load(stream=@stream0)\n", updated_inputs;
  for (int k = 0; k < n; ++k) {
    variables += fmt::format("variable \"w{}\" input {}: float32[{}] = float32()[0.5]\n", k, k, k);
    inputs += fmt::format("{}w{}: float32[{}]", k ? ", " : "", k, k);
    body += fmt::format("    f{}: float32 = mul(w{}, {})\n", k, k, k ? "f" + std::to_string(k - 1) : "x");
  }
  for (int k = n - 1; k >= 0 && training; --k) {
    const std::string above = k == n - 1 ? "f" + std::to_string(k) : "g" + std::to_string(k + 1);
    body += fmt::format("    g{}: float32 = mul(w{}, {})\n    d{}: float32 = mul(g{}, f{})\n    v{}: float32 = sub(w{}, d{})\n", k, k,
                        above, k, k, k, k, k, k);
    updated_inputs += fmt::format("    final w{} = v{}\n", k, k);
  }
  if (!training) body += fmt::format("    host_store(f{}, stream=@stream1)\n", n - 1);
  return ir::parse("module\nstream 0 \"x\" to device: float32\nstream 1 \"y\" to host: float32\n" + variables + "\ngraph main(" + inputs +
                   "):\n" + body + "    return\n" + updated_inputs);
}

std::int32_t slot_of(const Projected& p, const std::string& name) {
  for (ir::OpId o : p.loop.body) {
    if (p.loop.module->name_of(o) == name) return p.lags.slot[o.index()];
  }
  ADD_FAILURE() << "no op " << name;
  return -1;
}
std::int64_t copies_of(const Projected& p, const std::string& name) {
  for (const DeviceProgram& d : p.program.devices) {
    for (const Buffer& b : d.buffers) {
      if (b.name == name) return b.copies;
    }
  }
  ADD_FAILURE() << "no buffer " << name;
  return -1;
}

// Forward of stage k in trip k's first half; the last stage's backward with it; the others in trip 2 P - 3 - k's second half.
TEST(Lags, StagesForwardAndBackward) {
  for (const int n : {2, 3, 4, 8}) {
    SCOPED_TRACE(n);
    const Projected p = projected(stages(n, true), "delay");
    for (int k = 0; k < n; ++k) {
      EXPECT_EQ(slot_of(p, "f" + std::to_string(k)), 2 * k);
      const int backward = k == n - 1 ? 2 * k : 2 * (2 * n - 3 - k) + 1;
      EXPECT_EQ(slot_of(p, "g" + std::to_string(k)), backward);
      EXPECT_EQ(slot_of(p, "v" + std::to_string(k)), backward);
      EXPECT_EQ(copies_of(p, "f" + std::to_string(k)), k == n - 1 ? 1 : 2 * n - 2 - 2 * k);
    }
    EXPECT_EQ(p.lags.drain, 2 * n - 3);
    EXPECT_EQ(to_string(verify(p.program)), "");
    const Projected stash = projected(stages(n, true), "stash");
    for (int k = 0; k < n; ++k) EXPECT_EQ(copies_of(stash, "w" + std::to_string(k)), k == n - 1 ? 1 : 2 * n - 2 - 2 * k);
  }
}

TEST(Lags, StrictJoinsWhatAVariableJoins) {
  const Projected p = projected(stages(4, true), "strict");
  EXPECT_EQ(p.lags.drain, 0);
  // No variable changes: nothing is in the way of the pipeline.
  const Projected inference = projected(stages(4, false), "strict");
  EXPECT_EQ(inference.lags.drain, 3);
  for (int k = 0; k < 4; ++k) EXPECT_EQ(slot_of(inference, "f" + std::to_string(k)), 2 * k);
  EXPECT_EQ(to_string(verify(inference.program)), "");
  EXPECT_EQ(differs_in_terms(inference.program, inference.loop, inference.lags, {5, 0}), std::nullopt);
}

// What comes from the host comes when it is needed, but for a variable's new contents.
TEST(Lags, LoadsThatAreNewContents) {
  const Projected p = projected(ir::parse(R"(module
stream 0 "x" to device: float32
stream 1 "y" to host: float32
variable "w" input 0: float32[0] = float32()[0.5]

graph main(w: float32[0]):
    x: float32[0] = host_load(stream=@stream0)
    z: float32[0] = host_load(stream=@stream0)
    a: float32[1] = exp(w)
    b: float32[0] = add(a, x)
    c: float32[0] = add(b, z)
    host_store(c, stream=@stream1)
    return
    final w = x
)"),
                                "strict");
  EXPECT_EQ(slot_of(p, "x"), 0);
  EXPECT_EQ(slot_of(p, "z"), slot_of(p, "c"));
  EXPECT_GT(slot_of(p, "c"), 0);
  EXPECT_EQ(to_string(verify(p.program)), "");
  EXPECT_EQ(differs_in_terms(p.program, p.loop, p.lags, {5, 0}), std::nullopt);
}

TEST(Lags, WindowsThatAreTooShort) {
  EXPECT_EQ(to_string(verify(projected(stages(4, true), "2BW 5").program)), "");
  try {
    projected(stages(4, true), "2BW 3");
    FAIL() << "it should be rejected";
  } catch (const ModelError& e) {
    EXPECT_EQ(e.id(), "window-too-short");
    EXPECT_THAT(e.what(), ::testing::HasSubstr("version w - 1 of 'w0' comes 2 trips too late for window w of 3 samples"));
  }
}

}  // namespace
}  // namespace pando::project::testing
