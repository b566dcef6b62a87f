// Ops and values as errors name them.
#pragma once

#include "ir/module.h"

#include <string>

namespace pando::ir {

// "matmul 'h' of graph 'f', at model.py:12"; without the line where none is known.
std::string described(const Module& module, OpId op);
// "'h', made by matmul 'h' of graph 'f', at model.py:12"; "'x', input 0 of graph 'f'".
std::string described(const Module& module, ValueId value);

}  // namespace pando::ir
