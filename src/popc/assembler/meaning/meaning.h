// What the row of an instruction sees while it becomes IR: operands, registers, memory, accumulators, control registers.
//
// Registers are variables of the function, which the optimiser keeps in registers of the host. What an instruction writes is seen when its
// bundle is complete: both instructions of a bundle read first.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <string>
#include <vector>

#include "popc/assembler/code/code.h"

namespace pando::popc {

constexpr unsigned kAccumulators = 32;
constexpr unsigned kControlRegisters = 256;

// The state of a worker in the function that its code becomes.
struct WorkerRegisters {
  llvm::Value *main[16] = {}, *aux[16] = {};
  llvm::Value* accumulators[kAccumulators] = {};
  llvm::Value* control[kControlRegisters] = {};  // those of a worker that hold a value
  llvm::Value* slots = nullptr;                  // executed so far
  llvm::Value* random = nullptr;                 // two words of 64 bits
  bool uses_random = false;
  llvm::Value* shared = nullptr;                 // PandoWorkerMemory (pando/device_runtime.h)
  llvm::Value *tile = nullptr, *last = nullptr;  // the tile's memory; bytes of it, less 16
  llvm::Value* worker = nullptr;                 // its number
  llvm::GlobalVariable* image = nullptr;         // of code and data of the program
};

class Meaning {
 public:
  Meaning(llvm::IRBuilder<>& builder, WorkerRegisters& registers) : b(builder), registers_(registers) {}

  llvm::IRBuilder<>& b;

  void begin(const AssemblyInstruction& instruction);
  // The writes of all instructions since the last call.
  void commit();

  std::size_t operands() const { return instruction_->operands.size(); }
  bool is_register(std::size_t i) const { return operand(i).kind == AssemblyOperand::Kind::registers; }
  const AssemblyOperand& operand(std::size_t i) const { return instruction_->operands[i]; }
  std::int64_t number(std::size_t i) const { return operand(i).value.number; }

  // 32 bits of a register or a number.
  llvm::Value* word(std::size_t i);
  llvm::Value* part(std::size_t i, unsigned k);  // register k of a group
  // Lanes of an operand, as float, half, i16 ... A suffix gives all lanes one value: of `lanes`, as many as the destination has.
  llvm::Value* lanes(std::size_t i, llvm::Type* lane, unsigned lanes);
  llvm::Value* lanes(std::size_t i, llvm::Type* lane);
  llvm::Value* f32(std::size_t i) { return b.CreateBitCast(word(i), b.getFloatTy()); }
  llvm::Value* low_half(std::size_t i) { return b.CreateExtractElement(lanes(i, b.getHalfTy()), std::uint64_t{0}); }
  // A value as wide as the operand, whatever its type; a narrower one is extended with zeros.
  void set(std::size_t i, llvm::Value* value);
  void set_part(std::size_t i, unsigned k, llvm::Value* word);

  // Memory. Addresses are of 32 bits.
  llvm::Value* load(llvm::Type* type, llvm::Value* address);
  void store(llvm::Value* value, llvm::Value* address);
  llvm::Value* times(llvm::Value* value, unsigned bytes);

  llvm::Value* accumulator(unsigned n);
  void set_accumulator(unsigned n, llvm::Value* value);
  llvm::Value* control(unsigned number);
  void set_control(unsigned number, llvm::Value* word);
  llvm::Value* random64();
  // Common compute weights: 64 bits of a unit.
  llvm::Value* weight_address(llvm::Value* index);
  llvm::Value* weights(unsigned unit, unsigned column, llvm::Type* lane);

  // Vectors.
  llvm::Value* splat(llvm::Value* value, unsigned lanes) { return b.CreateVectorSplat(lanes, value); }
  llvm::Value* lane(llvm::Value* vector, unsigned i) { return b.CreateExtractElement(vector, i); }
  llvm::Value* vector_of(llvm::ArrayRef<llvm::Value*> lanes);
  llvm::Value* widened(llvm::Value* halves);
  llvm::Value* narrowed(llvm::Value* floats);

  // Of a branch or an exit.
  llvm::Value* condition = nullptr;

  llvm::Value* read(Bank bank, unsigned index);
  void write(Bank bank, unsigned index, llvm::Value* word);
  WorkerRegisters& registers() { return registers_; }
  const AssemblyInstruction& instruction() const { return *instruction_; }

 private:
  llvm::Value* place(llvm::Value* address, unsigned bytes, bool writes);
  llvm::Value* as_words(llvm::Value* value, unsigned count);

  struct Write {
    llvm::Value *to, *value;
  };
  WorkerRegisters& registers_;
  const AssemblyInstruction* instruction_ = nullptr;
  std::vector<Write> writes_;
};

// "FILE:LINE: text of the instruction", a constant of the module.
llvm::Constant* where_text(llvm::IRBuilder<>& b, const AssemblyInstruction& instruction);

}  // namespace pando::popc
