// From blocks to lines of the source: which line each slot of a block belongs to.
#pragma once

#include <llvm/IR/Module.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codelet/store/code_lines.h"
#include "popc/counting/selection.h"

namespace pando::popc {

using SelectedFunctions = std::vector<std::pair<const llvm::Function*, const SelectedFunction*>>;

class LineTable {
 public:
  explicit LineTable(const llvm::Module& module);

  // Of a codelet's functions, the first of which is compute(). Block 0 is what surrounds compute(), `stub_slots` long; the others are the
  // segments that have slots, in order. A slot belongs to the line of its main-pipe instruction, or of the other one if that is longer; of
  // code of headers of Pando or the system, to the line that called it. What has no line belongs to the first line of its block that
  // there is, else to its function's.
  CodeLines of(const SelectedFunctions& functions, unsigned stub_slots) const;

 private:
  std::map<std::string, std::vector<std::string>> sources_;
};

}  // namespace pando::popc
