#include "ir/rows/define.h"
#include "ir/shared/print_tensor.h"

namespace pando::ir {

namespace {

void infer_print(Inference& in) {
  print_format_of(in.attributes(), [&](const std::string& problem) { in.reject("print-format", "{}", problem); });
  same_as_first(in);
}

}  // namespace

extern const OpRow op_print_tensor;
constexpr OpRow op_print_tensor = checked({
    .name = "print_tensor",
    .doc = "Writes a tensor to standard error when the program runs, as `title: [...]`; the result is the tensor. Rows of more than "
           "`max_line_width` "
           "characters are broken; tensors of more than `summarise_threshold` elements show `edge_items` at both ends of each dimension. "
           "`digits`: significant "
           "digits of a float. With `print_gradient`, its gradient is written too, under the title `<title>_gradient`.",
    .signature = "print_tensor(t: Tensor, title: str=None, print_self: bool=True, print_gradient: bool=False, summarise_threshold: "
                 "int=1000, edge_items: int=3, "
                 "max_line_width: int=75, digits: int=8, float_format: FloatFormat='auto', separator: str=' ', open_bracket: str='[', "
                 "close_bracket: str=']') -> "
                 "Tensor",
    .operands = {{{"t"}}},
    .attributes = {{{"title", AttributeKind::text},
                    {"print_self", AttributeKind::flag, false},
                    {"print_gradient", AttributeKind::flag, false},
                    {"summarise_threshold", AttributeKind::integer, false},
                    {"edge_items", AttributeKind::integer, false},
                    {"max_line_width", AttributeKind::integer, false},
                    {"digits", AttributeKind::integer, false},
                    {"float_format", AttributeKind::text, false},
                    {"separator", AttributeKind::text, false},
                    {"open_bracket", AttributeKind::text, false},
                    {"close_bracket", AttributeKind::text, false}}},
    .infer = infer_print,
    .reference =
        [](Evaluation& e) {
          if (e.attributes().flag("print_self", true)) {
            const std::string& title = e.attributes().text("title");
            e.host().print((title.empty() ? "" : title + ": ") + text_of(e.operand(0), print_format_of(e.attributes())) + "\n");
          }
          e.result(e.operand(0));
        },
    .differentiable = Differentiable::by_gradient,
    .gradient =
        [](Gradient& g) {
          if (!g.attributes().flag("print_gradient", false)) return g.give(0, g.grad());
          Attributes a = g.attributes();
          a.set("title", a.text("title") + "_gradient");
          a.set("print_self", true);
          a.set("print_gradient", false);
          g.give(0, g.op("print_tensor", {g.grad()}, a));
        },
    .in_program_only = true,
    .effects = Effects::print,
    .popart_type = "PrintTensor",
    .whole = "the whole tensor is printed",
});

}  // namespace pando::ir
