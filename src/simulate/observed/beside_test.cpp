#include "simulate/observed/beside.h"

#include "ir/text/parse.h"
#include "pando/model_error.hpp"
#include "simulate/costs/cost_model.h"
#include "simulate/costs/flatten.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace pando::simulate {
namespace {

using ::testing::HasSubstr;

constexpr const char* kTwo = R"(module
variable "x" input 0: Tensor[(32, 32), float32, 1]

graph main(x: Tensor[(32, 32), float32, 1]):
    y: Tensor[(32, 32), float32, 1] = matmul(x, x)
    z: Tensor[(32, 32), float32, 2] = send(y, device=2)
    return z
)";

TEST(Beside, PredictedAndMeasured) {
  const ir::Module m = ir::parse(kTwo);
  const Cluster& cluster = clusters()[0];
  const Program p = flatten(m, ClusterCostModel(cluster));
  const Timeline t = run_clock(p, cluster, {.record_events = true});
  const auto measured = read_trace(R"([{"name": "process_name", "ph": "M", "pid": 1},
    {"name": "matmul", "ph": "X", "pid": 1, "tid": 0, "ts": 2.0, "dur": 30.0}, {"name": "send", "ph": "X", "pid": 2, "tid": 1, "ts": 40, "dur": 5}])",
                                   "t.json");
  ASSERT_EQ(measured.size(), 2u);
  EXPECT_DOUBLE_EQ(measured[0].seconds, 30e-6);
  EXPECT_TRUE(measured[1].transfer);
  const std::string table = compare(p, t, measured);
  EXPECT_THAT(table, HasSubstr("matmul"));
  EXPECT_THAT(table, HasSubstr("30.00"));
  const auto both = nlohmann::json::parse(chrome_trace(p, t, measured));
  std::size_t events = 0;
  for (const auto& e : both) events += e["ph"] == "X";
  EXPECT_EQ(events, t.events.size() + measured.size());
}

TEST(Beside, WhatIsNoTrace) {
  for (const char* text : {"{", "3", "[]", R"([{"ph": "X", "name": "a"}])", "[1]"}) {
    try {
      read_trace(text, "t.json");
      ADD_FAILURE() << text;
    } catch (const ModelError& e) { EXPECT_THAT(e.what(), HasSubstr("a Chrome trace is expected")) << text; }
  }
}

}  // namespace
}  // namespace pando::simulate
