// Which part of which tensor of the sequential program each variable, output and stream of a distributed one is, as a file: what
// Distributed says beside the module's text. With it a run takes the sequential program's data, and gives results as that program would.
//
//     {"whole_tensors": {"x": {"dtype": "float32", "shape": [8, 8]}},
//      "variables": [{"part": "x.1.m0", "whole": "x", "start": [0, 0]}, ...],
//      "outputs": [{"part": "l", "whole": "l", "start": [0, 0]}, ...],
//      "streams": [{"part": "x.1", "whole": "x", "start": [0, 0], "load": 0}, ...]}
#pragma once

#include "transform/distribute/parallelise.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pando::transform {

struct PieceTable {
  struct Entry {
    std::string part, whole;
    ir::Shape start;
    std::uint32_t load = 0;
  };
  struct Whole {
    ir::DType dtype = ir::DType::float32;
    ir::Shape shape;
  };
  std::map<std::string, Whole> whole_tensors;
  std::vector<Entry> variables, outputs, streams;

  // Null: not in the table.
  const Entry* variable(const std::string& part) const;
  const Entry* output(const std::string& part) const;
  // By load.
  std::vector<const Entry*> stream(const std::string& part) const;
  const ir::Shape& shape_of(const std::string& whole) const { return whole_tensors.at(whole).shape; }
};

PieceTable pieces_of(const Program& sequential, const Distributed& distributed);
std::string print_pieces(const PieceTable& table);
// Rejects (value) what print_pieces would not write.
PieceTable read_pieces(std::string_view text, const std::string& file);

}  // namespace pando::transform
