#ifndef popops_SortOrder_hpp
#define popops_SortOrder_hpp

#include <poplar/Export.hpp>

#include <iosfwd>

namespace popops {

/// The order of results. NONE: any; topK gives its best first.
enum class SortOrder { NONE, ASCENDING, DESCENDING };

/// Writes the enumerator's name.
POPLAR_EXPORT std::ostream& operator<<(std::ostream& os, const SortOrder& o);

}  // namespace popops

#endif
