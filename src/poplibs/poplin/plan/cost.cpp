#include "poplibs/poplin/plan/cost.h"

#include <pando/cpu_device.hpp>

#include <string>

#include "poplibs/poputil/reject.h"

namespace poplin::plan {

pando::Machine machine_of(const poplar::Target& target) {
  if (target.getNumTiles() == 0) poputil::reject("no-tiles", "products are not planned for a target without tiles");
  // The CPU device is planned as a tile of the machine whose units it has (machine/machines/cpu.cpp).
  const bool is_bounded = !pando::has_memory_for_all(target);
  const pando::Machine* const named = pando::find_machine(is_bounded ? target.getTargetSystemString() : "ipu2");
  pando::Machine m = named != nullptr ? *named : pando::Machine();
  m.ipus = target.getNumIPUs();
  m.tiles_per_ipu = target.getTilesPerIPU();
  m.workers = target.getNumWorkerContexts();
  m.bounded_memory = is_bounded;
  m.regions = {{"memory", 0, target.getBytesPerTile()}};
  m.clock_hz = target.getTileClockFrequency();
  m.exchange_bytes_per_cycle = target.getExchangeBytesPerCycle();
  m.memcpy_bytes_per_cycle = target.getMemcpyBytesPerCycle();
  m.float_vector_width = target.getFloatVectorWidth();
  m.half_vector_width = target.getHalfVectorWidth();
  m.f16_in_f16_out_conv_units = target.getFp16InFp16OutConvUnitsPerTile();
  m.f16_in_f32_out_conv_units = target.getFp16InFp32OutConvUnitsPerTile();
  m.f32_in_f32_out_conv_units = target.getFp32InFp32OutConvUnitsPerTile();
  m.conv_unit_pipeline_depth = target.getFp16ConvUnitMaxPipelineDepth();
  m.conv_unit_coeff_load_bytes_per_cycle = target.getConvUnitCoeffLoadBytesPerCycle();
  m.conv_unit_input_load_elems_f16 = target.getFp16ConvUnitInputLoadElemsPerCycle();
  m.conv_unit_input_load_elems_f32 = target.getFp32ConvUnitInputLoadElemsPerCycle();
  return m;
}

ElementType element_type_of(const poplar::Type& type) {
  const auto named = pando::element_type_named(type.toString());
  if (!named) poputil::reject("operand-type", "products are not planned for type {}", type.toString());
  return *named;
}

poplar::Type type_of(ElementType type) {
  using namespace poplar;
  for (const Type& t : {FLOAT, HALF, QUARTER, INT, UNSIGNED_INT, SHORT, UNSIGNED_SHORT, CHAR, SIGNED_CHAR, UNSIGNED_CHAR, BOOL})
    if (t.toString() == pando::name_of(type)) return t;
  poputil::reject("operand-type", "products are not planned for type {}", pando::name_of(type));
}

std::uint64_t amp_cycles(const poplar::Target& target, std::uint64_t m, std::uint64_t n, std::uint64_t k, const poplar::Type& input,
                         const poplar::Type& partials) {
  const pando::AmpUnit unit{target.getWeightsPerConvUnit(input), target.getNumConvUnits(input, partials),
                            target.getConvUnitInputLoadElemsPerCycle(input), target.getConvUnitCoeffLoadBytesPerCycle()};
  return pando::planning::amp_cycles(unit, target.getTypeSize(input), m, n, k);
}

std::uint64_t sum_cycles(const poplar::Target& target, std::uint64_t partials, std::uint64_t elements, const poplar::Type& partials_type) {
  return pando::planning::sum_cycles(target.getVectorWidth(partials_type), partials, elements);
}

}  // namespace poplin::plan
