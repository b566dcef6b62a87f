#ifndef popnn_PoolingDef_hpp
#define popnn_PoolingDef_hpp

namespace popnn {

/// What becomes of the elements of a window.
enum class PoolingType { MAX, AVG, SUM };

}  // namespace popnn

#endif
