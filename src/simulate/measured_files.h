// Files of measured_machines/, as the build found them.
#pragma once

#include <string_view>
#include <vector>

namespace pando::simulate {

struct MeasuredFile {
  // Of the file, without ".json"; what the file holds.
  std::string_view machine, text;
};

const std::vector<MeasuredFile>& measured_files();

}  // namespace pando::simulate
