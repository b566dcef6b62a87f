// A variable's data on the host and on its replicas.
#pragma once

#include "ir/module.h"

#include <cstddef>

namespace pando::transform {

// What one replica begins with. Shares the bytes where it is the whole of them.
ir::HostTensor data_of_replica(const ir::Module& module, const ir::State& state, const ir::HostTensor& data, std::int64_t replica);
// The shape on the host after a download: as before, or with one leading dimension of all replicas.
ir::Shape host_shape(const ir::Module& module, const ir::State& state, const ir::HostTensor& data);
// Puts what all replicas hold, (replicas, elements), into host data of that shape.
void store_replicas(const ir::Module& module, const ir::State& state, const ir::HostTensor& replicas, std::byte* to,
                    const ir::HostTensor& like);

}  // namespace pando::transform
