// How Python writes things.
#pragma once

#include "ir/host_tensor.h"
#include "ir/types/attributes.h"
#include "ir/types/type.h"

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace pando::emit {

// Names that are taken; of each, the number that the next of its name tries first.
using NameSet = std::unordered_map<std::string, int>;

std::string py_number(double v);
std::string py_text(std::string_view text);
// "(2, 3)", "(4,)", "()".
std::string py_tuple(std::span<const std::int64_t> items);
// "[2, 3]".
std::string py_list(std::span<const std::int64_t> items);
std::string py_names(std::span<const std::string> names);
std::string py_value(const ir::AttributeValue& value);
// "torch.float32".
std::string py_dtype(ir::DType t);
// The elements, row after row.
std::string py_elements(const ir::HostTensor& t);

// Whether some text has a name as a word of its own.
bool mentions(std::string_view text, std::string_view name);

// Names as Python takes them: letters, digits and underscores, none of Python's words and none of `taken`, to which it is added.
std::string py_identifier(std::string_view name, NameSet& taken);
// What no value of a program may be called.
NameSet reserved_identifiers();

}  // namespace pando::emit
