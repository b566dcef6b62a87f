#ifndef poplar_FunctionBufferMappingType_hpp
#define poplar_FunctionBufferMappingType_hpp

namespace poplar {

/// Where the code of a function buffer lies.
enum class FunctionBufferMappingType { NONE, LINEAR, REMOTE };

}  // namespace poplar

#endif
