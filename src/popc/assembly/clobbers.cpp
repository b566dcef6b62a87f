#include "popc/assembly/clobbers.h"

#include <string>

namespace pando::popc {

namespace {

// `"$a0"`, `"$m12"`, `"$a0:1"`
bool names_worker_register(llvm::StringRef literal) {
  if (!literal.consume_front("\"$") || !literal.consume_back("\"")) return false;
  if (!literal.consume_front("a") && !literal.consume_front("m")) return false;
  const auto [first, last] = literal.split(':');
  unsigned number = 0;
  return !first.getAsInteger(10, number) && number < 16 && (last.empty() || (!last.getAsInteger(10, number) && number < 16));
}

// Follows the tokens of a file: in an asm statement behind its third colon is the clobber list.
class ClobberList {
 public:
  bool is_next(const clang::Token& token) {
    if (token.is(clang::tok::kw_asm)) {
      depth_ = colons_ = 0;
      inside_ = true;
    } else if (!inside_) {
      return false;
    } else if (token.is(clang::tok::l_paren)) {
      ++depth_;
    } else if (token.is(clang::tok::r_paren)) {
      inside_ = --depth_ > 0;
    } else if (depth_ == 1) {
      colons_ += token.is(clang::tok::colon) ? 1 : token.is(clang::tok::coloncolon) ? 2 : 0;
      inside_ = token.isNot(clang::tok::semi);
    }
    return inside_ && depth_ == 1 && colons_ == 3 && token.is(clang::tok::string_literal);
  }

 private:
  bool inside_ = false;
  int depth_ = 0;
  int colons_ = 0;
};

}  // namespace

void accept_clobbers_of_workers(clang::Preprocessor& preprocessor) {
  static constexpr char kFlags[] = "\"cc\"";
  preprocessor.setTokenWatcher([list = ClobberList(), &preprocessor](const clang::Token& token) mutable {
    if (!list.is_next(token) || !names_worker_register(preprocessor.getSpelling(token))) return;
    // The watcher sees the parser's token just before the parser does.
    auto& seen = const_cast<clang::Token&>(token);
    seen.setLiteralData(kFlags);
    seen.setLength(sizeof kFlags - 1);
  });
}

}  // namespace pando::popc
