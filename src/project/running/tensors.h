// Values as tensors: ops have the meaning that the reference interpreter gives them.
#pragma once

#include "ir/semantics/interpreter.h"
#include "project/program.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace pando::project {

// What a stream of the host brings, slice after slice: (slices, shape of the stream).
using HostInputs = std::map<std::string, ir::HostTensor>;

class Tensors {
 public:
  struct Value {
    ir::HostValue value;
    bool empty = true;
  };
  static bool is_empty(const Value& v) { return v.empty; }

  Tensors(const ir::Module& module, const HostInputs& inputs) : module_(module), interpreter_(module), inputs_(inputs) {}

  Value initial(const Buffer& b) const;
  // Rejects (value) a stream without data, or with too few.
  Value input(const Stream& s, std::int64_t message) const { return input(s.host, s.type, message * s.slices + s.slice); }
  Value input(const std::string& stream, ir::TypeId type, std::int64_t slice) const;
  std::vector<Value> evaluate(ir::OpId op, std::vector<Value> operands);
  static Value of(ir::HostTensor t) { return {{std::move(t), {}}, false}; }

 private:
  const ir::Module& module_;
  ir::Interpreter interpreter_;
  const HostInputs& inputs_;
};

}  // namespace pando::project
