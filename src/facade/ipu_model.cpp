#include "poplar/IPUModel.hpp"

#include "facade/state/state.h"
#include "facade/state/target_state.h"

namespace poplar {

using pando::ErrorKind;
using pando::fail;
using pando::Machine;
using pando::facade::Access;

IPUModel::IPUModel(const char* version) : IPUVersion(version) {
  const core::TargetState s = pando::facade::target_state(TargetType::IPU_MODEL, pando::facade::machine_named(version));
  const Machine& m = s.machine;
  numIPUs = m.ipus;
  tilesPerSuperTile = m.tiles_per_shared_exchange_bus;
  tilesPerIPU = m.tiles_per_ipu;
  numWorkerContexts = m.workers;
  memoryBytesPerTile = static_cast<unsigned>(m.bytes_per_tile());
  tileClockFrequency = m.clock_hz;
  exchangeBytesPerCycle = m.exchange_bytes_per_cycle;
  memcpyBytesPerCycle = m.memcpy_bytes_per_cycle;
  instructionBytes = 4;
  supportsSuperTileSendReceive = m.exchange_bus_sharing;
  interleavedMemoryElementIndex = s.interleaved_element;
  minIPUSyncDelay = s.min_sync_delay;
  relativeSyncDelay = RelativeSyncDelayType::AUTO;
  globalSyncCycles = s.global_sync_cycles;
  dataPathWidth = m.data_path_bits;
  fp8ConvUnitMaxPipelineDepth = s.fp8_pipeline_depth;
  fp16ConvUnitMaxPipelineDepth = fp32ConvUnitMaxPipelineDepth = m.conv_unit_pipeline_depth;
  fp8ConvUnitInputLoadElemsPerCycle = s.fp8_load_elems;
  fp16ConvUnitInputLoadElemsPerCycle = m.conv_unit_input_load_elems_f16;
  fp32ConvUnitInputLoadElemsPerCycle = m.conv_unit_input_load_elems_f32;
  fp8InFp16OutConvUnitsPerTile = s.fp8_conv_units;
  fp16InFp16OutConvUnitsPerTile = m.f16_in_f16_out_conv_units;
  fp16InFp32OutConvUnitsPerTile = m.f16_in_f32_out_conv_units;
  fp32InFp32OutConvUnitsPerTile = m.f32_in_f32_out_conv_units;
  convUnitCoeffLoadBytesPerCycle = m.conv_unit_coeff_load_bytes_per_cycle;
  rptCountMax = m.rpt_count_max;
  atomicStoreGranularity = m.atomic_store_bytes;
  numStrideBits = m.stride_bits;
  compileIPUCode = false;
}

namespace {

void check(const IPUModel& model) {
  const auto positive = [&](const char* field, double value) {
    if (!(value > 0)) fail(ErrorKind::invalid_machine_model, "model-field", "IPUModel::{} must be positive", field);
  };
  positive("numIPUs", model.numIPUs);
  positive("tilesPerIPU", model.tilesPerIPU);
  positive("numWorkerContexts", model.numWorkerContexts);
  positive("memoryBytesPerTile", model.memoryBytesPerTile);
  positive("tileClockFrequency", model.tileClockFrequency);
  positive("exchangeBytesPerCycle", model.exchangeBytesPerCycle);
  positive("memcpyBytesPerCycle", model.memcpyBytesPerCycle);
  for (const GlobalExchangeConstraint& c : model.globalExchangeConstraints)
    for (const GlobalExchangeFlow& f : c.flows)
      if (f.src >= model.numIPUs || f.dst >= model.numIPUs)
        fail(ErrorKind::invalid_machine_model, "model-flow", "a global exchange constraint names the flow {} -> {}; the model has {} IPUs",
             f.src, f.dst, model.numIPUs);
}

// The last region ends where memory ends; regions beyond that are dropped.
void resize_memory(Machine& m, std::uint64_t bytes) {
  if (m.regions.empty() || m.bytes_per_tile() == bytes) return;
  std::erase_if(m.regions, [&](const pando::MemoryRegion& r) { return r.begin >= bytes; });
  m.regions.back().end = bytes;
}

}  // namespace

Device IPUModel::createDevice(OptionFlags options, bool, unsigned deviceManagerId) const {
  check(*this);
  core::TargetState s = pando::facade::target_state(TargetType::IPU_MODEL, pando::facade::machine_named(IPUVersion));
  Machine& m = s.machine;
  m.ipus = numIPUs;
  s = pando::facade::target_state(TargetType::IPU_MODEL, m);  // derives what depends on the number of IPUs
  m.tiles_per_shared_exchange_bus = tilesPerSuperTile;
  m.tiles_per_ipu = tilesPerIPU;
  m.workers = numWorkerContexts;
  resize_memory(m, memoryBytesPerTile);
  m.clock_hz = tileClockFrequency;
  m.exchange_bytes_per_cycle = exchangeBytesPerCycle;
  m.memcpy_bytes_per_cycle = memcpyBytesPerCycle;
  m.exchange_bus_sharing = supportsSuperTileSendReceive;
  s.interleaved_element = interleavedMemoryElementIndex;
  s.min_sync_delay = minIPUSyncDelay;
  if (relativeSyncDelay == RelativeSyncDelayType::NO_DELAY) s.max_sync_delay = minIPUSyncDelay;
  if (numIPUs == 1 || globalSyncCycles != 0) s.global_sync_cycles = globalSyncCycles;
  s.constraints = globalExchangeConstraints;
  m.data_path_bits = dataPathWidth;
  s.fp8_pipeline_depth = fp8ConvUnitMaxPipelineDepth;
  m.conv_unit_pipeline_depth = fp16ConvUnitMaxPipelineDepth;
  s.fp8_load_elems = fp8ConvUnitInputLoadElemsPerCycle;
  m.conv_unit_input_load_elems_f16 = fp16ConvUnitInputLoadElemsPerCycle;
  m.conv_unit_input_load_elems_f32 = fp32ConvUnitInputLoadElemsPerCycle;
  s.fp8_conv_units = fp8InFp16OutConvUnitsPerTile;
  m.f16_in_f16_out_conv_units = fp16InFp16OutConvUnitsPerTile;
  m.f16_in_f32_out_conv_units = fp16InFp32OutConvUnitsPerTile;
  m.f32_in_f32_out_conv_units = fp32InFp32OutConvUnitsPerTile;
  m.conv_unit_coeff_load_bytes_per_cycle = convUnitCoeffLoadBytesPerCycle;
  m.rpt_count_max = rptCountMax;
  m.atomic_store_bytes = atomicStoreGranularity;
  m.stride_bits = numStrideBits;
  s.options = options;
  core::DeviceState d;
  d.id = deviceManagerId == std::numeric_limits<unsigned>::max() ? 0 : deviceManagerId;
  d.target = pando::facade::make_target(std::move(s));
  return Access::device(std::move(d));
}

}  // namespace poplar
