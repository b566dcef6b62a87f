#include "simulate/simulate.h"

#include <poplar/exceptions.hpp>
#include "ir/error.h"
#include "ir/text/parse.h"
#include "simulate/cluster_json.h"
#include "simulate/costs/flatten.h"
#include "simulate/csv.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <random>

namespace pando::simulate {
namespace {

// Two replicas of a product, their sum, and the result at home; then five trips of a loop.
constexpr const char* kProgram = R"(module
graph main(x: Tensor[(64, 32), float32, 0], w: Tensor[(32, 32), float32, 0]):
    xs: Tuple[Tensor[(32, 32), float32, 1], Tensor[(32, 32), float32, 2]] = scatter_across(x, devices=[1, 2], dim=0)
    ws: Tuple[Tensor[(32, 32), float32, 1], Tensor[(32, 32), float32, 2]] = broadcast_across(w, devices=[1, 2])
    ys: Tuple[Tensor[(32, 32), float32, 1], Tensor[(32, 32), float32, 2]] = pmap(xs, ws, device_var=0) @body
    sums: Tuple[Tensor[(32, 32), float32, 1], Tensor[(32, 32), float32, 2]] = all_reduce_across(ys, op="add")
    first: Tensor[(32, 32), float32, 1] = get_element(sums, index=0)
    y: Tensor[(32, 32), float32, 0] = send(first, device=0)
    z: Tensor[(32, 32), float32, 0] = repeat(y, w, count=5) @trip
    return z

graph body(xi: Tensor[(32, 32), float32, d0], wi: Tensor[(32, 32), float32, d0]):
    yi: Tensor[(32, 32), float32, d0] = matmul(xi, wi)
    r: Tensor[(32, 32), float32, d0] = relu(yi)
    return r

graph trip(t: Tensor[(32, 32), float32, 0], wt: Tensor[(32, 32), float32, 0]):
    p: Tensor[(32, 32), float32, 0] = matmul(t, wt)
    q: Tensor[(32, 32), float32, 0] = relu(p)
    return q
)";

Cluster small_cluster() {
  Cluster c = cluster_named("bow-pod");
  c.levels[0].devices = 2;
  c.levels[1].devices = 4;
  c.levels[1].shared_bytes_per_second = 1e10;
  c.levels[0].slowdown = 0.3;
  return c;
}

TEST(Simulate, APlacedProgram) {
  const ir::Module m = ir::parse(kProgram);
  const Cluster cluster = small_cluster();
  const ClusterCostModel costs(cluster);
  const Program p = flatten(m, costs);
  EXPECT_EQ(p.devices(), 3);
  // scatter, broadcast, 2 x (matmul, relu), all-reduce, send, 5 x (matmul, relu)
  EXPECT_EQ(p.unfolded_steps(), 2 + 4 + 2 + 10);
  const Timeline folded = run_clock(p, cluster), unfolded = run_clock(p, cluster, {.folded = false});
  EXPECT_EQ(folded.seconds, unfolded.seconds);
  EXPECT_EQ(folded.devices, unfolded.devices);
  EXPECT_LT(folded.steps_run, unfolded.steps_run);
  EXPECT_EQ(unfolded.steps_run, p.unfolded_steps());
  EXPECT_GT(folded.devices[1].transferring, 0);
  EXPECT_EQ(folded.devices[1].computing, folded.devices[2].computing);
  // Device 1 has its part of x and w, then yi and r of which one is dropped, then the sum beside r.
  const auto memory = measure_memory(p);
  EXPECT_EQ(memory[1].peak, 4 * 32 * 32 * 4);
  EXPECT_EQ(memory, measure_memory(p, false));
}

TEST(Simulate, MessagesAndMemoryOfEvents) {
  const Cluster cluster = small_cluster();
  const Program p = flatten(ir::parse(kProgram), ClusterCostModel(cluster));
  const Timeline t = run_clock(p, cluster, {.record_events = true}), reference = run_reference_clock(p, true);
  std::vector<std::string> messages;
  for (const Message& m : t.messages) messages.push_back(fmt::format("{} {}-{} {}", p.label(m.label), m.from, m.to, m.bytes));
  // The all-reduce leaves its values where they are.
  EXPECT_THAT(messages, testing::ElementsAre("scatter_across 0-1 4096", "scatter_across 0-2 4096", "broadcast_across 0-1 4096",
                                             "broadcast_across 0-2 4096", "send 1-0 4096"));
  EXPECT_EQ(reference.messages.size(), messages.size());
  EXPECT_EQ(t.messages[0].received - t.messages[0].sent, t.events[0].seconds);
  const std::vector<std::int64_t> bytes = memory_of_events(p);
  ASSERT_EQ(bytes.size(), t.events.size());
  ASSERT_EQ(bytes.size(), reference.events.size());
  std::int64_t most = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(t.events[i].label, reference.events[i].label);
    if (t.events[i].device == 1) most = std::max(most, bytes[i]);
  }
  EXPECT_EQ(most, measure_memory(p)[1].peak);
}

TEST(Simulate, TracesAreJsonWithEveryStep) {
  const ir::Module m = ir::parse(kProgram);
  const Cluster cluster = small_cluster();
  const Program p = flatten(m, ClusterCostModel(cluster));
  const Timeline t = run_clock(p, cluster, {.record_events = true});
  const auto json = nlohmann::json::parse(chrome_trace(p, t));
  std::size_t events = 0;
  double end = 0;
  for (const auto& e : json) {
    if (e["ph"] != "X") continue;
    ++events;
    end = std::max(end, e["ts"].get<double>() + e["dur"].get<double>());
  }
  EXPECT_EQ(events, t.events.size());
  EXPECT_NEAR(end, t.seconds * 1e6, 1e-6);
}

TEST(Simulate, WhichBranchRunsIsNotKnown) {
  const ir::Module m = ir::parse(R"(module
graph main(c: bool[0], x: float32[0]):
    y: float32[0] = conditional(c, x, x, then_inputs=1) @a @b
    return y

graph a(p: float32[0]):
    return p

graph b(q: float32[0]):
    return q
)");
  EXPECT_THROW(flatten(m, ClusterCostModel(small_cluster())), ModelError);
}

TEST(Simulate, DeviceVariablesAreBound) {
  const ir::Module m = ir::parse(R"(module
graph main(x: float32[0], y: float32[d0]):
    z: float32[d0] = call(y) @a
    return x, z

graph a(p: float32[d0]):
    q: float32[d0] = relu(p)
    return q
)");
  try {
    flatten(m, ClusterCostModel(small_cluster()));
    ADD_FAILURE() << "simulated";
  } catch (const ModelError& e) { EXPECT_EQ(e.id(), "device-variable"); }
}

TEST(Simulate, MeasuredOpsComeFirst) {
  const ir::Module m = ir::parse(kProgram);
  const ClusterCostModel otherwise(small_cluster());
  const TableCostModel table(otherwise, "# measured\nmatmul float32(32, 32) float32(32, 32),0.25\n", "ops.csv");
  const Timeline t = run_clock(flatten(m, table), small_cluster());
  EXPECT_GT(t.seconds, 6 * 0.25);
  EXPECT_LT(t.seconds, 6.1 * 0.25);
  EXPECT_THROW(TableCostModel(otherwise, "matmul\n", "ops.csv"), poplar::poplar_error);
}

template <class F>
std::string rejection(F f) {
  try {
    f();
  } catch (const poplar::poplar_error& e) { return e.what(); }
  return "no error";
}

TEST(Simulate, TablesThatCannotBeReadAreRejectedWithTheirPlace) {
  const auto ops = [](const char* text) {
    return rejection([&] {
      const ClusterCostModel otherwise(small_cluster());
      TableCostModel(otherwise, text, "ops.csv");
    });
  };
  EXPECT_EQ(ops("# ops\nadd,1\nmatmul\n"), "ops.csv:3: 'matmul'; a line is an op's signature, a comma, and its seconds [op-table]");
  const auto csv = [](const char* text, auto use) { return rejection([&] { use(Csv::read(text, "t.csv")); }); };
  const auto nothing = [](const Csv&) {};
  EXPECT_EQ(csv("a,b\n\n1,2\n3\n", nothing), "t.csv:4: 1 cells, the first line has 2 [csv]");
  EXPECT_EQ(csv("a,b\n1,2\n", [](const Csv& t) { t.text(0, "c"); }), "t.csv: no column 'c' [csv]");
  // The line of the file, which empty ones count for.
  EXPECT_EQ(csv("a,b\n\n1,2\n\n3,x\n", [](const Csv& t) { t.number(1, "b"); }), "t.csv:5: column 'b': 'x' is not a number [csv]");
}

TEST(Simulate, ClustersThatCannotBeReadAreRejectedWithTheirPlace) {
  const auto message = [](const std::string& text) { return rejection([&] { cluster_from_json(text, "c.json"); }); };
  const std::string whole = to_json(small_cluster());
  EXPECT_EQ(message(whole), "no error");
  EXPECT_THAT(message("{\n  \"name\": ]\n}"), testing::StartsWith("c.json:2:11: "));
  EXPECT_THAT(message("{}"), testing::AllOf(testing::StartsWith("c.json: "), testing::EndsWith(" [cluster-file]")));
  Cluster c = small_cluster();
  c.memory_bytes_per_second = 0;
  EXPECT_EQ(message(to_json(c)), "c.json: memory_bytes_per_second is 0; it must be more than 0 [cluster-file]");
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return message(text.replace(at, from.size(), to));
  };
  EXPECT_EQ(
      message("{\"name\": \"x\"}"),
      "c.json: the machine lacks half_operations, single_operations, vector_operations, memory_bytes_per_second, memory_bytes, levels; "
      "pando calibrate writes such a file [cluster-file]");
  EXPECT_EQ(replaced("\"memory_bytes_per_second\"", "\"memory_bytes_pro_second\""),
            "c.json: the machine has a member 'memory_bytes_pro_second', which is not known; the nearest is memory_bytes_per_second "
            "[cluster-file]");
  EXPECT_THAT(replaced("\"launch\"", "\"zzz\""), testing::HasSubstr("'zzz', which is not known; known are name, doc, source, "));
  EXPECT_EQ(replaced("\"latency\"", "\"latensy\""),
            "c.json: level 0 has a member 'latensy', which is not known; the nearest is latency [cluster-file]");
  EXPECT_THAT(replaced("\"launch\": ", "\"launch\": \"soon\", \"microbatch_seconds\": "),
              testing::HasSubstr("launch is \"soon\"; a number is expected"));
  EXPECT_THAT(message("[1]"), testing::HasSubstr("the machine is not an object"));
}

// Random bodies that call and repeat each other.
class RandomProgram {
 public:
  explicit RandomProgram(unsigned seed) : random_(seed) {}

  Program make() {
    const int bodies = 1 + number(4);
    program_.bodies.resize(static_cast<std::size_t>(bodies));
    for (int b = bodies; b-- > 0;) fill(static_cast<std::uint32_t>(b), bodies);
    return std::move(program_);
  }

 private:
  int number(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

  void fill(std::uint32_t index, int bodies) {
    Body body;
    BodyWriter w(body);
    const int devices = index == 0 ? 8 : 1 + number(3), inputs = 1 + number(4);
    for (int d = 0; d < devices; ++d) body.device({d, index != 0});
    std::vector<SlotId> live;
    for (int i = 0; i < inputs; ++i) {
      live.push_back(w.input(8 * (1 + number(9)), static_cast<std::uint32_t>(number(devices)), MemoryKind::weights));
    }
    const auto any = [&] { return live[static_cast<std::size_t>(number(static_cast<int>(live.size())))]; };
    for (int s = 0, n = 3 + number(8); s < n; ++s) {
      const int callee = static_cast<int>(index) + 1 + number(std::max(1, bodies - static_cast<int>(index) - 1));
      if (callee < bodies && number(2) == 0) {
        const Body& c = program_.bodies[static_cast<std::size_t>(callee)];
        if (static_cast<int>(c.devices.size()) > devices) continue;
        std::vector<std::uint32_t> map;
        const auto first = static_cast<std::uint32_t>(number(devices - static_cast<int>(c.devices.size()) + 1));
        for (std::size_t d = 0; d < c.devices.size(); ++d) map.push_back(first + static_cast<std::uint32_t>(d));
        std::vector<SlotId> operands, results;
        for (std::size_t i = 0; i < c.inputs.size(); ++i) operands.push_back(any());
        for (SlotId o : c.outputs) results.push_back(w.slot(c.slots[o].bytes, map[c.slots[o].device], c.slots[o].kind));
        w.call(static_cast<std::uint32_t>(callee), program_.label("call"), number(3) == 0 ? 1 : number(40), operands, results, map);
        live.insert(live.end(), results.begin(), results.end());
        continue;
      }
      const SlotId from = any();
      const bool transfer = devices > 1 && number(3) == 0;
      const auto to = transfer ? static_cast<std::uint32_t>(number(devices)) : body.slots[from].device;
      const SlotId result = w.slot(8 * (1 + number(9)), to, static_cast<MemoryKind>(number(6)));
      Step& step = w.step(transfer ? StepKind::transfer : StepKind::compute, program_.label("op"), 1e-9 * (1 + number(50)),
                          std::vector{from}, std::vector{result});
      step.level = static_cast<std::uint8_t>(number(3));
      live.push_back(result);
    }
    for (int o = 0, n = 1 + number(2); o < n; ++o) w.output(any(), o < inputs && number(2) ? o : -1);
    program_.bodies[index] = std::move(body);
  }

  std::mt19937 random_;
  Program program_;
};

TEST(Simulate, FoldedIsUnfolded) {
  const Cluster cluster = small_cluster();
  std::int64_t run = 0, covered = 0;
  for (unsigned seed = 0; seed < 600; ++seed) {
    const Program p = RandomProgram(seed).make();
    if (p.unfolded_steps() > 200000) continue;
    for (bool overlap : {true, false}) {
      const Timeline folded = run_clock(p, cluster, {.folded = true, .overlap = overlap}),
                     unfolded = run_clock(p, cluster, {.folded = false, .overlap = overlap});
      ASSERT_EQ(folded.seconds, unfolded.seconds) << "seed " << seed;
      for (std::size_t d = 0; d < folded.devices.size(); ++d) {
        EXPECT_EQ(folded.devices[d].end, unfolded.devices[d].end) << "seed " << seed << " device " << d;
        EXPECT_EQ(folded.devices[d].computing, unfolded.devices[d].computing) << "seed " << seed << " device " << d;
        EXPECT_EQ(folded.devices[d].transferring, unfolded.devices[d].transferring) << "seed " << seed << " device " << d;
      }
      run += folded.steps_run;
      covered += unfolded.steps_run;
    }
    const std::vector<DeviceMemory> memory = measure_memory(p, true);
    ASSERT_EQ(memory, measure_memory(p, false)) << "seed " << seed;
    if (p.unfolded_steps() > 2000) continue;
    const Timeline t = run_clock(p, cluster, {.record_events = true});
    const std::vector<std::int64_t> bytes = memory_of_events(p);
    ASSERT_EQ(bytes.size(), t.events.size()) << "seed " << seed;
    for (std::size_t i = 0; i < bytes.size(); ++i)
      ASSERT_LE(bytes[i], memory[static_cast<std::size_t>(t.events[i].device)].peak) << "seed " << seed;
  }
  EXPECT_LT(10 * run, covered);  // the folds did something
}

}  // namespace
}  // namespace pando::simulate
