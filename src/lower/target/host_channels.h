// What programs share with the host beside variables: streams and remote buffers, made when the first op uses them.
#pragma once

#include "ir/module.h"

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

#include <map>
#include <set>

namespace pando::lower {

class HostChannels {
 public:
  HostChannels(const ir::Module& module, poplar::Graph& graph) : module_(module), graph_(graph) {}
  // Streams without elements are used, too, but nothing is copied.
  void use(ir::HostStreamId id) { used_.insert(id); }
  const std::set<ir::HostStreamId>& used() const { return used_; }
  poplar::DataStream stream(ir::HostStreamId id);
  poplar::RemoteBuffer buffer(ir::BufferId id);

 private:
  const ir::Module& module_;
  poplar::Graph& graph_;
  std::map<ir::HostStreamId, poplar::DataStream> streams_;
  std::set<ir::HostStreamId> used_;
  std::map<ir::BufferId, poplar::RemoteBuffer> buffers_;
};

}  // namespace pando::lower
