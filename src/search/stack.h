// What a trainer's software adds to a machine: waiting, memory that it keeps, transfers that it does not hide. Each stack is a file of
// stacks/, data with the source of every number.
#pragma once

#include "simulate/cluster.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pando::search {

// Numbers of simulate::Software that are 0 are as the machine says.
struct Stack : simulate::Software {
  std::string name, doc, source;
  // Seconds of each op beside its work (the host, small kernels that the model does not list), by machine; 0 on others.
  std::vector<std::pair<std::string, double>> op_seconds;
  // The host's work for each microbatch of a pipeline, by machine; 0 on others.
  std::vector<std::pair<std::string, double>> microbatch_seconds;
  // What products and memory reach of the machine's own shares.
  double pace = 1;
  // Transfers of data parallelism hide behind nothing.
  bool waits = false;
  // Bytes of a device for its context and the library of collectives; what the allocator holds for each byte in use.
  double context_bytes = 0, allocator = 1;
  // Machines that no such memory is kept on.
  std::vector<std::string> without_reserve;
};

const std::vector<Stack>& stacks();
// Rejects (poplar_error) an unknown name; says which there are.
const Stack& stack_named(std::string_view name);
// What PyTorch keeps of a GPU's memory beside tensors.
void reserve_as_pytorch(Stack& stack);
// The machine as a step under the stack finds it. Its memory is what tensors may take.
simulate::Cluster with_stack(simulate::Cluster cluster, const Stack& stack);

}  // namespace pando::search
