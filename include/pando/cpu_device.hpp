#ifndef pando_cpu_device_hpp
#define pando_cpu_device_hpp

// What is different on the CPU device, whose one tile holds everything: the questions that libraries of operations ask of a target. Beyond
// public Poplar.

#include <poplar/Target.hpp>

namespace pando {

/// Nothing has to be brought anywhere: operands are read, and results written, where they lie, and layouts are those of host arrays.
inline bool reads_in_place(const poplar::Target& target) { return target.getTargetType() == poplar::TargetType::CPU; }

/// Every program fits: nothing is cut, or done in rounds, for the sake of memory.
inline bool has_memory_for_all(const poplar::Target& target) { return target.getTargetType() == poplar::TargetType::CPU; }

/// The one tile's work is shared by the threads of a host, whose number is not known: it is cut by shape alone, and a vertex costs what
/// computing many elements does.
inline bool shares_work_among_threads(const poplar::Target& target) { return target.getTargetType() == poplar::TargetType::CPU; }

}  // namespace pando

#endif
