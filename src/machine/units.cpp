#include "machine/units.h"

namespace pando {

unsigned vector_width(const Machine& m, ElementType type) {
  switch (size_of(type)) {
    case 8: return 1;
    case 4: return m.float_vector_width;
    case 2: return m.half_vector_width;
    default: return 2 * m.half_vector_width;
  }
}

// A unit multiplies, in every step of its pipeline, as many elements as it loads in a cycle.
AmpUnit amp_unit(const Machine& m, ElementType input, ElementType partials) {
  const bool floats = input == ElementType::float_, to_float = partials == ElementType::float_;
  AmpUnit unit;
  unit.row_elements = floats ? m.conv_unit_input_load_elems_f32 : m.conv_unit_input_load_elems_f16;
  unit.in = m.conv_unit_pipeline_depth * unit.row_elements;
  unit.out = floats ? m.f32_in_f32_out_conv_units : to_float ? m.f16_in_f32_out_conv_units : m.f16_in_f16_out_conv_units;
  unit.weight_bytes = m.conv_unit_coeff_load_bytes_per_cycle;
  return unit;
}

}  // namespace pando
