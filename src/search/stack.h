// What a trainer's software adds to a machine: waiting, memory that it keeps, transfers that it does not hide. Each stack is a file of
// stacks/, data with the source of every number.
#pragma once

#include "simulate/cluster.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pando::search {

struct Stack {
  std::string name, doc, source;
  // Seconds of each op beside its work (the host, small kernels that the model does not list), by machine; 0 on others.
  std::vector<std::pair<std::string, double>> op_seconds;
  // The host's work for each microbatch of a pipeline, by machine; 0 on others.
  std::vector<std::pair<std::string, double>> microbatch_seconds;
  // What products and memory reach of the machine's own shares.
  double pace = 1;
  // What the loss holds for each number of the head's result; 0: as the machine says.
  double logit_bytes = 0;
  // What the loss reads and writes for each of these numbers, forward and backward; 0: as the machine says.
  double loss_bytes = 0;
  // Shares of the peak that attention without stored scores reaches, forward and backward, all pairs counted; 0: as the machine says.
  double attention_forward = 0, attention_backward = 0;
  // Ops of layers that are not one kernel; their names are those of rows of "bytewise". Two more are of products in 8-bit floats: "casts"
  // of their operands, and "casts_again": the bytes for each element of both operands, which the way back brings to 8 bits once more.
  std::vector<simulate::Unfused> unfused;
  // A layer that is computed again ends with the last number that the way back needs: its last product is left out.
  bool stops_early = false;
  // Transfers of data parallelism hide behind nothing.
  bool waits = false;
  // Bytes of a device for its context and the library of collectives; what the allocator holds for each byte in use.
  double context_bytes = 0, allocator = 1;
  // Machines that no such memory is kept on.
  std::vector<std::string> without_reserve;
};

const std::vector<Stack>& stacks();
// Refuses (poplar_error) an unknown name; says which there are.
const Stack& stack_named(std::string_view name);
// The machine as a step under the stack finds it. Its memory is what tensors may take.
simulate::Cluster with_stack(simulate::Cluster cluster, const Stack& stack);

}  // namespace pando::search
