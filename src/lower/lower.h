// The arrow from the model level to the graph level, through the public API of the op libraries.
//
// The main graph becomes three programs, one for each context that users see: what a run does, and what comes with variables that go to the
// device or come back. A graph with one call is lowered where it is called; one with several calls, or whose code is loaded, becomes
// a function over variables of its own: a call copies the operands in and takes the results where they lie.
//
// Values are immutable, storage is not. An op that makes a new version writes it where the old one lies if no value that is still to be
// read lies there, too; otherwise the op that must not be disturbed keeps a copy (storage.cpp). What a variable has become is in its
// storage at the end of a program.
#pragma once

#include "ir/module.h"
#include "lower/terms/settings.h"

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pando::lower {

struct Options {
  // Those of src/lower/options are read here.
  Settings settings{option_rows()};
  // Variables that tile memory cannot hold are lowered, too: somebody wants the report.
  bool allow_out_of_memory = false;
  // Gets what was decided, as text: how variables lie, what became of each op, what was copied. Null: nobody asks.
  std::string* decisions = nullptr;
};

struct Lowered {
  poplar::program::Sequence main, weights_from_host, weights_to_host;
  // Streams that the main program loads from and stores to, in order of creation.
  std::vector<ir::HostStreamId> inputs, outputs;
};

// Devices that the module's types name: the highest number and one; at least 1.
std::int64_t devices_of(const ir::Module& module);

// Whether the op of that name becomes vertices and copies by a row of its own.
bool has_lowering(const ir::OpRow& op);

// The graph must have devices_of(module) IPUs and module.replicas() replicas. Rejects (popart) ops without a lowering, all together;
// (popart) types that tiles do not have, with the op; (poplar::graph_memory_allocation_error) variables that are larger than an IPU.
Lowered lower(const ir::Module& module, poplar::Graph& graph, const Options& options = {});

// Names at the graph level.
std::string stream_handle(ir::HostStreamId stream);
// Of a state on chip: a stream to the device (with replicas), a host write (without), and a host read.
std::string upload_handle(ir::StateId state);
std::string download_handle(ir::StateId state);
std::string buffer_handle(ir::BufferId buffer);

}  // namespace pando::lower
