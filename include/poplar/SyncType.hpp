#ifndef poplar_SyncType_hpp
#define poplar_SyncType_hpp

#include <poplar/Export.hpp>

#include <ostream>
#include <string>

namespace poplar {

/// How far a sync reaches: the tiles of one IPU, the IPUs and the host, all replicas.
enum class SyncType { INTERNAL, EXTERNAL, GLOBAL };
POPLAR_EXPORT std::string toString(SyncType type);
POPLAR_EXPORT std::ostream& operator<<(std::ostream& out, SyncType type);

}  // namespace poplar

#endif
