// Names that the headers give and that give way to a program's own: float2, half4, rptsize_t. Public codelet files define types of these
// names for hosts (#ifndef __IPU__), some before they include a header of the API, some after.
//
// The headers declare them in namespace pando_types. Where a name is looked up that nothing else declares, it is looked up there: so a
// program's own is never a second declaration, and never ambiguous.
#pragma once

#include <clang/Sema/Sema.h>

namespace pando::popc {

constexpr const char* kGivesWayMacro = "__PANDO_GIVES_WAY__";  // tells the headers that names are looked up so

void find_given_names(clang::Sema& sema);

}  // namespace pando::popc
