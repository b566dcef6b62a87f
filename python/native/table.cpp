// The op table as Python sees it: what generates popxl.ops, its documentation and tests over all rows.
#include "native/native.h"

#include "ir/op_row.h"
#include "ir/op_table.h"
#include "lower/lower.h"

namespace pando::python {

namespace {

const char* name_of(ir::AttributeKind kind) {
  switch (kind) {
    case ir::AttributeKind::flag: return "flag";
    case ir::AttributeKind::integer: return "integer";
    case ir::AttributeKind::number: return "number";
    case ir::AttributeKind::text: return "text";
    case ir::AttributeKind::ints: return "ints";
    case ir::AttributeKind::numbers: return "numbers";
    case ir::AttributeKind::texts: return "texts";
    case ir::AttributeKind::dtype: return "dtype";
    case ir::AttributeKind::blob: return "blob";
    case ir::AttributeKind::stream: return "stream";
    case ir::AttributeKind::buffer: return "buffer";
  }
  return "";
}

nb::str text(std::string_view s) { return nb::str(s.data(), s.size()); }

// How a machine comes to compute it.
const char* lowering_of(const ir::OpRow& row) {
  if (lower::has_lowering(row)) return "own";
  if (row.constant) return "data";
  return row.expand != nullptr ? "expansion" : "none";
}

nb::dict describe(const ir::OpRow& row) {
  nb::list operands, attributes;
  for (const ir::OperandRule& o : row.operands) {
    if (o.name.empty()) break;
    nb::list types;
    for (std::size_t i = 0; i < ir::kDTypes; ++i) {
      if (o.types & ir::set_of(static_cast<ir::DType>(i))) types.append(text(ir::name_of(static_cast<ir::DType>(i))));
    }
    operands.append(nb::make_tuple(text(o.name), types, o.variadic, o.optional));
  }
  for (const ir::AttributeRule& a : row.attributes) {
    if (a.name.empty()) break;
    attributes.append(nb::make_tuple(text(a.name), text(name_of(a.kind)), a.required));
  }
  static constexpr std::string_view kDifferentiable[] = {"gradient", "zero", "no", "rejected", "blocks"};
  nb::dict d;
  d["name"] = text(row.name);
  d["doc"] = text(row.doc);
  d["signature"] = text(row.signature);
  d["module"] = text(row.module.empty() ? row.name : row.module);
  d["operands"] = operands;
  d["attributes"] = attributes;
  d["has_in_place"] = row.has_in_place;
  d["modifies"] = row.modifies[0].operand >= 0;
  d["view"] = row.view != ir::View::none;
  d["graphs"] = static_cast<int>(row.graphs);
  d["differentiable"] = text(kDifferentiable[static_cast<std::size_t>(row.differentiable)]);
  d["elementwise"] = row.elementwise;
  d["cost"] = row.cost != nullptr;
  d["lowering"] = lowering_of(row);
  d["popart_type"] = text(row.popart_type);
  d["popart_in_place_type"] = text(row.popart_in_place_type);
  return d;
}

}  // namespace

void bind_table(nb::module_& m) {
  m.def(
      "op_table",
      [] {
        nb::list rows;
        for (const ir::OpRow* row : ir::op_table()) rows.append(describe(*row));
        return rows;
      },
      "All rows of the op table, as dicts.");
  m.def("dtype_names", [] {
    nb::list names;
    for (std::size_t i = 0; i < ir::kDTypes; ++i) names.append(text(ir::name_of(static_cast<ir::DType>(i))));
    return names;
  });
  m.def("add_package", &Locations::add_package, nb::arg("folder"), "Lines of files below this folder are not the user's.");
  m.def(
      "set_location",
      [](std::string file, std::uint32_t line, std::string function) {
        Locations::give(ir::Location{std::move(file), std::move(function), line});
      },
      nb::arg("file"), nb::arg("line"), nb::arg("function"), "What is made from now on comes from this line.");
  m.def("clear_location", [] { Locations::give(std::nullopt); }, "What is made from now on comes from the caller's line.");
  m.def(
      "find_location",
      [] {
        const ir::Location at = Locations::find();
        return nb::make_tuple(at.file, at.line, at.function);
      },
      "(file, line, function) of the caller's line outside the package.");
}

}  // namespace pando::python
