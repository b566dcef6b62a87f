#ifndef gccs_ArrayRef_hpp
#define gccs_ArrayRef_hpp

#include <poplar/ArrayRef.hpp>

namespace gccs {
using poplar::ArrayRef;
}  // namespace gccs

#endif
