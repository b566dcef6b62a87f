// What roi_align and its gradient share.
#pragma once

#include "ir/rows/define.h"

#include <functional>

namespace pando::ir {

// (regions, channels, bins high, bins wide). `first`: the operand that holds the regions; the images' numbers follow. Rejects (popart) what
// does not fit.
Shape roi_shape(const Inference& in, const Shape& images, std::size_t first);
// Calls f(result element, image element, weight) for each term of each mean.
void for_each_roi_sample(const Evaluation& e, const Shape& images, std::size_t first,
                         const std::function<void(std::int64_t out, std::int64_t in, double weight)>& f);
std::vector<Sample> roi_samples();

}  // namespace pando::ir
