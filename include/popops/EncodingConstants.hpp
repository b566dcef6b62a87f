#ifndef popops_EncodingConstants_hpp
#define popops_EncodingConstants_hpp

/// The label of rows that do not count: no element of such a row is selected, updated or encoded as on.
#define MASKED_LABEL_CODE 0xFFFFFFFFU

// What is added to x in log(x), so that log(0) is finite.
#define EPS_LOG_N_FLOAT (1.17549435e-38F)
#define EPS_LOG_N_HALF (0.000000059605F)

#endif
