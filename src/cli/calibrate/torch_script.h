// The script that `pando calibrate --torch` writes: Python that measures the user's devices with PyTorch.
#pragma once

#include <string>
#include <vector>

namespace pando::cli {

// `like`: a machine whose members stand in for what the script does not measure, or empty. `models`: those whose products, attention and
// layers are measured by shape, by name or file; empty: some that are common. Rejects (poplar_error) unknown ones.
std::string torch_script(const std::string& like, const std::vector<std::string>& models);

}  // namespace pando::cli
