#include "emit/torch/python_text.h"
#include "emit/torch/torch_row.h"
#include "ir/meaning/slices.h"

#include <fmt/format.h>

namespace pando::emit {

using namespace ir;

namespace shape_rows {

namespace {

// "[1:3, :, 2:]" of the axes' ranges, all with steps of 1.
std::string subscript(const std::vector<SliceRange>& ranges, const Shape& shape) {
  std::string out;
  for (std::size_t d = 0; d < ranges.size(); ++d) {
    const SliceRange& r = ranges[d];
    const std::string begin = r.start == 0 ? "" : std::to_string(r.start),
                      end = r.start + r.count == shape[d] ? "" : std::to_string(r.start + r.count);
    out += (d ? ", " : "") + begin + ":" + end;
  }
  return "[" + out + "]";
}

bool is_forward(const std::vector<SliceRange>& ranges) {
  for (const SliceRange& r : ranges)
    if (r.step != 1) return false;
  return true;
}

// (start, step, count) of each axis.
std::string ranges_text(const std::vector<SliceRange>& ranges) {
  std::string out;
  for (const SliceRange& r : ranges) out += fmt::format("{}({}, {}, {})", out.empty() ? "" : ", ", r.start, r.step, r.count);
  return "[" + out + "]";
}

std::string slice(const Call& c) {
  const Shape& shape = c.type(0).shape;
  const std::vector<SliceRange> ranges = slice_ranges(shape, c.attributes());
  if (ranges.empty()) return c.x(0);
  return is_forward(ranges) ? c.x(0) + subscript(ranges, shape) : fmt::format("functions.take_ranges({}, {})", c.x(0), ranges_text(ranges));
}

std::string slice_assign(const Call& c) {
  const std::vector<SliceRange> ranges = slice_ranges(c.type(0).shape, c.attributes());
  return fmt::format("functions.put_ranges({}, {}, {})", c.x(0), c.x(1), ranges_text(ranges));
}

std::string subsample(const Call& c) {
  std::string out;
  for (const std::int64_t s : c.attributes().ints("strides")) out += fmt::format("{}::{}", out.empty() ? "" : ", ", s);
  return out.empty() ? c.x(0) : c.x(0) + "[" + out + "]";
}

constexpr TorchRow kRows[] = {
    {.op = "concat", .form = "torch.cat(({*},), dim={axis})", .moves = true},
    {.op = "expand", .form = "{0}.expand({:shape})", .shares = true, .moves = true},
    {.op = "flatten", .form = "{0}.reshape(-1)", .shares = true, .moves = true},
    {.op = "onehot", .form = "functions.onehot({0}, {num_classes}, {1}, {axis})", .moves = true},
    {.op = "reshape", .form = "{0}.reshape({:shape})", .shares = true, .moves = true},
    {.op = "slice", .write = slice, .shares = true, .moves = true},
    {.op = "slice_assign", .write = slice_assign, .moves = true},
    {.op = "split",
     .write =
         [](const Call& c) {
           return fmt::format("torch.split({}, {}, dim={})", c.x(0), py_list(c.attributes().ints("splits")), c.attribute("axis")) +
                  (c.attributes().ints("splits").size() == 1 ? "[0]" : "");
         },
     .shares = true,
     .moves = true},
    {.op = "squeeze", .form = "{0}.reshape({:shape})", .shares = true, .moves = true},
    {.op = "subsample", .write = subsample, .shares = true, .moves = true},
    {.op = "transpose",
     .write =
         [](const Call& c) {
           const Ints& p = c.attributes().ints("permutation");
           return p == Ints{1, 0} ? c.x(0) + ".T" : fmt::format("{}.permute({})", c.x(0), py_tuple(p));
         },
     .shares = true,
     .moves = true},
};

}  // namespace

}  // namespace shape_rows

extern const std::span<const TorchRow> torch_shape;
const std::span<const TorchRow> torch_shape = shape_rows::kRows;

}  // namespace pando::emit
