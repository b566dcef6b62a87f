// What LSTM, GRU and RNN share.
#pragma once

#include "onnx/operator.h"

#include <array>

namespace pando::onnx {

// One direction of a recurrent network; weights are turned so that rows go in.
struct Cell {
  std::int64_t hidden = 0;
  // (hidden, gates * hidden); what is added to each gate's product with the state; (hidden) each, of LSTM's peepholes: i, o, f.
  ValueId recurrence, recurrent_bias;
  std::array<ValueId, 3> peepholes;
  std::vector<std::function<ValueId(ValueId)>> activations;
  std::function<ValueId(ValueId)> clipped;
  bool flag = false;  // LSTM's input_forget, GRU's linear_before_reset
};

struct CellState {
  ValueId h, c;
};

// `x`: the input's part of all gates, with its bias: (batch, gates * hidden).
using CellStep = CellState (*)(Context& c, const Cell& cell, ValueId x, const CellState& before);
CellState lstm_step(Context& c, const Cell& cell, ValueId x, const CellState& before);
CellState gru_step(Context& c, const Cell& cell, ValueId x, const CellState& before);
CellState rnn_step(Context& c, const Cell& cell, ValueId x, const CellState& before);

struct CellKind {
  std::int64_t gates;
  std::vector<std::string> activations;
  bool has_cell;
  CellStep step;
};

// The rule of the three.
void recurrent(Context& c, const CellKind& kind);

}  // namespace pando::onnx
