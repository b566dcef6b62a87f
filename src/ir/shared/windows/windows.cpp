#include "ir/shared/windows/windows.h"

#include <algorithm>

namespace pando::ir {

namespace {

using Complain = std::function<void(const std::string&)>;

// Of a number in a list, and of elements from the first to the last of a window or an input: sums and products of them fit 63 bits.
constexpr std::int64_t kMostEntry = std::int64_t{1} << 40, kMostSpan = std::int64_t{1} << 44;

// The list, or `otherwise` for each axis.
Ints list_of(const Attributes& a, std::string_view name, std::size_t n, std::int64_t otherwise, std::int64_t least,
             const Complain& complain) {
  const Ints& given = a.ints(name);
  const bool all_default = std::all_of(given.begin(), given.end(), [&](std::int64_t v) { return v == otherwise; });
  if (given.size() != n) {
    if (!all_default) complain(fmt::format("{} has {} entries; {} are needed", name, given.size(), n));
    return Ints(n, otherwise);
  }
  for (std::int64_t v : given) {
    if (v < least) complain(fmt::format("{} has the entry {}; {} is the least", name, v, least));
    if (v > kMostEntry) complain(fmt::format("{} has the entry {}; {} is the most", name, v, kMostEntry));
  }
  return given;
}

std::string pad_type_of(const Attributes& a) {
  for (std::string_view name : {"pad_type", "auto_pad"}) {
    if (!a.text(name).empty()) return a.text(name);
  }
  return "not_set";
}

bool is_too_long(std::int64_t elements, std::int64_t distance) {
  std::int64_t length = 0;
  return elements > 1 && (__builtin_mul_overflow(elements - 1, distance, &length) || length > kMostSpan);
}

void pad(WindowAxis& w, const std::string& type) {
  w.before = w.after = 0;
  if (type == "valid") return;
  const std::int64_t outs = (w.spread() + w.stride - 1) / w.stride;
  const std::int64_t total = std::max<std::int64_t>(0, (outs - 1) * w.stride + w.span() - w.spread());
  w.before = type == "same_upper" ? total / 2 : total - total / 2;
  w.after = total - w.before;
}

void count(WindowAxis& w, bool ceil) {
  const std::int64_t room = w.spread() + w.before + w.after - w.span();
  if (room < 0) {
    w.out = 0;
    return;
  }
  w.out = (ceil ? room + w.stride - 1 : room) / w.stride + 1;
  // A window that begins behind the input would see nothing.
  if (ceil && (w.out - 1) * w.stride >= w.spread() + w.before) --w.out;
}

Windows make(const Attributes& a, std::span<const std::int64_t> input, std::span<const std::int64_t> kernel, const Complain& complain) {
  const std::size_t n = kernel.size();
  const Ints stride = list_of(a, "stride", n, 1, 1, complain), dilation = list_of(a, "dilation", n, 1, 1, complain);
  const Ints in_dilation = list_of(a, "in_dilations", n, 1, 1, complain), padding = list_of(a, "padding", 2 * n, 0, -kMostEntry, complain);
  const std::string type = pad_type_of(a);
  if (type != "not_set" && type != "same_upper" && type != "same_lower" && type != "valid") {
    complain(fmt::format("the padding '{}'; not_set, same_upper, same_lower and valid are possible", type));
  }
  Windows all(n);
  for (std::size_t d = 0; d < n; ++d) {
    WindowAxis& w = all[d];
    w.in = input[d];
    w.kernel = kernel[d];
    w.stride = stride[d];
    w.dilation = dilation[d];
    w.in_dilation = in_dilation[d];
    w.before = padding[d];
    w.after = padding[n + d];
    if (w.kernel < 1) complain(fmt::format("a kernel of {}", w.kernel));
    if (is_too_long(w.kernel, w.dilation)) complain(fmt::format("a window of {} elements, each {} from the next", w.kernel, w.dilation));
    if (is_too_long(w.in, w.in_dilation)) complain(fmt::format("an input of {} elements, each {} from the next", w.in, w.in_dilation));
    if (type != "not_set") pad(w, type);
    count(w, a.flag("ceil_mode", false));
    if (w.out < 1)
      complain(fmt::format("a window of {} elements does not fit into {} with padding {} and {}", w.span(), w.spread(), w.before, w.after));
  }
  return all;
}

Shape column(const Windows& windows, std::int64_t WindowAxis::* member) {
  Shape s;
  for (const WindowAxis& w : windows) s.push_back(w.*member);
  return s;
}

}  // namespace

Windows windows_of(const Inference& in, const Attributes& attributes, std::span<const std::int64_t> input,
                   std::span<const std::int64_t> kernel) {
  return make(attributes, input, kernel, [&](const std::string& problem) { in.reject("window", "{}", problem); });
}

Windows windows_of(const Attributes& attributes, std::span<const std::int64_t> input, std::span<const std::int64_t> kernel) {
  return make(attributes, input, kernel, [](const std::string&) {});
}

Shape outs_of(const Windows& windows) { return column(windows, &WindowAxis::out); }
Shape ins_of(const Windows& windows) { return column(windows, &WindowAxis::in); }
Shape kernel_of(const Windows& windows) { return column(windows, &WindowAxis::kernel); }

void for_each_cell(const Windows& windows, const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& f) {
  const std::int64_t outs = elements_of(outs_of(windows)), cells = elements_of(kernel_of(windows));
  for (std::int64_t o = 0; o < outs; ++o) {
    for (std::int64_t k = 0; k < cells; ++k) {
      std::int64_t rest_o = o, rest_k = k, i = 0, scale = 1;
      for (std::size_t d = windows.size(); d-- > 0 && i >= 0;) {
        const WindowAxis& w = windows[d];
        const std::int64_t at = w.at(rest_o % w.out, rest_k % w.kernel);
        i = at < 0 ? -1 : i + at * scale;
        rest_o /= w.out;
        rest_k /= w.kernel;
        scale *= w.in;
      }
      if (i >= 0) f(o, k, i);
    }
  }
}

}  // namespace pando::ir
