#include "machine/machine.h"

namespace pando {

Machine machine_ipu2();

// Bow is the Mk2 die with more clock; everything else is ipu2.cpp's.
Machine machine_bow() {
  Machine m = machine_ipu2();
  m.name = "bow";
  m.doc = "Bow: Mk2 at 1.85 GHz, 1472 tiles of 624 KiB";
  m.clock_hz = 1.85e9;  // measured: tile_clock_frequency in a public notebook; published Poplar reports say 1,850 MHz
  return m;
}

}  // namespace pando
