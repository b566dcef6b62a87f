#ifndef poplar_IPUAttributes_hpp
#define poplar_IPUAttributes_hpp

namespace poplar {

/// Attributes of a device, see Device::getAttribute.
struct IPUAttributes {
  enum class AttributeId { BoardVariant, IpuArchitecture, NumberOfTiles, TileMemoryBytes, TileClockFrequency, NumberOfIpus };
};

}  // namespace poplar

#endif
