// The reference interpreter: naive and simple, what transforms and executors are tested with. It knows nothing of tiles.
#pragma once

#include "ir/host_tensor.h"
#include "ir/module.h"
#include "ir/op_row.h"
#include "ir/rows/evaluation.h"
#include "ir/shared/kept_values.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace pando::ir {

struct HostData {
  // Of each stream to the device: its slices, outermost in the order of loads; (loads, replicas, shape).
  std::map<HostStreamId, HostTensor> inputs;
};

// State of one interpreted module between runs.
class Interpreter {
 public:
  explicit Interpreter(const Module& module);

  // What streams bring: (loads, replicas, shape of the stream). A load beyond the last slice begins again with the first.
  void set_input(HostStreamId stream, HostTensor data);
  // Runs the main graph's ops of a context once, all replicas side by side.
  void run(Context context = Context::normal);
  // What the last run of the normal context stored: (stores, replicas, shape).
  HostTensor output(HostStreamId stream, std::int64_t stores) const;
  // A variable of one replica.
  HostTensor state(StateId state, std::int64_t replica) const;
  void set_state(StateId state, std::int64_t replica, HostTensor data);
  // Where prints go; standard error without it.
  void on_print(std::function<void(const std::string&)> f);
  // Given the results of each op before anything reads them: it may make of them what a machine would that rounds otherwise.
  void on_results(std::function<void(const OpRow&, std::vector<HostValue>&)> f);

  // One graph on values, one replica; its outputs, then its updated inputs. For tests of graphs without a main program.
  std::vector<HostValue> run_graph(GraphId graph, std::vector<HostValue> inputs);

 private:
  friend class InterpreterHost;
  using Values = std::unordered_map<std::uint32_t, HostValue>;  // of one replica, by value
  ReplicaValues run_graph_on(GraphId graph, ReplicaValues inputs, const std::vector<std::int64_t>& replicas, Context context);
  void run_op(OpId op, std::vector<Values>& values, const std::vector<std::int64_t>& replicas, Context context);
  void bring_kept(std::vector<Values>& values, Context context) const;

  const Module& module_;
  std::vector<std::vector<HostTensor>> inputs_of_main_;                             // by replica
  std::map<std::pair<std::uint32_t, std::int64_t>, std::vector<HostTensor>> rows_;  // buffer and replica: its rows
  std::vector<KeptValue> kept_;
  std::vector<std::vector<HostValue>> kept_data_;  // by kept value and replica
  std::map<HostStreamId, HostTensor> data_;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::int64_t> cursors_;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::vector<HostTensor>> stored_;
  std::function<void(const std::string&)> print_;
  std::function<void(const OpRow&, std::vector<HostValue>&)> results_;
};

}  // namespace pando::ir
