// For checked code (checked.h): what each address of a function was made from, and the range of that.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>

namespace pando::popc {

// The pointer that an address was made from, and the bytes that it may be used for, i64. Null: all bytes.
struct Range {
  llvm::Value *base = nullptr, *begin = nullptr, *end = nullptr;
};

class Ranges {
 public:
  explicit Ranges(llvm::Function& function) : function_(function) {}

  // Whether something is known of an address: it does not lie on the stack or among globals.
  bool is_checked(llvm::Value* address);
  // Adds the code that finds it out, where the base comes from.
  Range of(llvm::Value* address);

 private:
  Range of_root(llvm::Value* root);
  Range of_merge(llvm::Instruction* merge);
  Range everything(llvm::Value* base) const;

  llvm::Function& function_;
  llvm::DenseMap<llvm::Value*, Range> known_;
};

}  // namespace pando::popc
