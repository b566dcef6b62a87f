// Training steps on ranks and threads equal the sequential program; what cannot run says so.
#include "ranks/run.h"

#include "ir/parse.h"
#include "ir/print.h"
#include "models/gpt.h"
#include "models/mlp.h"
#include "pando/model_error.hpp"
#include "ranks/split.h"
#include "ranks/testing.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace pando::ranks {
namespace {

using namespace ir;
using ::testing::HasSubstr;
using testing::differences;
using testing::distance;
using testing::run_on;

models::Mlp small_mlp() {
  models::Mlp mlp;
  mlp.layers = 4;
  mlp.width = 8;
  mlp.batch = 8;
  mlp.learning_rate = 0.5;
  return mlp;
}

// Small whole numbers: sums are the same in every order. A step of gradient descent keeps them multiples of a small power of two.
Data whole_numbers(const transform::Program& p) {
  Data data;
  const Module& m = p.module;
  const Graph& main = m.graph(m.main_graph());
  std::uint32_t state = 12345;
  for (ValueId v : main.inputs) {
    const Type& t = m.type_of(v);
    HostTensor x(t.dtype, t.shape);
    for (std::int64_t i = 0; i < x.elements(); ++i) {
      state = state * 1664525u + 1013904223u;
      x.set(i, is_floating(t.dtype) ? static_cast<double>(state >> 30) - 1 : 1);
    }
    data.add_array(m.name_of(v), std::move(x));
  }
  return data;
}

struct Case {
  const char* name;
  transform::Strategy strategy;
};
std::vector<Case> strategies() {
  return {{"data", {.data = 2}},
          {"tensor", {.tensor = 2}},
          {"pipeline", {.pipeline = 2, .microbatches = 2}},
          {"zero 3", {.data = 2, .zero = 3}},
          {"all", {.data = 2, .pipeline = 2, .microbatches = 2}}};
}

Program again(const Module& m, std::int64_t capacity = 1) { return split(Module(m), {.capacity = capacity}); }

TEST(Run, an_mlp_distributed_in_every_way_has_the_bits_of_the_sequential_one) {
  const transform::Program mlp = models::build_mlp(small_mlp());
  const Data data = whole_numbers(mlp);
  Options options;
  options.steps = 2;
  const Result sequential = run_on({again(mlp.module)}, 1, data, options);
  ASSERT_FALSE(sequential.variables.empty());
  EXPECT_FALSE(*testing::find(sequential.variables, "w0") == *data.variable("w0", DType::float32, {8, 8})) << "nothing was learnt";
  for (const Case& c : strategies()) {
    const transform::Distributed d = transform::parallelise(mlp, c.strategy);
    Data pieces = data;
    pieces.set_pieces(transform::pieces_of(mlp, d));
    const Result joined = join(run_on({again(parse(print(d.module)))}, 2, pieces, options), *pieces.pieces());
    EXPECT_EQ(distance(sequential, joined), 0) << c.name;
  }
}

TEST(Run, results_are_the_same_bits_for_any_ranks_threads_and_capacities) {
  models::Gpt g;
  g.optimizer.kind = models::Optimizer::adam;
  g.optimizer.learning_rate = 0.01;
  const transform::Program gpt = models::build_gpt(g);
  const transform::Distributed d = transform::parallelise(gpt, {.data = 2, .pipeline = 2, .microbatches = 2});
  const Module m = parse(print(d.module));
  Data data;
  data.set_seed(3);
  for (const char* of_adam : {"*.m", "*.v", "step"}) data.add_zeros(of_adam);
  data.set_pieces(transform::pieces_of(gpt, d));
  Options options;
  options.steps = 2;
  const Result first = run_on({again(m)}, 1, data, options);
  for (unsigned ranks : {1u, 2u, 4u}) {
    for (unsigned threads : {1u, 2u}) {
      options.threads = threads;
      const std::int64_t capacity = ranks == 1 ? -1 : ranks == 2 ? 0 : 3;
      EXPECT_EQ(differences(first, run_on({again(m, capacity)}, ranks, data, options)), "") << ranks << " ranks, " << threads << " threads";
    }
  }
}

TEST(Run, a_transformer_equals_the_sequential_one_but_for_rounding) {
  models::Gpt g;
  g.optimizer.learning_rate = 0.01;
  const transform::Program gpt = models::build_gpt(g);
  Options options;
  options.steps = 2;
  Data data;
  data.set_seed(3);
  const Result sequential = run_on({again(gpt.module)}, 1, data, options);
  for (const transform::Strategy& s : {transform::Strategy{.data = 2}, transform::Strategy{.tensor = 2}, transform::Strategy{.data = 2, .pipeline = 2, .microbatches = 2}}) {
    const transform::Distributed d = transform::parallelise(gpt, s);
    Data pieces = data;
    pieces.set_pieces(transform::pieces_of(gpt, d));
    EXPECT_LT(distance(sequential, join(run_on({again(parse(print(d.module)))}, 2, pieces, options), *pieces.pieces())), 1e-3);
  }
}

TEST(Run, on_tiles_messages_are_the_same_and_slots_cost_memory) {
  const transform::Program mlp = models::build_mlp(small_mlp());
  const transform::Distributed d = transform::parallelise(mlp, {.pipeline = 2});
  const Module m = parse(print(d.module));
  Data data = whole_numbers(mlp);
  data.set_pieces(transform::pieces_of(mlp, d));
  Options options;
  options.device = "ipu_model";
  options.tiles_per_ipu = 4;
  const Result on_tiles = run_on({again(m)}, 2, data, options);
  options.device = "cpu";
  EXPECT_EQ(distance(on_tiles, run_on({again(m)}, 1, data, options)), 0);
  // A message has 256 bytes; four tiles have room for some thousands of them, not for a hundred thousand.
  options.device = "ipu_model";
  try {
    run_on({again(m, 100000)}, 2, data, options);
    ADD_FAILURE() << "slots are not counted";
  } catch (const exec::RunFailed& e) {
    EXPECT_THAT(e.what(), HasSubstr("memory"));
    EXPECT_THAT(e.what(), HasSubstr("slots of"));
  }
}

TEST(Run, streams_bring_and_take_blocks_step_after_step) {
  const Module m = parse(R"(module
stream 0 "x" to device: Tensor[(2), float32]
stream 1 "y" to host: Tensor[(2), float32]
stream 2 "z" to host: Tensor[(2), float32]

graph main():
    a: Tensor[(2), float32, 0] = host_load(stream=@stream0)
    b: Tensor[(2), float32, 0] = host_load(stream=@stream0)
    c: Tensor[(2), float32, 0] = add(a, b)
    there: Tensor[(2), float32, 1] = send(c, device=1)
    host_store(there, stream=@stream1)
    host_store(a, stream=@stream2)
    return
)");
  Data data;
  data.add_array("x", HostTensor::of_floats(DType::float32, {4, 2}, std::vector<double>{1, 2, 10, 20, 3, 4, 30, 40}));
  Options options;
  options.steps = 3;
  for (unsigned ranks : {1u, 2u}) {
    const Result r = run_on({again(m)}, ranks, data, options);
    ASSERT_EQ(r.outputs.size(), 2u);
    EXPECT_EQ(*testing::find(r.outputs, "y"), HostTensor::of_floats(DType::float32, {3, 2}, std::vector<double>{11, 22, 33, 44, 11, 22}));
    EXPECT_EQ(*testing::find(r.outputs, "z"), HostTensor::of_floats(DType::float32, {3, 2}, std::vector<double>{1, 2, 3, 4, 1, 2}));
  }
}

std::string refusal(const std::vector<Program>& programs, unsigned ranks, const Data& data) {
  try {
    run_on(programs, ranks, data, {});
  } catch (const std::exception& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Run, ranks_that_hold_different_programs_are_refused) {
  const transform::Program mlp = models::build_mlp(small_mlp());
  const Module m = transform::parallelise(mlp, {.pipeline = 2}).module;
  Data data;
  data.set_seed(1);
  EXPECT_THAT(refusal({again(m, 1), again(m, 2)}, 2, data), HasSubstr("rank 1 would run another program than rank 0"));
  EXPECT_THAT(refusal({again(m)}, 3, data), HasSubstr("3 ranks for a program of 2 devices"));
  EXPECT_THAT(refusal({again(m)}, 2, {}), HasSubstr("has no data"));
}

// The receiver takes two messages in the other order than they are sent.
TEST(Run, a_deadlock_ends_all_ranks_and_says_who_waits_for_what) {
  const Module m = parse(R"(module
variable "x" input 0: Tensor[(2), float32, 0] = float32(2)[1.0, 2.0]

graph main(x: Tensor[(2), float32, 0]):
    a: Tensor[(2), float32, 0] = mul(x, x)
    b: Tensor[(2), float32, 0] = add(x, x)
    first: Tensor[(2), float32, 1] = send(a, device=1)
    second: Tensor[(2), float32, 1] = send(b, device=1)
    c: Tensor[(2), float32, 1] = add(first, second)
    return c
)");
  for (unsigned ranks : {1u, 2u}) {
    for (std::int64_t capacity : {0, 1}) {
      Program p = again(m, capacity);
      ASSERT_EQ(p.parts[1].channels.size(), 2u);
      std::swap(p.parts[1].channels[0].channel, p.parts[1].channels[1].channel);
      try {
        const Result r = run_on({p}, ranks, {}, {});
        EXPECT_EQ(capacity, 1);
        EXPECT_EQ(r.outputs[0].second, HostTensor::of_floats(DType::float32, {1, 2}, std::vector<double>{3, 8}));
      } catch (const exec::RunFailed& e) {
        EXPECT_EQ(capacity, 0) << e.what();
        EXPECT_THAT(e.what(), HasSubstr("deadlock: device 0 (rank 0) waits to send '"));
        EXPECT_THAT(e.what(), HasSubstr(fmt::format("; device 1 (rank {}) waits to receive '", ranks - 1)));
      }
    }
  }
}

TEST(Split, refuses_what_ranks_cannot_run) {
  const auto id = [](const std::string& text, const SplitOptions& options = {}) {
    try {
      split(parse(text), options);
    } catch (const ModelError& e) {
      return e.id();
    }
    return std::string("accepted");
  };
  EXPECT_EQ(id("module replicas 2\n\ngraph main():\n    return\n"), "replicas-in-run");
  const std::string sent = R"(module
variable "x" input 0: Tensor[(2), float32, 0] = float32(2)[1.0, 2.0]

graph main(x: Tensor[(2), float32, 0]):
    y: Tensor[(2), float32, 1] = send(x, device=1)
    return y
)";
  EXPECT_EQ(id(sent), "accepted");
  EXPECT_EQ(id(sent, {.capacities = {{"nobody", 2}}}), "stream-name");
  const Program p = split(parse(sent), {.capacity = 3});
  ASSERT_EQ(p.channels.size(), 1u);
  EXPECT_EQ(p.channels[0].bytes, 8u);
  for (const Part& part : p.parts) EXPECT_THAT(print(part.module), HasSubstr("slots of " + p.channels[0].name + "\" input")) << part.device;
}

}  // namespace
}  // namespace pando::ranks
