// Streams, remote buffers, host functions, direct reads and writes.
#include "world.h"

#include <poplar/exceptions.hpp>

namespace conformance {
namespace {

using poplar::Tensor;
using namespace poplar::program;

// Host buffers outlive the engine: cases keep them here until the next case.
std::vector<float>& buffer(std::size_t which, std::vector<float> values) {
  static std::vector<float> buffers[4];
  return buffers[which] = std::move(values);
}

void streams_from_a_ring(World& w) {
  const Tensor v = w.variable(poplar::FLOAT, {2, 2}, "v");
  const poplar::DataStream in = w.graph.addHostToDeviceFIFO("in", poplar::FLOAT, 4);
  const poplar::DataStream out = w.graph.addDeviceToHostFIFO("out", poplar::FLOAT, 4);
  w.program.add(Repeat(3, Sequence({Copy(in, v), Copy(v.transpose(), out)})));
  poplar::Engine& engine = w.engine();
  std::vector<float>& source = buffer(0, {1, 2, 3, 4, 5, 6, 7, 8});
  std::vector<float>& sink = buffer(1, std::vector<float>(12));
  engine.connectStream("in", source.data(), source.data() + source.size());
  engine.connectStream(out, sink.data(), sink.data() + sink.size());
  w.run();
  w.keep(sink.data(), 48);
  w.expect(sink, {1, 3, 2, 4, 5, 7, 6, 8, 1, 3, 2, 4}, "two blocks in turn, transposed");
  w.run();
  w.expect(sink, {5, 7, 6, 8, 1, 3, 2, 4, 5, 7, 6, 8}, "the ring goes on where it was");
}

void streams_of_one_block(World& w) {
  const Tensor v = w.variable(poplar::FLOAT, {3}, "v");
  const poplar::DataStream in = w.graph.addHostToDeviceFIFO("in", poplar::FLOAT, 3);
  const poplar::DataStream out = w.graph.addDeviceToHostFIFO("out", poplar::FLOAT, 3);
  w.program.add(Repeat(2, Sequence({Copy(in, v), Copy(v.reverse(0), out)})));
  poplar::Engine& engine = w.engine();
  std::vector<float>& source = buffer(0, {1, 2, 3});
  std::vector<float>& sink = buffer(1, std::vector<float>(3));
  engine.connectStream(in, source.data());
  engine.connectStream("out", sink.data());
  w.run();
  w.expect(sink, {3, 2, 1}, "the same block every time");
}

class Counter final : public poplar::StreamCallback {
 public:
  explicit Counter(std::string* log) : log_(log) {}
  Result prefetch(void*) override { return Result::NotAvailable; }
  void fetch(void* p) override {
    const float block[2] = {next_, next_ + 0.5f};
    std::memcpy(p, block, sizeof block);
    next_ += 1;
    *log_ += "f";
  }
  void complete() override { *log_ += "c"; }

 private:
  std::string* log_;
  float next_ = 1;
};

void streams_from_callbacks(World& w) {
  static std::string log;
  static std::vector<float> received;
  log.clear();
  received.clear();
  const Tensor v = w.variable(poplar::FLOAT, {2}, "v");
  const poplar::DataStream in = w.graph.addHostToDeviceFIFO("in", poplar::FLOAT, 2);
  const poplar::DataStream out = w.graph.addDeviceToHostFIFO("out", poplar::FLOAT, 2);
  w.program.add(Repeat(3, Sequence({Copy(in, v), Copy(v, out)})));
  poplar::Engine& engine = w.engine();
  engine.connectStreamToCallback("in", std::unique_ptr<poplar::StreamCallback>(new Counter(&log)));
  engine.connectStreamToCallback(out, [](void* p) {
    const float* block = static_cast<const float*>(p);
    received.insert(received.end(), block, block + 2);
  });
  w.run();
  w.keep(log.data(), log.size());
  w.expect(received, {1, 1.5, 2, 2.5, 3, 3.5}, "blocks of a callback");
  w.expect(log == "fcfcfc", "fetch, then complete, per block: " + log);
}

void an_unconnected_stream_is_an_error(World& w) {
  const Tensor v = w.variable(poplar::FLOAT, {2}, "v");
  w.program.add(Copy(w.graph.addHostToDeviceFIFO("input", poplar::FLOAT, 2), v));
  poplar::Engine& engine = w.engine();
  w.expect_throws<poplar::stream_connection_error>([&] { engine.run(0); }, "input", "an unconnected stream");
  float block[3] = {};
  w.expect_throws<poplar::stream_connection_error>([&] { engine.connectStream("inputs", block); }, "inputs", "an unknown handle");
  w.expect_throws<poplar::stream_connection_error>([&] { engine.connectStream("input", block, block + 3); }, "",
                                                   "a buffer that is no multiple of the block");
}

void remote_buffers(World& w) {
  const Tensor v = w.variable(poplar::FLOAT, {3, 2}, "v"), back = w.variable(poplar::FLOAT, {2, 2}, "back");
  const Tensor rows = w.variable(poplar::UNSIGNED_INT, {3}, std::vector<unsigned>{4, 0, 2}, "rows");
  const Tensor row = w.variable(poplar::UNSIGNED_INT, {1}, std::vector<unsigned>{2}, "row");
  const poplar::RemoteBuffer far = w.graph.addRemoteBuffer("far", poplar::FLOAT, 2, 5);
  const poplar::RemoteBuffer near = w.graph.addRemoteBuffer("near", poplar::FLOAT, 4);
  w.program.add(Copy(far, v, rows));
  w.program.add(Copy(v.slice(1, 3).reverse(0), far, rows.slice(0, 2)));
  w.program.add(Copy(v.slice(0, 2), near));
  w.program.add(Copy(near, back));
  w.program.add(Copy(far, v.slice(2, 3), row));
  w.readable("v", v);
  w.readable("back", back);
  poplar::Engine& engine = w.engine();
  for (unsigned r = 0; r < 5; ++r) {
    float values[2] = {10.0f * r, 10.0f * r + 1};
    engine.copyToRemoteBuffer(values, "far", static_cast<int>(r));
  }
  w.run();
  w.expect(w.read<float>("v", 6), {40, 41, 0, 1, 20, 21}, "rows 4, 0 and 2");
  w.expect(w.read<float>("back", 4), {40, 41, 0, 1}, "there and back");
  std::vector<float> all;
  for (int r = 0; r < 5; ++r) {
    float values[2];
    engine.copyFromRemoteBuffer("far", values, r);
    all.insert(all.end(), values, values + 2);
  }
  w.keep(all.data(), 40);
  w.expect(all, {0, 1, 10, 11, 20, 21, 30, 31, 20, 21}, "row 4 became row 2's, row 0 itself");
}

void host_functions(World& w) {
  const Tensor v = w.counting({4}, "v", 1), sum = w.variable(poplar::FLOAT, {1}, "sum"), n = w.variable(poplar::INT, {1}, "n");
  const poplar::HostFunction f =
      w.graph.addHostFunction("sum", {poplar::Graph::HostFunctionArgument{poplar::FLOAT, 4}},
                              {poplar::Graph::HostFunctionArgument{poplar::FLOAT, 1}, poplar::Graph::HostFunctionArgument{poplar::INT, 1}});
  w.program.add(Call(f, {v.reverse(0)}, {sum, n}));
  w.program.add(Copy(sum, v.slice(0, 1)));
  w.program.add(Call(f, {v}, {sum, n}));
  w.readable("sum", sum);
  w.readable("n", n);
  class Sum final : public poplar::HostCallback {
   public:
    void operator()(poplar::ArrayRef<const void*> inputs, poplar::ArrayRef<void*> outputs) override {
      const float* in = static_cast<const float*>(inputs[0]);
      float total = 0;
      for (int i = 0; i < 4; ++i) total += in[i];
      std::memcpy(outputs[0], &total, 4);
      ++calls_;
      std::memcpy(outputs[1], &calls_, 4);
    }

   private:
    int calls_ = 0;
  };
  poplar::Engine& engine = w.engine();
  engine.connectHostFunction("sum", 0, std::unique_ptr<poplar::HostCallback>(new Sum));
  w.run();
  w.expect(w.read<float>("sum", 1), {19}, "10 + 2 + 3 + 4");
  w.expect(w.read<int>("n", 1), {2}, "two calls");
}

void direct_reads_and_writes(World& w) {
  const Tensor v = w.counting({2, 3}, "v");
  w.graph.createHostWrite("in", v.transpose());
  w.readable("v", v);
  w.readable("part", v[1].slice(1, 3));
  poplar::Engine& engine = w.engine();
  w.expect(w.read<float>("v", 6), {0, 1, 2, 3, 4, 5}, "initial values");
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  engine.writeTensor("in", values.data());
  w.expect(w.read<float>("v", 6), {1, 3, 5, 2, 4, 6}, "written through a transpose");
  w.expect(w.read<float>("part", 2), {4, 6}, "a part");
  float one = 0;
  w.expect_throws<poplar::poplar_error>([&] { engine.readTensor("part", &one, &one + 1); }, "part", "a range of the wrong size");
  w.expect_throws<poplar::poplar_error>([&] { engine.readTensor("nothing", &one, &one + 1); }, "nothing", "an unknown handle");
}

}  // namespace

std::vector<Case> host_cases() {
  return {{"streams_from_a_ring", streams_from_a_ring},
          {"streams_of_one_block", streams_of_one_block},
          {"streams_from_callbacks", streams_from_callbacks},
          {"an_unconnected_stream_is_an_error", an_unconnected_stream_is_an_error},
          {"remote_buffers", remote_buffers},
          {"host_functions", host_functions},
          {"direct_reads_and_writes", direct_reads_and_writes}};
}

}  // namespace conformance
