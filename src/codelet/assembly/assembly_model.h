// What the instructions of workers do, said plainly: the checker of popc's translation of them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace pando {

// One execution: words of operands before and after, accumulators, memory.
struct InstructionCase {
  std::string name;
  std::vector<std::string> form;                    // of each operand, as popc --list-instructions has it
  std::vector<std::vector<std::uint32_t>> in, out;  // by operand; a number is one word
  float accumulators[16] = {};
  std::uint32_t tas = 0;
  std::vector<char> memory;
  std::uint32_t memory_address = 0;

  template <class T>
  T* at(std::uint32_t address) {
    return reinterpret_cast<T*>(memory.data() + (address - memory_address));
  }
};

// By mnemonic.
const std::map<std::string, std::function<void(InstructionCase&)>>& instruction_models();

}  // namespace pando
