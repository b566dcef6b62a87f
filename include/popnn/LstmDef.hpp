#ifndef popnn_LstmDef_hpp
#define popnn_LstmDef_hpp

/// The units of a cell, in the order in which weights have them unless parameters say otherwise.
enum BasicLstmCellUnit : int {
  BASIC_LSTM_CELL_FORGET_GATE = 0,
  BASIC_LSTM_CELL_INPUT_GATE = 1,
  BASIC_LSTM_CELL_CANDIDATE = 2,
  BASIC_LSTM_CELL_OUTPUT_GATE = 3,
  BASIC_LSTM_CELL_NUM_UNITS = 4
};

#endif
