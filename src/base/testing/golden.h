// For tests: texts of tests/golden. PANDO_BLESS=1 in the environment writes them anew; read the difference.
#pragma once

#include "base/testing/places.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace pando {

// `name`: "tile/channels.txt".
inline std::string golden_path(const std::string& name) { return source_path("tests/golden/" + name); }

inline std::string read_golden(const std::string& name) {
  std::ifstream file(golden_path(name));
  EXPECT_TRUE(file) << "no file " << golden_path(name) << "; PANDO_BLESS=1 writes it";
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void expect_golden(const std::string& name, const std::string& text) {
  if (std::getenv("PANDO_BLESS") != nullptr) std::ofstream(golden_path(name)) << text;
  EXPECT_EQ(read_golden(name), text) << name << " differs: if that is meant, run with PANDO_BLESS=1";
}

}  // namespace pando
