#include "kernels/kernel.h"
#include "kernels_version.h"

PANDO_KERNEL const unsigned PANDO_KERNELS_VERSION;
const unsigned PANDO_KERNELS_VERSION = 1;
