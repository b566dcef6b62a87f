#include "lower/target/cursor.h"

namespace pando::lower {

using poplar::program::Sequence;

void Cursor::begin(Sequence& program, ir::Context context) {
  here_.program = &program;
  here_.scope = ++scopes_;
  context_ = context;
}

Sequence Cursor::nested(const std::function<void()>& body) {
  Sequence steps;
  const Position before = here_;
  here_.program = &steps;
  here_.scope = ++scopes_;
  body();
  here_ = before;
  return steps;
}

void Cursor::in_function(Frame& frame, Sequence& program, const std::function<void()>& body) {
  frame.number = ++functions_;
  frame.calls.insert(frame.number);
  const Position before = here_;
  here_ = {&program, ++scopes_, &frame};
  body();
  here_ = before;
  call(frame);
}

void Cursor::call(const Frame& frame) {
  if (here_.frame != nullptr) here_.frame->calls.insert(frame.calls.begin(), frame.calls.end());
}

void Cursor::own(StorageId storage) {
  if (here_.frame != nullptr) here_.frame->storages.push_back(storage);
}

}  // namespace pando::lower
