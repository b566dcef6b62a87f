#include "machine/machine.h"

namespace pando {

Machine machine_ipu2();

// C600: the IPU21 chip on a PCIe card. Tiles and memory as Mk2 (public benchmark notes on the C600 card).
Machine machine_ipu21() {
  Machine m = machine_ipu2();
  m.name = "ipu21";
  m.arch = "ipu21";
  m.doc = "C600: 1472 tiles of 624 KiB, fp8";
  m.f16_in_f32_out_conv_units = 16; // [poplibs] its codelets with float partials use 16
  m.clock_hz = 1.486e9;            // derived: 280 TFLOP/s f16 / (1472 tiles * 128 FLOP per cycle)
  m.links = {4, 4, 4, 4};          // 4 links between cards (card notes); how they are joined is not public
  m.host_bytes_per_second = 32e9;  // unvalidated: PCIe 4 x16, one way
  return m;
}

}  // namespace pando
