// The text of print_tensor.
#pragma once

#include "base/values/format_tensor.h"
#include "ir/host_tensor.h"
#include "ir/types/attributes.h"

#include <functional>
#include <string>

namespace pando::ir {

// From print_tensor's attributes; absent ones have PopXL's defaults. `reject` gets what is wrong with them, one sentence.
PrintFormat print_format_of(const Attributes& attributes, const std::function<void(const std::string&)>& reject = {});

std::string text_of(const HostTensor& t, const PrintFormat& format);

}  // namespace pando::ir
