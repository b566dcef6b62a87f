// Which programs of a control program are measured as a whole.
#pragma once

#include <optional>
#include <regex>
#include <string>

#include "compile/compile.h"

namespace pando::compile {

struct Mark {
  std::string name;
  bool stream_copy = false;
};

class Marks {
 public:
  // Throws invalid_option for what is no regular expression.
  explicit Marks(const Options& options);
  // Its mark, if the program gets one.
  std::optional<Mark> of(const graph::Graph& graph, const graph::Program& program) const;

 private:
  std::optional<std::regex> blocks_, programs_;
  bool stream_copies_;
};

}  // namespace pando::compile
