// Where the ops of a loop body run, and what moves values between them.
#pragma once

#include "ir/module.h"

#include <cstdint>
#include <vector>

namespace pando::split {

// Gives every value of the main graph a device. What is annotated stays. An op runs where its results are said to lie, else where the first
// variable among its operands lies, else where the first other operand lies, else where its first user runs, else on device 0. A variable
// lies where it is updated or first used. All operands of an op must come to one device. Rejects (value) results of one op on several
// devices, and a variable whose new contents are elsewhere. Returns the device of each op, by id.
std::vector<std::int32_t> complete_devices(ir::Module& module);

// Makes every operand lie where its op runs: one `send` for each value and device, right behind the value's definition. Constants are made
// on every device that uses them. `devices` grows with the ops; an op of device -1 lies on several, and its operands stay where they are.
void insert_sends(ir::Module& module, std::vector<std::int32_t>& devices);

// An op that only takes a tensor to another device.
bool is_transfer(const ir::Module& module, ir::OpId op);
// Made from nothing: constants, zeros.
bool is_constant(const ir::Module& module, ir::OpId op);

}  // namespace pando::split
