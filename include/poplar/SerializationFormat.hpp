#ifndef poplar_SerializationFormat_hpp
#define poplar_SerializationFormat_hpp

namespace poplar {

/// The form of serialised graphs and tensors.
enum class SerializationFormat { Binary, JSON };

}  // namespace poplar

#endif
