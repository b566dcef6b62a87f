#ifndef poplar_Target_hpp
#define poplar_Target_hpp

#include <poplar/Export.hpp>
#include <poplar/GlobalExchangeConstraints.hpp>
#include <poplar/IpuLinkConfiguration.hpp>
#include <poplar/IpuLinkTopology.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/StringRef.hpp>
#include <poplar/TargetType.hpp>
#include <poplar/Type.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <istream>
#include <limits>  // unused here: programs count on getting it from this header
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace poplar {

namespace core {
struct TargetState;
}

/// A description of the machine that a graph is made for. Cheap to copy. The numbers of a default-constructed target are those
/// of the CPU target.
class POPLAR_EXPORT Target {
 public:
  Target();
  /// Reads what serialize() wrote; throws parse_error.
  explicit Target(std::istream& in);
  ~Target();
  Target(const Target&);
  Target(Target&&) noexcept;
  Target& operator=(const Target&);
  Target& operator=(Target&&) noexcept;

  /// The host's processor as a machine of one tile with six workers and unbounded memory. `half` is IEEE binary16 in any case.
  static Target createCPUTarget(bool accurateHalf = false, unsigned numIPUs = 1);
  /// `systemOrArch` is "ipu1", "ipu2" or "ipu21" (Bow); throws invalid_machine_model for another name.
  static Target createIPUTarget(unsigned numIPUs, StringRef systemOrArch, const OptionFlags& options = {});
  static Target createIPUTarget(unsigned numIPUs, unsigned tilesPerIPU, StringRef systemOrArch, const OptionFlags& options = {});
  /// This machine with another number of IPUs and of tiles on each.
  Target createVirtualTarget(unsigned numIPUs, unsigned tilesPerIPU) const;

  void serialize(std::ostream& out) const;
  std::size_t hash() const;

  TargetType getTargetType() const;
  std::string getTargetArchString() const;
  std::string getTargetSystemString() const;
  OptionFlags getTargetOptions() const;
  unsigned getNumIPUs() const;
  unsigned getTilesPerIPU() const;
  unsigned getNumTiles() const;
  unsigned getNumWorkerContexts() const;
  /// Bytes of memory of one tile; the largest unsigned number if it is unbounded.
  unsigned getBytesPerTile() const;
  /// Bytes.
  std::size_t getTypeSize(const Type& type) const;
  /// Elements of `type` in one vector register.
  unsigned getVectorWidth(const Type& type) const;
  unsigned getFloatVectorWidth() const;
  unsigned getHalfVectorWidth() const;
  unsigned getQuarterVectorWidth() const;
  /// Bits.
  unsigned getDataPathWidth() const;
  unsigned getRptCountMax() const;
  unsigned getNumStrideBits() const;
  /// Bytes.
  std::size_t getAtomicStoreGranularity() const;
  unsigned getExchangeBytesPerCycle() const;
  unsigned getMemcpyBytesPerCycle() const;
  unsigned getMinIPUSyncDelay() const;
  unsigned getMaxIPUSyncDelay() const;
  unsigned getGlobalSyncCycles() const;
  const std::vector<GlobalExchangeConstraint>& getGlobalExchangeConstraints() const;
  unsigned getTilesPerSharedExchangeBus() const;
  bool supportsExchangeBusSharing() const;
  /// Byte offsets at which the elements (banks) of tile memory begin.
  const std::vector<unsigned>& getMemoryElementOffsets() const;
  /// Index of the first element whose memory is interleaved.
  unsigned getInterleavedMemoryElementIndex() const;
  /// Hertz.
  double getTileClockFrequency() const;
  unsigned getNumConvUnits(const Type& input, const Type& partials) const;
  unsigned getWeightsPerConvUnit(bool floatActivations) const;
  unsigned getWeightsPerConvUnit(const Type& activations) const;
  unsigned getConvUnitMaxPipelineDepth(const Type& partials) const;
  unsigned getConvUnitInputLoadElemsPerCycle(bool floatActivations) const;
  unsigned getConvUnitInputLoadElemsPerCycle(const Type& activations) const;
  unsigned getConvUnitCoeffLoadBytesPerCycle() const;
  unsigned getFp8InFp16OutConvUnitsPerTile() const;
  unsigned getFp8ConvUnitMaxPipelineDepth() const;
  unsigned getFp8ConvUnitInputLoadElemsPerCycle() const;
  unsigned getFp8ConvUnitCoeffLoadBytesPerCycle() const;
  unsigned getFp16InFp16OutConvUnitsPerTile() const;
  unsigned getFp16InFp32OutConvUnitsPerTile() const;
  unsigned getFp32InFp32OutConvUnitsPerTile() const;
  unsigned getFp16ConvUnitMaxPipelineDepth() const;
  unsigned getFp32ConvUnitMaxPipelineDepth() const;
  unsigned getFp16ConvUnitInputLoadElemsPerCycle() const;
  unsigned getFp32ConvUnitInputLoadElemsPerCycle() const;
  unsigned getFp16ConvUnitCoeffLoadBytesPerCycle() const;
  unsigned getFp32ConvUnitCoeffLoadBytesPerCycle() const;
  bool getGatewayMode() const;
  /// Instances of a distributed run; always 1.
  unsigned getInstanceSize() const;
  IpuLinkConfiguration getIpuLinkConfiguration() const;
  IpuLinkTopology getIpuLinkTopology() const;
  /// IPUs connected by links.
  unsigned getIpuLinkDomainSize() const;

  /// The largest and least finite values of `type`, as T.
  template <class T> T getTypeLimitsMaxAs(const Type& type) const { return static_cast<T>(typeLimit(type, true)); }
  template <class T> T getTypeLimitsLowestAs(const Type& type) const { return static_cast<T>(typeLimit(type, false)); }

  friend POPLAR_EXPORT bool operator==(const Target& a, const Target& b);
  friend bool operator!=(const Target& a, const Target& b) { return !(a == b); }
  friend POPLAR_EXPORT bool operator<(const Target& a, const Target& b);

 private:
  friend struct pando::facade::Access;
  explicit Target(std::shared_ptr<const core::TargetState> state);
  long double typeLimit(const Type& type, bool max) const;
  std::shared_ptr<const core::TargetState> state_;
};

// Conversions of `n` elements between host floats and device halfs. The target may be default-constructed.
POPLAR_EXPORT void copyFloatToDeviceHalf(const Target& target, const float* src, void* dst, std::size_t n);
POPLAR_EXPORT void copyDeviceHalfToFloat(const Target& target, const void* src, float* dst, std::size_t n);
POPLAR_EXPORT void copyDoubleToDeviceHalf(const Target& target, const double* src, void* dst, std::size_t n);
POPLAR_EXPORT void copyDeviceHalfToDouble(const Target& target, const void* src, double* dst, std::size_t n);

}  // namespace poplar

namespace std {
template <> struct hash<poplar::Target> {
  size_t operator()(const poplar::Target& t) const { return t.hash(); }
};
}  // namespace std

#endif
