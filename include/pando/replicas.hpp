#ifndef pando_replicas_hpp
#define pando_replicas_hpp

// Replicas of one program in several processes: each runs some of them, and copies across replicas meet through a link. Beyond public
// Poplar.

#include <poplar/Export.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace poplar {
class Engine;
}

namespace pando {

/// What brings blocks between replicas of this process and those of others. All processes run the same program in the same way; numbers of
/// replicas count all of them. Called on threads of a run, one call at a time.
class ReplicaLink {
 public:
  virtual ~ReplicaLink() = default;
  /// The replicas of this process: so many, from this one on.
  virtual unsigned first() const = 0;
  virtual unsigned count() const = 0;
  /// A block of a replica of this process for one of another; does not wait. `step`: the same number at both ends.
  virtual void send(unsigned from, unsigned to, std::uint64_t step, const char* block, std::size_t bytes) = 0;
  /// The next block of a replica of another process for one of this; waits for it. False: `stopped` says so, which is asked again and
  /// again. Throws when the block cannot come, or is another step's.
  virtual bool receive(unsigned from, unsigned to, std::uint64_t step, char* block, std::size_t bytes,
                       const std::function<bool()>& stopped) = 0;
};

/// From the next load() on, the engine holds and runs the link's replicas alone. Replicas in calls of the engine (connectStreamToCallback,
/// copyToRemoteBuffer ...) then count from 0 to `count() - 1`, and blocks of readTensor and writeTensor are those of these replicas. The
/// engine is not running. Throws graph_replication_error if the program has no such replicas.
POPLAR_EXPORT void share_replicas(poplar::Engine& engine, std::shared_ptr<ReplicaLink> link);

}  // namespace pando

#endif
