#include "emit/emit.h"

#include "base/testing/golden.h"
#include "emit/torch/torch_row.h"
#include "ir/op_table.h"
#include "ir/rows/sample.h"
#include "ir/semantics/infer.h"
#include "ir/semantics/samples.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "models/mlp.h"
#include "pando/model_error.hpp"
#include "transform/distribute/parallelise.h"
#include "transform/distribute/pieces.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>

namespace pando::emit {
namespace {

using namespace ir;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Emitted emitted(const transform::Strategy& strategy, const models::Mlp& shape = {.layers = 2, .width = 4, .batch = 4}) {
  const transform::Program mlp = models::build_mlp(shape);
  const transform::Distributed d = transform::parallelise(mlp, strategy);
  Options options;
  options.pieces = transform::pieces_of(mlp, d);
  return torch_program(d.module, options);
}

const std::string& file(const Emitted& e, const std::string& name) {
  for (const File& f : e.files) {
    if (f.name == name) return f.bytes;
  }
  throw std::out_of_range(name);
}

// What each variable and output is a part of: two samples of four on each device, half of a weight, a stage's own layer.
TEST(Pieces, OfADistributedProgram) {
  const transform::Program mlp = models::build_mlp({.layers = 2, .width = 4, .batch = 4});
  const auto table = [&](const transform::Strategy& strategy) { return transform::pieces_of(mlp, transform::parallelise(mlp, strategy)); };
  const auto lines = [](const transform::PieceTable& t) {
    std::vector<std::string> all;
    for (const auto* entries : {&t.variables, &t.outputs}) {
      for (const auto& e : *entries) all.push_back(fmt::format("{} of {} at {}", e.part, e.whole, fmt::join(e.start, ",")));
    }
    std::ranges::sort(all);
    return all;
  };
  const transform::PieceTable data = table({.data = 2});
  EXPECT_EQ(data.shape_of("x"), (Shape{4, 4}));
  EXPECT_EQ(data.wholes.at("x").dtype, DType::float32);
  EXPECT_THAT(lines(data), ::testing::IsSupersetOf({"x.1 of x at 0,0", "x.2 of x at 2,0", "w0.1 of w0 at 0,0", "w0.2 of w0 at 0,0"}));
  ASSERT_NE(data.variable("x.2"), nullptr);
  EXPECT_EQ(data.variable("x.2")->whole, "x");
  EXPECT_EQ(data.variable("x"), nullptr);
  EXPECT_THAT(lines(table({.tensor = 2})), ::testing::IsSupersetOf({"w0.1 of w0 at 0,0", "w0.2 of w0 at 0,2", "w1.2 of w1 at 2,0"}));
  const transform::PieceTable stages = table({.pipeline = 2, .microbatches = 2});
  EXPECT_THAT(lines(stages), ::testing::IsSupersetOf({"x.1.m0 of x at 0,0", "x.1.m1 of x at 2,0"}));
  for (const auto& [name, whole] : data.wholes) EXPECT_EQ(stages.shape_of(name), whole.shape) << name;
  // As a file, it comes back.
  EXPECT_EQ(lines(transform::read_pieces(transform::print_pieces(stages), "pieces.json")), lines(stages));
}

// PANDO_BLESS=1 rewrites them.
TEST(EmitTorch, Golden) {
  const Emitted data = emitted({.data = 2});
  expect_golden("emit/mlp_data.txt", file(data, "program_0.py") + "# layout.py\n" + file(data, "layout.py"));
  expect_golden("emit/mlp_pipeline.txt", file(emitted({.pipeline = 2, .microbatches = 2}), "program_0.py") + "# program_1.py\n" +
                                             file(emitted({.pipeline = 2, .microbatches = 2}), "program_1.py"));
}

TEST(EmitTorch, SameTextForSameWork) {
  EXPECT_EQ(emitted({.data = 2}).programs, emitted({.data = 4}).programs);
  EXPECT_EQ(emitted({.data = 4}).ranks, 4u);
}

// Every op of the model level is written, is written in terms of others, or belongs to a graph's structure.
TEST(EmitTorch, EveryOp) {
  const std::set<std::string_view> missing = {"interpolate",
                                              "interpolate_grad",
                                              "roi_align",
                                              "roi_align_grad",
                                              "replica_sharded_slice",
                                              "replicated_slice",
                                              "differentiable_replicated_all_reduce",
                                              "replicated_all_gather",
                                              "replicated_all_reduce_",
                                              "replicated_all_reduce",
                                              "replicated_reduce_scatter"};
  for (const OpRow* row : op_table()) {
    const bool structural = row->control != Control::none || row->tuple != Tuple::none || row->constant ||
                            has(row->effects, Effects::stream) || has(row->effects, Effects::remote) || has(row->effects, Effects::code);
    EXPECT_EQ(!find_torch_row(op_kind(row->name)) && !structural && !row->expand, missing.contains(row->name)) << row->name;
  }
}

// A module with each row's samples, each an op of its own, whose operands are variables with data.
Module every_sample() {
  Module m;
  const GraphId main = m.add_graph("main");
  std::size_t number = 0;
  const auto add = [&](const OpRow& row, const Sample& sample) {
    std::vector<ValueId> operands;
    for (const HostTensor& data : sample_data(sample, 7)) {
      const std::string name = fmt::format("x{}", m.state_count());
      const auto input = static_cast<std::uint32_t>(m.graph(main).inputs.size());
      operands.push_back(m.add_input(main, tensor_type(data.dtype(), data.shape()), name));
      State s;
      s.name = name;
      s.type = m.value(operands.back()).type;
      s.data = m.add_blob(data);
      s.input = input;
      m.add_state(std::move(s));
    }
    const OpId op =
        infer_and_add(m, main, row.name, operands, sample.attributes, {}, sample.in_place, {}, fmt::format("{}_{}", row.name, number++));
    for (ValueId v : m.results(op)) m.add_output(main, v);
  };
  for (const OpRow* row : op_table()) {
    if (!row->samples || (!find_torch_row(op_kind(row->name)) && !row->expand) || row->traffic != Traffic::none) continue;
    for (const Sample& s : row->samples()) add(*row, s);
  }
  return m;
}

// tests/torch/test_emit.py runs what it writes where PANDO_EMIT_SAMPLES says.
TEST(EmitTorch, EverySample) {
  const Module m = every_sample();
  Options options;
  options.check_steps = 0;
  const Emitted e = torch_program(m, options);
  EXPECT_EQ(e.programs, 1u);
  EXPECT_THAT(file(e, "functions.py"), HasSubstr("def nll_loss("));
  if (const char* path = std::getenv("PANDO_EMIT_SAMPLES")) std::ofstream(path) << ir::print(m);
}

TEST(EmitTorch, UnknownOpsTogether) {
  const std::string text = R"(module
variable "x" input 0: Tensor[(1, 1, 2, 2), float32]

graph main(x: Tensor[(1, 1, 2, 2), float32]):
    y: Tensor[(1, 1, 4, 4), float32] = interpolate(x, scale_factor=[1.0, 1.0, 2.0, 2.0])
    z: Tensor[(1, 1, 8, 8), float32] = interpolate(y, scale_factor=[1.0, 1.0, 2.0, 2.0])
    return z
)";
  try {
    torch_program(ir::parse(text), {});
    FAIL();
  } catch (const ModelError& e) { EXPECT_THAT(e.what(), HasSubstr("interpolate (2)")); }
}

}  // namespace
}  // namespace pando::emit
