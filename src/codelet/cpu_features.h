// Instruction set extensions of the host that compiled code may rely on.
#pragma once

#include <string>
#include <vector>

namespace pando {

// Those this processor has, of the ones that popc's code can use; sorted.
std::vector<std::string> host_cpu_features();
// Those of `needed` that this processor lacks.
std::vector<std::string> missing_cpu_features(const std::vector<std::string>& needed);

}  // namespace pando
