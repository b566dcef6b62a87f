// The text of the model level while a session is made: what `pando dump --level=model -- PROGRAM` shows.
#pragma once

#include "ir/module.h"

#include <string>
#include <string_view>

namespace pando::session {

// If the environment's PANDO_DUMP_LEVEL is "model": a line "# after PASS" and the module's text (data of more than 16 elements left out),
// to the file that PANDO_DUMP_FILE names, or to standard output. A pass that changed nothing gives its line only. Rejects (runtime) a file
// that cannot be written.
class Dump {
 public:
  Dump();
  void after(std::string_view pass, const ir::Module& module);
  bool wanted() const { return wanted_; }
  // What lowering has decided.
  void decisions(const std::string& text);

 private:
  bool wanted_ = false;
  std::string last_;
};

}  // namespace pando::session
