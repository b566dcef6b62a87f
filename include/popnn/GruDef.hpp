#ifndef popnn_GruDef_hpp
#define popnn_GruDef_hpp

/// The units of a cell, in the order in which weights have them unless parameters say otherwise.
enum BasicGruCellUnit : int {
  BASIC_GRU_CELL_RESET_GATE = 0,
  BASIC_GRU_CELL_UPDATE_GATE = 1,
  BASIC_GRU_CELL_CANDIDATE = 2,
  BASIC_GRU_CELL_NUM_UNITS = 3
};

#endif
