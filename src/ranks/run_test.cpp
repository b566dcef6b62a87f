// Training steps on ranks and threads equal the sequential program; what cannot run says so.
#include "ranks/run.h"

#include "ir/semantics/interpreter.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "models/gpt.h"
#include "models/mlp.h"
#include "pando/model_error.hpp"
#include "ranks/testing.h"
#include "split/split.h"
#include "transform/distribute/parts.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace pando::ranks {
namespace {

using namespace ir;
using testing::differences;
using testing::distance;
using ::testing::HasSubstr;
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

Program again(const Module& m, std::int64_t capacity = 1) { return split_program(Module(m), {.capacity = capacity}); }
Program again_in_parts(const Module& m, std::int64_t part_bytes, std::int64_t capacity = 1) {
  return split_program(Module(m), {.capacity = capacity, .part_bytes = part_bytes});
}
constexpr std::int64_t kNever = std::int64_t{1} << 60;

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
      const Result r = run_on({again(m, capacity)}, ranks, data, options);
      EXPECT_EQ(differences(first, r), "") << ranks << " ranks, " << threads << " threads";
      ASSERT_EQ(r.times.size(), 4u);
      for (const DeviceTimes& t : r.times) EXPECT_GE(r.seconds, t.run) << t.device;
    }
  }
  options.results = false;
  const Result without = run_on({again(m)}, 2, data, options);
  EXPECT_TRUE(without.variables.empty());
  EXPECT_TRUE(without.outputs.empty());
  EXPECT_EQ(without.times.size(), 4u);
  EXPECT_EQ(without.executables.size(), 4u);
}

// Bytes that a device sends in a step, the most of all.
std::uint64_t most_sent(const Program& p) {
  std::map<std::int32_t, std::uint64_t> sent;
  for (const exec::Channel& c : p.channels) sent[c.from] += c.bytes;
  std::uint64_t most = 0;
  for (const auto& [device, bytes] : sent) most = std::max(most, bytes);
  return most;
}

// n devices, each with a tensor of 1,001 floats: what they send whole, and in parts.
TEST(Run, reductions_in_parts_have_the_bits_of_whole_ones_and_send_two_tensors_at_most) {
  for (int n : {2, 3, 4, 7}) {
    std::string inputs, names, results, updated_inputs;
    for (int d = 0; d < n; ++d) {
      inputs += fmt::format("{}v{}: Tensor[(7, 143), float32, {}]", d ? ", " : "", d, d);
      names += fmt::format("{}v{}", d ? ", " : "", d);
      results += fmt::format("{}s{}: Tensor[(7, 143), float32, {}]", d ? ", " : "", d, d);
      updated_inputs += fmt::format("    final v{} = s{}\n", d, d);
    }
    std::string text = "module\n";
    for (int d = 0; d < n; ++d) text += fmt::format("variable \"v{0}\" input {0}: Tensor[(7, 143), float32, {0}]\n", d);
    text += fmt::format("\ngraph main({}):\n    ({}) = all_reduce({}, op=\"add\")\n    return\n{}", inputs, results, names, updated_inputs);
    const Module m = parse(text);
    const Program whole = again_in_parts(m, kNever), parts = again_in_parts(m, 0);
    const std::uint64_t tensor = 1001 * 4;
    EXPECT_EQ(most_sent(whole), (n - 1) * tensor);
    EXPECT_LE(most_sent(parts), 2 * (n - 1) * (tensor / n + 4) + (n == 2 ? tensor : 0)) << n;
    EXPECT_EQ(most_sent(again(m)), most_sent(whole)) << "small tensors go whole";
    Data data;
    data.set_seed(9);
    Options options;
    options.steps = 2;
    const Result expected = run_on({whole}, 1, data, options);
    for (unsigned ranks : {1u, 2u})
      for (std::int64_t capacity : {0, 1})
        EXPECT_EQ(differences(expected, run_on({again_in_parts(m, 0, capacity)}, ranks, data, options)), "") << n << ' ' << ranks;
  }
}

TEST(Run, a_step_over_four_devices_is_the_same_in_parts) {
  const transform::Program mlp = models::build_mlp(small_mlp());
  const transform::Distributed d = transform::parallelise(mlp, {.data = 4});
  const Module m = parse(print(d.module));
  Data data;
  data.set_seed(4);
  data.set_pieces(transform::pieces_of(mlp, d));
  Options options;
  options.steps = 3;
  const Program whole = again_in_parts(m, kNever), parts = again_in_parts(m, 0);
  EXPECT_LT(most_sent(parts), most_sent(whole) * 6 / 10);
  const Result expected = run_on({whole}, 1, data, options);
  for (unsigned ranks : {1u, 4u}) EXPECT_EQ(differences(expected, run_on({parts}, ranks, data, options)), "");
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
  for (const transform::Strategy& s : {transform::Strategy{.data = 2}, transform::Strategy{.tensor = 2},
                                       transform::Strategy{.data = 2, .pipeline = 2, .microbatches = 2}}) {
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

std::string rejection(const std::vector<Program>& programs, unsigned ranks, const Data& data, const Options& options = {}) {
  try {
    run_on(programs, ranks, data, options);
  } catch (const std::exception& e) { return e.what(); }
  return "accepted";
}

TEST(Run, ranks_that_hold_different_programs_are_rejected) {
  const transform::Program mlp = models::build_mlp(small_mlp());
  const Module m = transform::parallelise(mlp, {.pipeline = 2}).module;
  Data data;
  data.set_seed(1);
  EXPECT_THAT(rejection({again(m, 1), again(m, 2)}, 2, data), HasSubstr("rank 1 would run another program than rank 0"));
  EXPECT_THAT(rejection({again(m)}, 3, data), HasSubstr("3 ranks for a program of 2 devices"));
  EXPECT_THAT(rejection({again(m)}, 2, {}), HasSubstr("has no data"));
}

TEST(Run, what_is_compiled_is_the_same_for_any_ranks_and_another_executable_is_rejected) {
  const transform::Program mlp = models::build_mlp(small_mlp());
  const Module m = parse(print(transform::parallelise(mlp, {.data = 2, .pipeline = 2, .microbatches = 2}).module));
  Data data;
  data.set_seed(1);
  Options options;
  const auto hashes = run_on({again(m)}, 1, data, options).executables;
  ASSERT_EQ(hashes.size(), 4u);
  for (unsigned ranks : {2u, 4u}) EXPECT_EQ(run_on({again(m)}, ranks, data, options).executables, hashes) << ranks;
  EXPECT_NE(run_on({again(m, 3)}, 2, data, options).executables, hashes) << "slots are part of a program";
  options.executables = hashes;
  EXPECT_EQ(rejection({again(m)}, 4, data, options), "accepted");
  ++options.executables.at(2);
  options.executables.erase(4);
  EXPECT_THAT(rejection({again(m)}, 4, data, options),
              HasSubstr("rank 1 has compiled another executable for device 2 than the one that is wanted; rank 3 "
                        "has compiled another executable for device 4"));
}

TEST(Run, a_loop_that_goes_round_two_devices_is_written_out) {
  const Module m = parse(R"(module
variable "x" input 0: Tensor[(2), float32, 0] = float32(2)[1.0, 2.0]
variable "w" input 1: Tensor[(2), float32, 1] = float32(2)[2.0, 3.0]

graph main(x: Tensor[(2), float32, 0], w: Tensor[(2), float32, 1]):
    y: Tensor[(2), float32, 0] = repeat(x, w, count=3) @round
    return
    final x = y

graph round(a: Tensor[(2), float32, 0], w: Tensor[(2), float32, 1]):
    there: Tensor[(2), float32, 1] = send(a, device=1)
    m: Tensor[(2), float32, 1] = mul(there, w)
    back: Tensor[(2), float32, 0] = send(m, device=0)
    b: Tensor[(2), float32, 0] = add(back, a)
    return b
)");
  Options options;
  options.steps = 2;
  const Program p = again(m);
  EXPECT_EQ(p.channels.size(), 6u);
  for (unsigned ranks : {1u, 2u}) {
    const Result r = run_on({p}, ranks, {}, options);
    EXPECT_EQ(*testing::find(r.variables, "x"), HostTensor::of_floats(DType::float32, {2}, std::vector<double>{729, 8192})) << ranks;
  }
}

// Four replicas, which meet in all the ways there are, also in a graph that they call; one variable is the same for all, one for two each.
constexpr const char* kReplicas = R"(module replicas 4
stream 0 "x" to device: Tensor[(2, 3), float32]
stream 1 "a" to host: Tensor[(2, 3), float32]
stream 2 "b" to host: Tensor[(2, 3), float32]
stream 3 "c" to host: Tensor[(4, 2, 3), float32]
stream 4 "d" to host: Tensor[(2, 6), float32]
stream 5 "e" to host: Tensor[(2), float32]
stream 6 "f" to host: Tensor[(2), float32]
stream 7 "h" to host: Tensor[(2, 3), float32]
buffer 0 number 1: Tensor[(2, 3), float32] x 1
variable "w" input 0: Tensor[(2, 3), float32] = float32(2, 3)[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
variable "v" input 1 groups [0, 1, 0, 1]: Tensor[(2, 3), float32] = float32(2, 2, 3)[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0]
variable "far" row 0 of @buffer0: Tensor[(2, 3), float32] = float32(2, 3)[1.0, 1.0, 1.0, 1.0, 1.0, 1.0]

graph main(w: Tensor[(2, 3), float32], v: Tensor[(2, 3), float32]):
    row: Tensor[(), uint32] = constant(data=uint32()[0])
    far: Tensor[(2, 3), float32] = remote_load(row, buffer=@buffer0)
    loaded: Tensor[(2, 3), float32] = host_load(stream=@stream0)
    x: Tensor[(2, 3), float32] = add(loaded, far)
    remote_store(row, x, buffer=@buffer0)
    a: Tensor[(2, 3), float32] = replicated_all_reduce(x, op="add")
    b: Tensor[(2, 3), float32] = replicated_all_reduce(x, op="mean", stride=2, group_size=2)
    c: Tensor[(4, 2, 3), float32] = replicated_all_gather(x, output_shape="new_axis")
    d: Tensor[(2, 6), float32] = replicated_all_gather(x, axis=1, group_size=2, output_shape="concat", stride=1)
    e: Tensor[(2), float32] = replicated_reduce_scatter(x, op="max")
    f: Tensor[(2), float32, shard_of (2, 3)] = replica_sharded_slice(v)
    h: Tensor[(2, 3), float32] = replicated_all_gather(f, output_shape="meta_shape")
    k: Tensor[(2, 3), float32] = call(v) @inner
    w1: Tensor[(2, 3), float32] = add(w, a)
    host_store(a, stream=@stream1)
    host_store(b, stream=@stream2)
    host_store(c, stream=@stream3)
    host_store(d, stream=@stream4)
    host_store(e, stream=@stream5)
    host_store(f, stream=@stream6)
    host_store(h, stream=@stream7)
    return a
    final w = w1
    final v = k

graph inner(t: Tensor[(2, 3), float32]):
    z: Tensor[(3), float32] = replicated_slice(t, axis=0, group_size=2, stride=1)
    q: Tensor[(3), float32] = replicated_all_reduce(z, group_size=2, op="add", stride=1)
    r: Tensor[(2, 3), float32] = add(t, q)
    return r
)";

TEST(Run, replicas_are_devices_and_equal_the_interpreter) {
  constexpr std::int64_t kSteps = 2;
  HostTensor x(DType::float32, {kSteps, 4, 2, 3});
  for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, static_cast<double>(i * i % 17));
  const Module m = parse(kReplicas);
  Interpreter interpreter(m);
  for (std::int64_t i = 0; i < kSteps; ++i) {
    interpreter.set_input(HostStreamId(0), transform::part_of(x, {i, 0, 0, 0}, {1, 4, 2, 3}));
    interpreter.run();
  }
  Data data;
  data.add_array("x", x);
  Options options;
  options.steps = kSteps;
  const Program p = again(m);
  ASSERT_EQ(p.parts.size(), 4u);
  ASSERT_TRUE(p.pieces);
  data.set_pieces(*p.pieces);
  const Program in_parts = again_in_parts(m, 0);
  EXPECT_GT(in_parts.channels.size(), p.channels.size());
  const std::pair<const Program*, unsigned> runs[] = {{&p, 1}, {&p, 2}, {&p, 4}, {&in_parts, 1}, {&in_parts, 4}};
  for (const auto& [program, ranks] : runs) {
    const Result r = join(run_on({*program}, ranks, data, options), *p.pieces);
    for (std::uint32_t s = 1; s < m.stream_count(); ++s) {
      const HostStream& stream = m.stream(HostStreamId(s));
      const HostTensor* const found = testing::find(r.outputs, stream.name);
      ASSERT_TRUE(found) << stream.name;
      Shape shape{4};
      shape.insert(shape.end(), stream.shape.begin(), stream.shape.end());
      Shape last(shape.size() + 1, 0), box = shape;
      last[0] = kSteps - 1;
      box.insert(box.begin(), 1);
      EXPECT_EQ(transform::part_of(*found, last, box).reshaped(shape), interpreter.output(HostStreamId(s), 1).reshaped(shape))
          << stream.name;
    }
    EXPECT_EQ(*testing::find(r.variables, "w"), interpreter.state(StateId(0), 0));
    HostTensor v(DType::float32, {2, 2, 3});
    for (std::int64_t g : {0, 1}) transform::put_part(v, interpreter.state(StateId(1), g).reshaped({1, 2, 3}), {g, 0, 0});
    EXPECT_EQ(*testing::find(r.variables, "v"), v);
  }
}

// Device 0 loads row 0, device 1 loads, adds to and stores row 1, over what it has; device 0 sees it.
constexpr const char* kShared = R"(module
buffer 0 number 1: Tensor[(2), float32] x 2
variable "r0" row 0 of @buffer0: Tensor[(2), float32] = float32(2)[1.0, 2.0]
variable "r1" row 1 of @buffer0: Tensor[(2), float32] = float32(2)[3.0, 4.0]
variable "t" input 0: Tensor[(2), float32, 1] = float32(2)[0.0, 0.0]

graph main(t: Tensor[(2), float32, 1]):
    first: Tensor[(), uint32, 0] = constant(data=uint32()[0])
    second: Tensor[(), uint32, 1] = constant(data=uint32()[1])
    a: Tensor[(2), float32, 0] = remote_load(first, buffer=@buffer0)
    b: Tensor[(2), float32, 1] = remote_load_into(t, second, buffer=@buffer0)
    there: Tensor[(2), float32, 1] = send(a, device=1)
    c: Tensor[(2), float32, 1] = add(there, b)
    remote_store(second, c, buffer=@buffer0)
    one: Tensor[(), uint32, 0] = constant(data=uint32()[1])
    d: Tensor[(2), float32, 0] = remote_load(one, buffer=@buffer0)
    return d
    final t = b
)";

TEST(Run, a_remote_buffer_that_two_devices_use_lies_with_one_of_them) {
  Options options;
  options.steps = 2;
  for (unsigned ranks : {1u, 2u}) {
    for (std::int64_t capacity : {0, 1, -1}) {
      const Program p = split_program(parse(kShared), {.capacity = capacity});
      const Result r = run_on({p}, ranks, {}, options);
      EXPECT_EQ(*testing::find(r.outputs, "d"), HostTensor::of_floats(DType::float32, {2, 2}, std::vector<double>{4, 6, 5, 8}))
          << ranks << ' ' << capacity;
      EXPECT_EQ(*testing::find(r.variables, "r1"), HostTensor::of_floats(DType::float32, {2}, std::vector<double>{5, 8}));
      EXPECT_EQ(*testing::find(r.variables, "t"), HostTensor::of_floats(DType::float32, {2}, std::vector<double>{4, 6}));
    }
  }
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

TEST(Split, rejects_what_ranks_cannot_run) {
  const auto id = [](const std::string& text, const SplitOptions& options = {}) {
    try {
      split_program(parse(text), options);
    } catch (const ModelError& e) { return e.id(); }
    return std::string("accepted");
  };
  const std::string sent = R"(module
variable "x" input 0: Tensor[(2), float32, 0] = float32(2)[1.0, 2.0]

graph main(x: Tensor[(2), float32, 0]):
    y: Tensor[(2), float32, 1] = send(x, device=1)
    return y
)";
  EXPECT_EQ(id(sent), "accepted");
  // A loop on each of two devices reads the same buffer.
  const std::string body = R"((x: Tensor[(2), float32, D], k: Tensor[(), uint32, D]):
    row: Tensor[(2), float32, D] = remote_load(k, buffer=@buffer0)
    y: Tensor[(2), float32, D] = add(x, row)
    return y
)";
  const auto on = [](std::string text, char device) {
    std::replace(text.begin(), text.end(), 'D', device);
    return text;
  };
  const std::string loops = R"(module
buffer 0 number 7: Tensor[(2), float32] x 1
variable "r" row 0 of @buffer0: Tensor[(2), float32] = float32(2)[1.0, 2.0]
variable "x" input 0: Tensor[(2), float32, 0] = float32(2)[1.0, 2.0]
variable "k" input 1: Tensor[(), uint32, 0] = uint32()[0]

graph main(x: Tensor[(2), float32, 0], k: Tensor[(), uint32, 0]):
    a: Tensor[(2), float32, 0] = repeat(x, k, count=2) @here
    x1: Tensor[(2), float32, 1] = send(a, device=1)
    k1: Tensor[(), uint32, 1] = send(k, device=1)
    b: Tensor[(2), float32, 1] = repeat(x1, k1, count=2) @there
    return b

graph here)" + on(body, '0') +
                            "\ngraph there" + on(body, '1');
  EXPECT_EQ(id(loops), "buffer-of-several-devices");
  EXPECT_EQ(id(sent, {.capacities = {{"nobody", 2}}}), "stream-name");
  const Program p = split_program(parse(sent), {.capacity = 3});
  ASSERT_EQ(p.channels.size(), 1u);
  EXPECT_EQ(p.channels[0].bytes, 8u);
  for (const Part& part : p.parts) EXPECT_THAT(print(part.module), HasSubstr("slots of " + p.channels[0].name + "\" input")) << part.device;
}

// Of the user's order each device has what is between its own ops, also where it leads over another device.
TEST(Split, keeps_the_order_of_each_device) {
  const Program p = split_program(parse(R"(module
variable "x" input 0: Tensor[(2), float32, 0] = float32(2)[1.0, 2.0]
variable "y" input 1: Tensor[(2), float32, 1] = float32(2)[3.0, 4.0]

graph main(x: Tensor[(2), float32, 0], y: Tensor[(2), float32, 1]):
    [1] a: Tensor[(2), float32, 0] = exp(x)
    [2] b: Tensor[(2), float32, 1] = exp(y) after [1]
    [3] c: Tensor[(2), float32, 1] = tanh(y) after [2]
    [4] d: Tensor[(2), float32, 0] = tanh(x) after [1], [3]
    return a, b, c, d
)"));
  ASSERT_EQ(p.parts.size(), 2u);
  for (const Part& part : p.parts) {
    const auto& after = part.module.graph(part.module.main_graph()).after;
    ASSERT_EQ(after.size(), 1u) << part.device;
    EXPECT_EQ(part.module.row(after[0].first).name, "exp");
    EXPECT_EQ(part.module.row(after[0].second).name, "tanh");
  }
}

// All replicas would have to take the same branch; nothing says so.
TEST(Split, rejects_branches_in_which_replicas_meet) {
  const auto rejection = [](const std::string& text) -> std::string {
    try {
      split_program(parse(text));
    } catch (const ModelError& e) { return std::string(e.id()) + ": " + e.what(); }
    return "accepted";
  };
  const std::string variables = R"(module replicas 2
variable "x" input 0: Tensor[(2), float32] = float32(2)[1.0, 2.0]
variable "c" input 1: Tensor[(), bool] = bool()[1]
)",
                    branches = R"(
graph no(a: Tensor[(2), float32]):
    b: Tensor[(2), float32] = add(a, a)
    return b

graph meet(a: Tensor[(2), float32]):
    b: Tensor[(2), float32] = replicated_all_reduce(a, op="add")
    return b
)";
  const auto main = [](const std::string& op) {
    return "\ngraph main(x: Tensor[(2), float32], c: Tensor[(), bool]):\n    y: Tensor[(2), float32] = " + op + "\n    return y\n";
  };
  // In what is called they may.
  EXPECT_EQ(rejection(variables + main("call(x) @meet") + branches), "accepted");
  const std::string direct = rejection(variables + main("conditional(c, x, x, then_inputs=1) @meet @no") + branches);
  EXPECT_THAT(direct, HasSubstr("branch-on-several-devices: "));
  EXPECT_THAT(direct,
              HasSubstr("conditional(c, x, x, then_inputs=1) @meet @no: in its graphs values lie on several devices, or replicas meet"));
  // In what the branch calls, and in a branch of a loop.
  const std::string called = R"(
graph yes(a: Tensor[(2), float32]):
    b: Tensor[(2), float32] = call(a) @meet
    return b
)",
                    looped = R"(
graph trip(a: Tensor[(2), float32], c: Tensor[(), bool]):
    b: Tensor[(2), float32] = conditional(c, a, a, then_inputs=1) @meet @no
    return b
)";
  EXPECT_THAT(rejection(variables + main("conditional(c, x, x, then_inputs=1) @yes @no") + called + branches),
              HasSubstr("branch-on-several-devices: "));
  EXPECT_THAT(rejection(variables + main("repeat(x, c, count=2) @trip") + looped + branches), HasSubstr("branch-on-several-devices: "));
}

}  // namespace
}  // namespace pando::ranks
