#ifndef popnn_GruDef_hpp
#define popnn_GruDef_hpp

/// The units of a cell, in the order in which weights have them unless parameters say otherwise.
enum class BasicGruCellUnit { RESET_GATE = 0, UPDATE_GATE = 1, CANDIDATE = 2, NUM_UNITS = 3 };

#endif
