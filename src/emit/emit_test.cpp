#include "emit/emit.h"

#include "base/testing/golden.h"
#include "emit/torch/torch_row.h"
#include "ir/op_table.h"
#include "ir/rows/sample.h"
#include "ir/semantics/infer.h"
#include "ir/semantics/samples.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "models/gpt.h"
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
  EXPECT_EQ(data.whole_tensors.at("x").dtype, DType::float32);
  EXPECT_THAT(lines(data), ::testing::IsSupersetOf({"x.1 of x at 0,0", "x.2 of x at 2,0", "w0.1 of w0 at 0,0", "w0.2 of w0 at 0,0"}));
  ASSERT_NE(data.variable("x.2"), nullptr);
  EXPECT_EQ(data.variable("x.2")->whole, "x");
  EXPECT_EQ(data.variable("x"), nullptr);
  EXPECT_THAT(lines(table({.tensor = 2})), ::testing::IsSupersetOf({"w0.1 of w0 at 0,0", "w0.2 of w0 at 0,2", "w1.2 of w1 at 2,0"}));
  const transform::PieceTable stages = table({.pipeline = 2, .microbatches = 2});
  EXPECT_THAT(lines(stages), ::testing::IsSupersetOf({"x.1.m0 of x at 0,0", "x.1.m1 of x at 2,0"}));
  for (const auto& [name, whole] : data.whole_tensors) EXPECT_EQ(stages.shape_of(name), whole.shape) << name;
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

TEST(Pieces, AnotherFileIsRejected) {
  for (const char* text : {"[]", "{}", "3", R"({"whole_tensors": {}, "variables": [], "outputs": []})"}) {
    try {
      transform::read_pieces(text, "p.json");
      ADD_FAILURE() << text;
    } catch (const ModelError& e) {
      EXPECT_THAT(
          e.what(),
          HasSubstr("it is not a file of pieces (an object of whole_tensors, variables, outputs, streams): pando transform --pieces"));
    }
  }
}

// A mask that each layer has for itself, and numbers, of which one is as large in other bytes.
TEST(EmitTorch, EqualConstantsAreWrittenOnce) {
  const std::string type = "Tensor[(4, 8), float32]";
  std::string text = "module\nvariable \"x\" input 0: " + type + "\n\ngraph main(x: " + type + "):\n";
  std::string last = "x";
  for (const int layer : {0, 1, 2}) {
    const std::vector<float> mask(32, layer == 2 ? -2.0F : -1.0F);
    text += fmt::format("    mask{}: {} = constant(data=float32(4, 8)[{:.1f}])\n", layer, type, fmt::join(mask, ", "));
    text += fmt::format("    half{}: float32 = constant(data=float32()[0.5])\n", layer);
    text += fmt::format("    a{}: {} = add({}, mask{})\n", layer, type, last, layer);
    text += fmt::format("    y{}: {} = mul(a{}, half{})\n", layer, type, layer, layer);
    last = fmt::format("y{}", layer);
  }
  const Emitted e = torch_program(ir::parse(text + "    return y2\n"), {.check_steps = 0});
  const std::string& program = file(e, "program_0.py");
  EXPECT_THAT(program, HasSubstr("CONSTANTS = {\n    \"mask0\": \"program_0.mask0\",\n    \"half0\": (\"float32\", (), [0.5]),\n"
                                 "    \"mask2\": \"program_0.mask2\",\n}\n"));
  EXPECT_THAT(program, HasSubstr("a1 = y0 + const.mask0\n"));
  EXPECT_THAT(program, HasSubstr("y2 = a2 * const.half0\n"));
  EXPECT_EQ(file(e, "constants.bin").size(), 2u * 4 * 8 * 4);
}

// Programs of two stages have the mask of their layers; its bytes are there once.
TEST(EmitTorch, ProgramsShareBytesOfConstants) {
  const transform::Program gpt = models::build_gpt({.layers = 2, .heads = 2, .width = 8, .vocabulary = 16, .sequence = 8, .batch = 2});
  const transform::Distributed d = transform::parallelise(gpt, {.pipeline = 2});
  Options options{.check_steps = 0};
  options.pieces = transform::pieces_of(gpt, d);
  const Emitted e = torch_program(d.module, options);
  ASSERT_EQ(e.programs, 2u);
  EXPECT_THAT(file(e, "constants.json"), HasSubstr("\"program_1."));
  EXPECT_EQ(file(e, "constants.bin").size(), 8u * 8 * 4);
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
