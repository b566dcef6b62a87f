// .macro, .rept and .irp: bodies and what takes the place of their parameters.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "popc/assembler/text/statements.h"

namespace pando::popc {

struct MacroParameter {
  std::string name;
  std::string standard;  // value if none is given
  bool is_required = false, takes_rest = false;
};

struct Macro {
  std::string name;
  std::vector<MacroParameter> parameters;
  std::vector<Statement> body;
};

// NAME parameters, as it stands behind .macro. Throws AssemblyError.
Macro read_macro_head(const std::string& text);
// The body with the arguments in place of \NAME; `number`: what \@ is. Throws AssemblyError.
std::vector<Statement> expand(const Macro& macro, const std::string& arguments, unsigned number, const SourcePlace& place);

}  // namespace pando::popc
