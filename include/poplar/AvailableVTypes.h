/* Which compressed pointer layouts code may choose: VECTOR_AVAIL_SHORT_SPAN, VECTOR_AVAIL_SCALED_PTR32, ... None is defined:
 * codelets that ask fall back to SPAN and ONE_PTR. */
#ifndef POPLAR_AVAILABLE_V_TYPES_H
#define POPLAR_AVAILABLE_V_TYPES_H
#endif
