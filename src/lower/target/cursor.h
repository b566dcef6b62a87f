// Where lowering stands: the program that steps are appended to, the straight-line piece of it, the function.
#pragma once

#include "ir/module.h"
#include "lower/row.h"

#include <poplar/Program.hpp>

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

namespace pando::lower {

// What a run of a function overwrites.
struct Frame {
  std::uint32_t number = 0;
  std::vector<StorageId> storages;
  std::set<std::uint32_t> calls;  // numbers of itself and all below
};

class Cursor {
 public:
  poplar::program::Sequence& program() { return *here_.program; }
  ir::Context context() const { return context_; }
  // Numbers; 0: no program, no function.
  std::uint32_t scope() const { return here_.scope; }
  std::uint32_t function() const { return here_.frame != nullptr ? here_.frame->number : 0; }

  // Goes on in a program, in a piece of its own.
  void begin(poplar::program::Sequence& program, ir::Context context);
  // For what is made before the first program: its copies stand there.
  void prepare(poplar::program::Sequence& program) { here_.program = &program; }
  // Lowers `body` into a program of its own, whose steps may run any number of times.
  poplar::program::Sequence nested(const std::function<void()>& body);
  // Lowers `body` as a function of this program: numbers its frame.
  void in_function(Frame& frame, poplar::program::Sequence& program, const std::function<void()>& body);
  // The function that is being lowered, if one is, calls that one.
  void call(const Frame& frame);
  // The function that is being lowered owns that storage.
  void own(StorageId storage);

 private:
  struct Position {
    poplar::program::Sequence* program = nullptr;
    std::uint32_t scope = 0;
    Frame* frame = nullptr;
  };
  Position here_;
  ir::Context context_ = ir::Context::normal;
  std::uint32_t scopes_ = 0, functions_ = 0;
};

}  // namespace pando::lower
