// The program of one device as Python, and what its names stand for.
#pragma once

#include "ir/module.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace pando::emit {

struct ProgramText {
  // Functions of the graphs that ops carry, then step(rank).
  std::string functions;

  struct Variable {
    std::string local, name;
    ir::TypeId type;
    // What it begins with, where the program says so.
    ir::HostTensor data;
  };
  std::vector<Variable> variables;

  struct Load {
    std::string local, name;
    ir::DType dtype = ir::DType::float32;
    ir::Shape shape;
    // Blocks in a step.
    std::int64_t per_step = 1;
  };
  std::vector<Load> loads;

  struct Output {
    std::string local, name;
  };
  std::vector<Output> outputs;

  struct Constant {
    std::string local;
    ir::HostTensor data;
  };
  std::vector<Constant> constants;

  struct Buffer {
    std::int64_t rows = 0;
    ir::DType dtype = ir::DType::float32;
    ir::Shape shape;
    // Variables that lie in it: row, full name, what it begins with.
    struct Row {
      std::int64_t row = 0;
      std::string local, name;
      ir::HostTensor data;
    };
    std::vector<Row> variables;
  };
  std::vector<Buffer> buffers;

  // Devices that messages go to or come from; of projected programs, channels to them.
  std::vector<std::int32_t> peers;
  struct Channel {
    std::int32_t peer = 0;
    // -1: any number.
    std::int64_t capacity = 1;
    std::uint32_t tag = 0;
  };
  std::vector<Channel> channels;
  // Devices that meet, in the order of members.
  std::vector<std::vector<std::int32_t>> groups;

  // By function: what a line assigns to (or the line), and the op that it is.
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> labels;
};

}  // namespace pando::emit
