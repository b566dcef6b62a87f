// Programs over several devices of one replica, against the interpreter.
#include "session/session.h"

#include "ir/semantics/interpreter.h"
#include "ir/text/parse.h"

#include <gtest/gtest.h>

namespace pando::session {
namespace {

using namespace ir;

// What is stored must be what the interpreter stores.
void expect_same(const Module& m, const Options& options) {
  Interpreter reference(m);
  reference.run();
  Session session(Module(m), options);
  session.attach();
  session.weights_from_host();
  std::vector<HostTensor> found;
  std::vector<OutputData> outputs;
  for (HostStreamId id : session.outputs()) {
    Shape shape{1, 1};
    shape.insert(shape.end(), m.stream(id).shape.begin(), m.stream(id).shape.end());
    found.emplace_back(m.stream(id).dtype, shape);
    outputs.push_back({id, found.back().writable(), 1});
  }
  session.run({}, outputs);
  EXPECT_EQ(found.size(), m.stream_count());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_EQ(found[i], reference.output(outputs[i].stream, 1)) << i << " on " << session.ipus() << " IPUs";
}

// All ops between devices; A, B and C stand for numbers.
constexpr const char* kAcross = R"(module
stream 0 "a" to host: Tensor[(4, 4), float32]
stream 1 "b" to host: Tensor[(2, 4), float32]
stream 2 "c" to host: Tensor[(2, 8), float32]
stream 3 "d" to host: Tensor[(1, 4), float32]
stream 4 "e" to host: Tensor[(4, 2), float32]
stream 5 "f" to host: Tensor[(2, 4), float32]
stream 6 "g" to host: Tensor[(4, 4), float32]
variable "x" input 0: Tensor[(4, 4), float32, 0] = float32(4, 4)[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0]

graph main(x: Tensor[(4, 4), float32, 0]):
    xs: Tuple[Tensor[(2, 4), float32, A], Tensor[(2, 4), float32, B]] = scatter_across(x, devices=[A, B], dim=0)
    first: Tensor[(2, 4), float32, A] = get_element(xs, index=0)
    square: Tensor[(2, 4), float32, A] = mul(first, first)
    second: Tensor[(2, 4), float32, B] = get_element(xs, index=1)
    ys: Tuple[Tensor[(2, 4), float32, A], Tensor[(2, 4), float32, B]] = make_tuple(square, second)
    whole: Tensor[(4, 4), float32, C] = gather_across(ys, device=C, dim=0)
    least: Tensor[(2, 4), float32, C] = reduce_across(ys, device=C, op="min")
    wide: Tuple[Tensor[(2, 8), float32, A], Tensor[(2, 8), float32, B]] = all_gather_across(ys, dim=1)
    wide_second: Tensor[(2, 8), float32, B] = get_element(wide, index=1)
    parts: Tuple[Tensor[(1, 4), float32, A], Tensor[(1, 4), float32, B]] = reduce_scatter_across(ys, dim=0, op="add")
    part_second: Tensor[(1, 4), float32, B] = get_element(parts, index=1)
    turned: Tuple[Tensor[(4, 2), float32, A], Tensor[(4, 2), float32, B]] = all_to_all_across(ys, concat_dim=0, split_dim=1)
    turned_first: Tensor[(4, 2), float32, A] = get_element(turned, index=0)
    means: Tuple[Tensor[(2, 4), float32, A], Tensor[(2, 4), float32, B]] = all_reduce_across(ys, op="mean")
    mean_second: Tensor[(2, 4), float32, B] = get_element(means, index=1)
    home: Tensor[(2, 4), float32, 0] = send(mean_second, device=0)
    copies: Tuple[Tensor[(4, 4), float32, B], Tensor[(4, 4), float32, 0]] = broadcast_across(whole, devices=[B, 0])
    copy: Tensor[(4, 4), float32, 0] = get_element(copies, index=1)
    host_store(whole, stream=@stream0)
    host_store(least, stream=@stream1)
    host_store(wide_second, stream=@stream2)
    host_store(part_second, stream=@stream3)
    host_store(turned_first, stream=@stream4)
    host_store(home, stream=@stream5)
    host_store(copy, stream=@stream6)
    return means
)";

// A layer that is split over two devices by its data: each computes the gradient of its part, the sum of which updates the weight
// everywhere.
constexpr const char* kDataParallel = R"(module
stream 0 "y" to host: Tensor[(4, 2), float32]
stream 1 "w" to host: Tensor[(2, 2), float32]
variable "x" input 0: Tensor[(4, 2), float32, 0] = float32(4, 2)[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
variable "w" input 1: Tensor[(2, 2), float32, 0] = float32(2, 2)[1.0, 0.0, 1.0, 1.0]

graph main(x: Tensor[(4, 2), float32, 0], w: Tensor[(2, 2), float32, 0]):
    xs: Tuple[Tensor[(2, 2), float32, 1], Tensor[(2, 2), float32, 2]] = scatter_across(x, devices=[1, 2], dim=0)
    ws: Tuple[Tensor[(2, 2), float32, 1], Tensor[(2, 2), float32, 2]] = broadcast_across(w, devices=[1, 2])
    (ys: Tuple[Tensor[(2, 2), float32, 1], Tensor[(2, 2), float32, 2]], gs: Tuple[Tensor[(2, 2), float32, 1], Tensor[(2, 2), float32, 2]]) = pmap(xs, ws, device_var=0) @body
    sums: Tuple[Tensor[(2, 2), float32, 1], Tensor[(2, 2), float32, 2]] = all_reduce_across(gs, op="add")
    news: Tuple[Tensor[(2, 2), float32, 1], Tensor[(2, 2), float32, 2]] = pmap(ws, sums, device_var=0) @update
    y: Tensor[(4, 2), float32, 0] = gather_across(ys, device=0, dim=0)
    new: Tensor[(2, 2), float32, 2] = get_element(news, index=1)
    home: Tensor[(2, 2), float32, 0] = send(new, device=0)
    host_store(y, stream=@stream0)
    host_store(home, stream=@stream1)
    return

graph body(xi: Tensor[(2, 2), float32, d0], wi: Tensor[(2, 2), float32, d0]):
    yi: Tensor[(2, 2), float32, d0] = matmul(xi, wi)
    xt: Tensor[(2, 2), float32, d0] = transpose(xi, permutation=[1, 0])
    gi: Tensor[(2, 2), float32, d0] = matmul(xt, yi)
    return yi, gi

graph update(wi: Tensor[(2, 2), float32, d0], gi: Tensor[(2, 2), float32, d0]):
    ni: Tensor[(2, 2), float32, d0] = sub(wi, gi)
    return ni
)";

TEST(Distributed, a_graph_is_mapped_over_devices) {
  Options options;
  options.tiles_per_ipu = 4;
  expect_same(parse(kDataParallel), options);
  options.device = "cpu";
  expect_same(parse(kDataParallel), options);
}

// What a variable becomes lies elsewhere than the variable: only the main program brings it home, not that which uploads.
TEST(Distributed, uploads_leave_what_they_bring) {
  const Module m = parse(R"(module
stream 0 "before" to host: Tensor[(4), float32]
variable "w" input 0: Tensor[(4), float32, 0] = float32(4)[1.0, 2.0, 3.0, 4.0]
variable "v" input 1: Tensor[(2), float32, 1] = float32(2)[5.0, 6.0]

graph main(w: Tensor[(4), float32, 0], v: Tensor[(2), float32, 1]):
    host_store(w, stream=@stream0)
    half: Tensor[(2), float32, 0] = slice(w, axis=[0], start=[0], step=[1], stop=[2])
    new: Tensor[(2), float32, 0] = add(half, half)
    news: Tuple[Tensor[(2), float32, 0], Tensor[(2), float32, 1]] = make_tuple(new, v)
    whole_tensors: Tuple[Tensor[(4), float32, 0], Tensor[(4), float32, 1]] = all_gather_across(news, dim=0)
    whole: Tensor[(4), float32, 0] = get_element(whole_tensors, index=0)
    return
    final w = whole
)");
  Options options;
  options.tiles_per_ipu = 4;
  expect_same(m, options);
  options.device = "cpu";
  expect_same(m, options);
}

// What is summed over devices lies on its own.
TEST(Distributed, rows_are_added_up_where_they_lie) {
  const Module m = parse(R"(module
stream 0 "sum" to host: Tensor[(8, 4), float32]
variable "a" input 0: Tensor[(3, 4), float32, 0] = float32(3, 4)[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 1.0, 2.0, 3.0]
variable "b" input 1: Tensor[(3, 4), float32, 1] = float32(3, 4)[4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
variable "i" input 2: Tensor[(3), int32, 0] = int32(3)[1, 5, 1]
variable "j" input 3: Tensor[(3), int32, 1] = int32(3)[5, 0, 7]

graph main(a: Tensor[(3, 4), float32, 0], b: Tensor[(3, 4), float32, 1], i: Tensor[(3), int32, 0], j: Tensor[(3), int32, 1]):
    first: Tensor[(8, 4), float32, 0] = scatter_reduce(a, i, axis=0, axis_size=8, reduction="sum")
    second: Tensor[(8, 4), float32, 1] = scatter_reduce(b, j, axis=0, axis_size=8, reduction="sum")
    both: Tuple[Tensor[(8, 4), float32, 0], Tensor[(8, 4), float32, 1]] = make_tuple(first, second)
    sums: Tuple[Tensor[(8, 4), float32, 0], Tensor[(8, 4), float32, 1]] = all_reduce_across(both, op="add")
    sum: Tensor[(8, 4), float32, 1] = get_element(sums, index=1)
    host_store(sum, stream=@stream0)
    return
)");
  Options options;
  options.tiles_per_ipu = 4;
  expect_same(m, options);
  options.device = "cpu";
  expect_same(m, options);
}

TEST(Distributed, ops_between_devices_are_copies_and_sums) {
  const auto on = [](std::string a, std::string b, std::string c) {
    std::string text = kAcross;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const std::string* device = text[i] == 'A' ? &a : text[i] == 'B' ? &b : text[i] == 'C' ? &c : nullptr;
      if (device) text.replace(i, 1, *device);
    }
    return parse(text);
  };
  Options options;
  options.tiles_per_ipu = 4;
  expect_same(on("0", "1", "0"), options);
  expect_same(on("1", "2", "0"), options);
  expect_same(on("2", "1", "3"), options);
  options.device = "cpu";
  expect_same(on("1", "2", "0"), options);
}

// A final that is no new version of its input, but made anew; and streams that functions bring and take.
TEST(Distributed, variables_become_what_is_made_anew) {
  const Module m = parse(R"(module
stream 0 "a" to device: Tensor[(2), float32]
stream 1 "b" to host: Tensor[(2), float32]
variable "w" input 0: Tensor[(2), float32, 0] = float32(2)[1.0, 2.0]

graph main(w: Tensor[(2), float32, 0]):
    a: Tensor[(2), float32, 0] = host_load(stream=@stream0)
    b: Tensor[(2), float32, 0] = add(a, w)
    host_store(b, stream=@stream1)
    return
    final w = b
)");
  Options options;
  options.device = "cpu";
  Session session(Module(m), options);
  std::vector<float> taken;
  std::string steps;
  session.connect(HostStreamId(0), [](void* block) { static_cast<float*>(block)[0] = static_cast<float*>(block)[1] = 10; });
  session.connect(HostStreamId(1),
                  [&](void* block) { taken.insert(taken.end(), static_cast<float*>(block), static_cast<float*>(block) + 2); });
  session.on_step([&](const StepDone& step) { steps += std::string(step.name) + ' '; });
  EXPECT_THROW(session.connect(HostStreamId(7), {}), std::exception);
  session.attach();
  session.weights_from_host();
  session.run({}, {});
  session.run({}, {});
  EXPECT_EQ(taken, (std::vector<float>{11, 12, 21, 22}));
  EXPECT_EQ(session.data(StateId(0)), HostTensor::of_floats(DType::float32, {2}, std::vector<double>{21, 22}));
  EXPECT_NE(steps.find('b'), std::string::npos) << steps;
}

}  // namespace
}  // namespace pando::session
