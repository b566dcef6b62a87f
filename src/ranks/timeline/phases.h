// What the values of a program of several devices belong to: the forward pass, the backward pass, an update of variables.
#pragma once

#include "split/program.h"

#include <map>
#include <string>
#include <vector>

namespace pando::ranks {

// By part: names of values -> "forward", "backward" or "update". Backward is what depends on a gradient (of an op whose row says so, of a
// graph that autodiff made); an update is what a variable becomes of that. A program without gradients has "compute" alone.
std::vector<std::map<std::string, std::string>> phases_of(const split::Program& program);

}  // namespace pando::ranks
