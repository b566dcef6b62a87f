// What the program of a device does, without its text: by this devices that do the same are found, and what they differ in is known.
#pragma once

#include "emit/torch/function_writer.h"
#include "emit/torch/placed.h"
#include "emit/torch/program_text.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace pando::emit {

// Numbers that mean the same in the keys of all devices of a module.
class KeyTables {
 public:
  // Of element type and shape, wherever it lies.
  std::uint32_t type(const ir::TypeTable& types, ir::TypeId id);
  // Of all that the attributes say but streams, buffers and constants.
  std::uint32_t attributes(const ir::Module& module, ir::OpId op);

  // By value: its number in the listing that began at `next` or later; smaller ones are of earlier listings.
  std::vector<std::uint32_t> numbers;
  std::uint32_t next = 1;

 private:
  std::uint32_t number_of(const std::string& text);

  std::vector<std::uint32_t> types_, attributes_;
  std::unordered_map<std::string, std::uint32_t> texts_;
};

// The lists of write_device's text, by other names, in the same order; `functions` is a key: devices with equal keys have equal texts.
ProgramText list_device(const Placed& placed, std::int32_t device, bool with_outputs, KeyTables& tables);

}  // namespace pando::emit
