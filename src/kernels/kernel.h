// What kernels are: C functions on blocks of memory, called by codelets. They know no tiles and no machine, allocate nothing that
// outlives a call (prepared code of a library excepted), run on the calling thread alone, and give the same bits whatever other
// threads do: how work is cut depends on shapes only. Nothing may throw.
#pragma once

// Marks what libpando_kernels.so exports.
#define PANDO_KERNEL extern "C" __attribute__((visibility("default")))
