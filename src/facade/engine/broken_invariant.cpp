#include <pando/broken_invariant.hpp>

#include "base/check_handler.h"

namespace pando {

void on_broken_invariant(BrokenInvariant handler) { set_check_handler(handler); }

}  // namespace pando
