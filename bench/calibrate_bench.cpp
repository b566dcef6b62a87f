// What the host can do: the line that makes the other figures comparable between hosts.
#include "bench.h"

int main() {
  pando::bench::print_calibration();
  return 0;
}
