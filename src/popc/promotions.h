// -Wdouble-promotion is about arithmetic that a machine does slowly: in double, which it has not. clang reports each promotion of a number,
// that of a half to float as well; public codelets are compiled with it as an error and promote halfs.
#pragma once

#include <clang/Frontend/CompilerInstance.h>

namespace pando::popc {

// From here on the compiler says nothing of a half that becomes float.
void allow_promotions_of_half(clang::CompilerInstance& ci);

}  // namespace pando::popc
