#ifndef poplar_IpuLinkTopology_hpp
#define poplar_IpuLinkTopology_hpp

namespace poplar {

/// The shape that the links of several IPUs make.
enum class IpuLinkTopology { Mesh, Torus, Line };

}  // namespace poplar

#endif
