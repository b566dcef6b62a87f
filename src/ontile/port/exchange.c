#include "exchange.h"
void exchange_init(void) {}
