// libFuzzer: bytes that claim to be an executable (first byte even) or a .gp (odd) are read or rejected, nothing else.
//
//   fuzz_read [-max_total_time=60] [corpus/]
#include <cstdint>
#include <sstream>
#include <string>

#include "codelet/library.h"
#include "tile/program.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    if (data[0] % 2 == 0) {
      std::istringstream in(bytes);
      pando::tile::read(in);
    } else {
      pando::Library().load_bytes(bytes, "fuzzed.gp");
    }
  } catch (const std::exception&) {  // rejected
  }
  return 0;
}
