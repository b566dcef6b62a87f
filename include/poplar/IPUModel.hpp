#ifndef poplar_IPUModel_hpp
#define poplar_IPUModel_hpp

#include <poplar/Device.hpp>
#include <poplar/Export.hpp>
#include <poplar/GlobalExchangeConstraints.hpp>
#include <poplar/OptionFlags.hpp>

#include <limits>
#include <string>
#include <vector>

namespace poplar {

/// An IPU that runs on the host: all tiles, their memory, and a model of the cycles. The constructor fills the fields with the
/// numbers of a known machine; what is changed afterwards changes the machine.
struct POPLAR_EXPORT IPUModel {
  enum class RelativeSyncDelayType { AUTO, NO_DELAY };

  /// "ipu1", "ipu2" or "ipu21" (Bow), and any other machine of src/machine. Throws invalid_machine_model for another name.
  explicit IPUModel(const char* IPUVersion = "ipu2");

  std::string IPUVersion;
  unsigned numIPUs;
  unsigned tilesPerSuperTile;
  unsigned tilesPerIPU;
  unsigned numWorkerContexts;
  unsigned memoryBytesPerTile;
  double tileClockFrequency;  ///< Hertz
  unsigned exchangeBytesPerCycle;
  unsigned memcpyBytesPerCycle;
  unsigned instructionBytes;
  bool supportsSuperTileSendReceive;
  unsigned interleavedMemoryElementIndex;
  unsigned minIPUSyncDelay;
  RelativeSyncDelayType relativeSyncDelay;
  unsigned globalSyncCycles;
  std::vector<GlobalExchangeConstraint> globalExchangeConstraints;
  unsigned dataPathWidth;  ///< bits
  unsigned fp8ConvUnitMaxPipelineDepth;
  unsigned fp16ConvUnitMaxPipelineDepth;
  unsigned fp32ConvUnitMaxPipelineDepth;
  unsigned fp8ConvUnitInputLoadElemsPerCycle;
  unsigned fp16ConvUnitInputLoadElemsPerCycle;
  unsigned fp32ConvUnitInputLoadElemsPerCycle;
  unsigned fp8InFp16OutConvUnitsPerTile;
  unsigned fp16InFp16OutConvUnitsPerTile;
  unsigned fp16InFp32OutConvUnitsPerTile;
  unsigned fp32InFp32OutConvUnitsPerTile;
  unsigned convUnitCoeffLoadBytesPerCycle;
  unsigned rptCountMax;
  unsigned atomicStoreGranularity;  ///< bytes
  unsigned numStrideBits;
  /// No meaning here: codelets always run as host code.
  bool compileIPUCode;

  /// Throws invalid_machine_model if the fields make no machine (no tiles, no memory ...).
  Device createDevice(OptionFlags options = {}, bool accurateHalf = false,
                      unsigned deviceManagerId = std::numeric_limits<unsigned>::max()) const;
};

}  // namespace poplar

#endif
