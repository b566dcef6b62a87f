// What a lowering decides, as text: the last part of what `pando dump --level=model` shows.
#pragma once

#include "ir/module.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace pando::lower {

// Lines in parts, one for the variables, each program and each graph. A part that begins within another one stands behind it.
class Decisions {
 public:
  // Null: nobody wants to know. Then nothing else is called.
  explicit Decisions(std::string* out) : out_(out) {}
  explicit operator bool() const { return out_ != nullptr; }

  void begin(std::string title);
  // The part that began last. Parts without a line are left out.
  void end();
  // Of an op or a variable.
  void line(const std::string& text);
  // What happens while an op is lowered: stands under its line, which comes next.
  void note(std::string text);
  // Why a value is laid out as it is.
  void give_reason(ir::ValueId v, std::string why);
  // ", why"; empty where nothing is known.
  std::string reason(ir::ValueId v) const;
  // Puts it all into the string.
  void finish();

 private:
  struct Part {
    std::string title, lines;
    std::vector<std::string> notes;
  };
  std::string* out_;
  std::vector<Part> parts_;
  std::vector<std::size_t> open_;
  std::map<ir::ValueId, std::string> why_;
};

}  // namespace pando::lower
