// What the attention operators share.
#pragma once

#include "onnx/operator.h"

namespace pando::onnx {

// Keys or values (batch, heads, length, size) with as many heads as there are of queries: each serves a group of neighbours.
ValueId for_each_query_head(Context& c, ValueId v, std::int64_t heads);

// The rules of Attention and LinearAttention.
void attend(Context& c);
void attend_linearly(Context& c);

}  // namespace pando::onnx
