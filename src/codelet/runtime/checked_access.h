// What checked code (popc --checked) calls: entries of PandoRuntime. Each pointer that such code uses comes from somewhere, its base; what
// the base may be used for is looked up among the edges and vectors of the vertex that runs. A pointer that belongs to none of them (a
// variable of the stack, of the tile, of the heap) may be used for everything.
#pragma once

#include "pando/device_runtime.h"

namespace pando {

// From now on `vertex`, a descriptor, is the one that runs.
void checked_vertex(const PandoCheckedVertex* description, const char* vertex);
// `exact`: the base was read from a field, so what begins there is meant. Otherwise it may also be the end of what lies before.
PandoCheckedRange checked_range(const char* base, int exact);
// Throw application_runtime_error (checked-access): which element of which field was read or written, how many it has, and where in the
// source: "FILE:LINE", or null.
void checked_access(const char* base, const char* address, unsigned long long bytes, int writes, const char* place);
// `array`: what -fsanitize=array-bounds hands over.
void checked_index(const void* array, unsigned long long index);

}  // namespace pando
