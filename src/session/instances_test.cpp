// One program on several instances, each a thread here, with replicas that meet across them: the same bits as one session with all
// replicas.
#include "session/instances.h"

#include "exec/transports/in_process.h"
#include "ir/error.h"
#include "session/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <thread>

namespace pando::session {
namespace {

using namespace ir;
using ::testing::HasSubstr;

constexpr std::int64_t kReplicas = 4, kSteps = 3;

HostTensor numbers(Shape shape, double first, double step) {
  HostTensor t(DType::float32, std::move(shape));
  for (std::int64_t i = 0; i < t.elements(); ++i) t.set(i, first + step * static_cast<double>(i % 17));
  return t;
}

// A step of training: each replica has data of its own; the gradient is the sum over all replicas. A variable differs by groups of two, and
// the sum over these goes around between replicas of different instances.
struct Training {
  explicit Training(double rate = 0.1) : builder(kReplicas) {
    Builder& b = builder;
    Module& m = b.module();
    const GraphId main = m.main_graph();
    b.push_sequence(SequenceMode::ordered);
    in = m.add_stream({"in", HostStream::Direction::host_to_device, DType::float32, {5, 3}});
    out = m.add_stream({"out", HostStream::Direction::device_to_host, DType::float32, {5, 2}});
    State s;
    s.type = m.type(tensor_type(DType::float32, {3, 2}));
    s.grouping = ReplicaGrouping(kReplicas, 1, kReplicas);
    weights = b.add_variable(s, numbers({3, 2}, 0.3, 0.17), "weights");
    State g = s;
    g.grouping = ReplicaGrouping(kReplicas, 2, 2);
    groups = b.add_variable(g, numbers({2, 3, 2}, -1, 0.31), "groups");
    const TensorId x = b.op(main, "host_load", {}, {{"stream", in}})[0];
    const TensorId y = b.op(main, "tanh", std::vector{b.op(main, "matmul", std::vector{x, weights})[0]})[0];
    b.op(main, "host_store", std::vector{y}, {{"stream", out}});
    const TensorId gradient = b.op(
        main, "matmul", std::vector{b.op(main, "transpose", std::vector{x}, {{"permutation", std::vector<std::int64_t>{1, 0}}})[0], y})[0];
    const TensorId sum = b.op(main, "replicated_all_reduce", std::vector{gradient},
                              {{"op", std::string("add")}, {"stride", std::int64_t{1}}, {"group_size", kReplicas}})[0];
    const TensorId scale = b.add_constant(main, HostTensor::filled(DType::float32, {}, -rate), "rate");
    b.op(main, "add", std::vector{weights, b.op(main, "mul", std::vector{sum, scale})[0]}, {}, {}, true);
    const TensorId meeting = b.op(main, "replicated_all_reduce", std::vector{groups},
                                  {{"op", std::string("mean")}, {"stride", std::int64_t{1}}, {"group_size", std::int64_t{2}}})[0];
    b.op(main, "add", std::vector{groups, b.op(main, "mul", std::vector{meeting, scale})[0]}, {}, {}, true);
    b.pop_sequence();
    b.finish();
  }
  Builder builder;
  HostStreamId in, out;
  TensorId weights, groups;
};

struct Results {
  std::string weights, groups, outputs;  // bytes
};

std::string bytes_of(const HostTensor& t) { return {reinterpret_cast<const char*>(t.data()), t.size_bytes()}; }

Results train(Training& t, const Options& options, std::int64_t first, std::int64_t count) {
  Session session(t.builder, options);
  session.attach();
  session.weights_from_host();
  Results r;
  for (std::int64_t step = 0; step < kSteps; ++step) {
    const HostTensor all = numbers({kReplicas, 5, 3}, 0.1 * static_cast<double>(step), 0.07);
    HostTensor out(DType::float32, {count, 5, 2});
    const std::size_t replica = all.size_bytes() / kReplicas;
    session.run(std::vector<InputData>{{t.in, all.data() + static_cast<std::size_t>(first) * replica, 1}},
                std::vector<OutputData>{{t.out, out.writable(), 1}});
    r.outputs += bytes_of(out);
  }
  r.weights = bytes_of(session.data(t.builder.tensor(t.weights).state));
  r.groups = bytes_of(session.data(t.builder.tensor(t.groups).state));
  return r;
}

// `f` for each of so many instances, on a thread of its own; what each throws, as text.
std::vector<std::string> on_instances(unsigned count, double timeout, const std::function<void(std::shared_ptr<Instances>)>& f) {
  auto transports = exec::in_process_transports(count);
  std::vector<std::shared_ptr<Instances>> all;
  for (auto& t : transports) all.push_back(std::make_shared<Instances>(std::move(t), timeout));
  std::vector<std::string> errors(count);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      try {
        f(all[i]);
      } catch (const std::exception& e) {
        errors[i] = e.what();
        all[i]->fail(e.what());
      }
    });
  }
  for (std::thread& t : threads) t.join();
  return errors;
}

class Machines : public ::testing::TestWithParam<std::int64_t> {
 protected:
  Options options() const {
    Options o;
    o.device = GetParam() == 0 ? "cpu" : "ipu_model";
    o.tiles_per_ipu = GetParam();
    o.engine["pando.threads"] = "1";
    return o;
  }
};

TEST_P(Machines, instances_train_to_the_same_bits_as_one_session_with_all_replicas) {
  Training alone;
  const Results expected = train(alone, options(), 0, kReplicas);
  for (const unsigned instances : {2u, 4u}) {
    std::vector<Results> results(instances);
    const std::vector<std::string> errors = on_instances(instances, 60, [&](std::shared_ptr<Instances> all) {
      Training mine;
      Options o = options();
      o.instances = all;
      const std::int64_t count = kReplicas / all->count();
      results[all->index()] = train(mine, o, all->index() * count, count);
    });
    EXPECT_THAT(errors, ::testing::Each("")) << instances;
    const std::size_t step = expected.outputs.size() / kSteps, part = step / instances;
    for (unsigned i = 0; i < instances; ++i) {
      EXPECT_EQ(results[i].weights, expected.weights) << i << " of " << instances;
      EXPECT_EQ(results[i].groups, expected.groups) << i << " of " << instances;
      for (std::size_t s = 0; s < kSteps; ++s)
        EXPECT_EQ(results[i].outputs.substr(s * part, part), expected.outputs.substr(s * step + i * part, part))
            << i << " of " << instances;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Instances, Machines, ::testing::Values(0, 3));

Options on_cpu(std::shared_ptr<Instances> instances) {
  Options o;
  o.device = "cpu";
  o.engine["pando.threads"] = "1";
  o.instances = std::move(instances);
  return o;
}

TEST(Instances, that_build_other_programs_are_rejected_before_they_run) {
  const auto errors = on_instances(2, 60, [](std::shared_ptr<Instances> all) {
    Training mine(all->index() == 0 ? 0.1 : 0.2);
    train(mine, on_cpu(all), all->index() * 2, 2);
  });
  for (const std::string& e : errors) EXPECT_THAT(e, HasSubstr("instance 1 has compiled another program than instance 0"));
}

TEST(Instances, one_that_fails_ends_those_that_wait_for_it) {
  const auto errors = on_instances(2, 60, [](std::shared_ptr<Instances> all) {
    Training mine;
    Session session(mine.builder, on_cpu(all));
    session.attach();
    if (all->index() == 1) throw std::runtime_error("no more data");
    session.weights_from_host();
    const HostTensor data = numbers({2, 5, 3}, 0, 1);
    HostTensor out(DType::float32, {2, 5, 2});
    session.run(std::vector<InputData>{{mine.in, data.data(), 1}}, std::vector<OutputData>{{mine.out, out.writable(), 1}});
  });
  EXPECT_THAT(errors[0], HasSubstr("instance 0 waits for replicas to meet in the program, but instance 1 has failed: no more data"));
}

TEST(Instances, that_do_not_come_are_named) {
  const auto errors = on_instances(2, 0.3, [](std::shared_ptr<Instances> all) {
    if (all->index() == 0) all->all_gather("", "a meeting");
  });
  EXPECT_THAT(errors[0], HasSubstr("instance 0 has waited 0.3 s for instance 1 (a meeting)"));
}

TEST(Instances, that_make_other_calls_are_told_so) {
  const auto errors =
      on_instances(2, 60, [](std::shared_ptr<Instances> all) { all->all_gather("", all->index() == 0 ? "a sum" : "a barrier"); });
  EXPECT_THAT(errors[0], HasSubstr("instance 1 is at 'a barrier' where instance 0 is at 'a sum'"));
}

TEST(Instances, share_replicas_evenly_or_not_at_all) {
  const auto errors = on_instances(3, 60, [](std::shared_ptr<Instances> all) {
    Training mine;
    Session session(mine.builder, on_cpu(all));
  });
  for (const std::string& e : errors) EXPECT_THAT(e, HasSubstr("4 replicas cannot be dealt out evenly to 3 instances"));
}

TEST(Instances, some_of_them_gather_alone) {
  std::vector<std::vector<std::string>> gathered(3);
  const auto errors = on_instances(3, 60, [&](std::shared_ptr<Instances> all) {
    if (all->index() == 1) return;
    gathered[all->index()] = all->all_gather(std::to_string(all->index()), "two", {0, 2});
  });
  EXPECT_THAT(errors, ::testing::Each(""));
  EXPECT_THAT(gathered[0], ::testing::ElementsAre("0", "2"));
  EXPECT_THAT(gathered[2], ::testing::ElementsAre("0", "2"));
}

}  // namespace
}  // namespace pando::session
