#include "machine/machine.h"

namespace pando {

Machine machine_ipu2();

// For tests: everything of ipu2 but the number of tiles, so that whole programs can be read.
Machine machine_tiny4() {
  Machine m = machine_ipu2();
  m.name = "tiny4";
  m.doc = "four tiles of ipu2, for tests";
  m.tiles_per_ipu = 4;
  m.fabric_columns = 1;  // one row of the fabric: nothing is far
  m.fabric_rows = 1;
  return m;
}

}  // namespace pando
