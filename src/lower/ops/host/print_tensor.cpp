#include "lower/parts/op_lowering.h"

#include <poplar/PrintTensor.hpp>

namespace pando::lower {

namespace {

poplar::FloatFormat float_format(const ir::Attributes& a) {
  const std::string name = a.has("float_format") ? a.text("float_format") : "auto";
  if (name == "fixed") return poplar::FloatFormat::FIXED;
  if (name == "scientific") return poplar::FloatFormat::SCIENTIFIC;
  return name == "none" ? poplar::FloatFormat::NONE : poplar::FloatFormat::AUTO;
}

}  // namespace

extern const Row lower_print_tensor;
constexpr Row lower_print_tensor = {
    .name = "print_tensor",
    .lower =
        [](OpLowering& o) {
          const ir::Attributes& a = o.attributes();
          const auto text = [&](const char* name, char otherwise) {
            return a.has(name) && !a.text(name).empty() ? a.text(name)[0] : otherwise;
          };
          const auto number = [&](const char* name, std::int64_t otherwise) { return static_cast<unsigned>(a.integer(name, otherwise)); };
          if (a.flag("print_self", true)) {
            const poplar::PrintTensorFmt format(number("summarise_threshold", 1000), number("edge_items", 3), number("max_line_width", 75),
                                                number("digits", 8), float_format(a), text("separator", ' '), text("open_bracket", '['),
                                                text("close_bracket", ']'));
            o.program().add(poplar::program::PrintTensor(a.text("title"), o.operand(0), format));
          }
          o.result_view(0, o.operand(0));
        },
};

}  // namespace pando::lower
