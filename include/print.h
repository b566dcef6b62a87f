/* printf for codelets: goes to the host's standard output. */
#ifndef PANDO_PRINT_H
#define PANDO_PRINT_H
#include <stdio.h>
#endif
