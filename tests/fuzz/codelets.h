// The codelets that random programs are made of: integer arithmetic on 1, 2, 4 and 8-byte elements, so that every byte counts
// and nothing is a NaN. A kernel that finds an operand below its field's alignment writes other results.
#pragma once

#include <string>

#include "codelet/library.h"

namespace pando::fuzz {

// Registers, for each of the element types unsigned char, unsigned short, unsigned int and unsigned long long:
//   Mix<T>      in x, out y, state k           y[i] from x[i mod size] (16-byte aligned x)
//   Chain<T>    in x, out y, state k           y[i] from x[i mod size] and y[i-1]; x and y may overlap: in place
//   Update<T>   inout v, state k               v[i] from v[i] and v[i-1]
//   Fold<T>     in rows[][], out sum, state vector w
//   Spread<T>   in x, out rows[][]             (vector list)
//   Shift<T>    inout rows[][] (interleaved), in s (scalar)
//   Multi<T>    multi-vertex: in x (interleaved), out y
//   Test<T>     in x                           no output; its result is a bit of x
// and, for control, on unsigned int:
//   Countdown   inout n, out going, out done   (scalars) going = (n was not 0); done = !going; n -= going
void add_codelets(Library& library);

}  // namespace pando::fuzz
