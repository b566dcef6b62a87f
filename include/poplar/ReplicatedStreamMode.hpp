#ifndef poplar_ReplicatedStreamMode_hpp
#define poplar_ReplicatedStreamMode_hpp

namespace poplar {

/// What the replicas of a host-to-device stream receive: each its own data, or all the same.
enum class ReplicatedStreamMode { REPLICATE, BROADCAST };

}  // namespace poplar

#endif
