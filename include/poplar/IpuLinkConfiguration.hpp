#ifndef poplar_IpuLinkConfiguration_hpp
#define poplar_IpuLinkConfiguration_hpp

namespace poplar {

/// How IPUs are cabled.
enum class IpuLinkConfiguration { Default, BarleyTwist, SlidingWindow, None };

}  // namespace poplar

#endif
