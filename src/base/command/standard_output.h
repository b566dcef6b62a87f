// The standard output of a tool.
#pragma once

namespace pando {

// Whether writing failed with this errno (0: it is not known) because who reads has seen enough, as `head` has: that is no error.
bool standard_output_has_no_reader(int error);

}  // namespace pando
