#ifndef popnn_LstmDef_hpp
#define popnn_LstmDef_hpp

/// The units of a cell, in the order in which weights have them unless parameters say otherwise.
enum class BasicLstmCellUnit { FORGET_GATE = 0, INPUT_GATE = 1, CANDIDATE = 2, OUTPUT_GATE = 3, NUM_UNITS = 4 };

#endif
