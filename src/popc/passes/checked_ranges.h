// For checked code (checked.h): what each address of a function was made from, and the range of that.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace pando::popc {

// What a field with an address is: one element; elements; rows of elements.
enum FieldForm : unsigned { kElement, kVector, kRows };

// The pointer that an address was made from, and the bytes that it may be used for, i64. Null: all bytes.
struct Range {
  llvm::Value *base = nullptr, *begin = nullptr, *end = nullptr;
};

class Ranges {
 public:
  explicit Ranges(llvm::Function& function);

  // Whether something is known of an address: it does not lie on the stack or among globals.
  bool is_checked(llvm::Value* address);
  // Adds the code that finds it out, where the base comes from.
  Range of(llvm::Value* address);

 private:
  // What a pointer that is loaded leads to, if it is a field of a vertex (kFieldsAttribute).
  struct FieldMemory {
    FieldForm form;
    std::uint64_t bytes;  // of an element
  };
  static std::optional<FieldMemory> field_at(llvm::StringRef fields, std::int64_t offset);
  std::optional<FieldMemory> piece_of(llvm::LoadInst& load) const;
  Range of_piece(llvm::LoadInst& load, const FieldMemory& piece);
  Range of_root(llvm::Value* root);
  Range of_merge(llvm::Instruction* merge);
  Range everything(llvm::Value* base) const;

  // A vertex: where a value points to, and the fields seen from `offset` bytes after it.
  struct Vertex {
    llvm::Value* base;
    std::int64_t offset;
    llvm::StringRef fields;
  };
  std::vector<Vertex> vertices_;
  llvm::Function& function_;
  llvm::DenseMap<llvm::Value*, Range> known_;
};

}  // namespace pando::popc
