#include "native/native.h"

#include "ir/error.h"
#include "ir/op_row.h"

namespace pando::python {

namespace {

template <class T>
T cast_or_reject(const ir::OpRow& row, std::string_view name, nb::handle value, std::string_view wanted) {
  T out;
  if (!nb::try_cast<T>(value, out)) {
    ir::reject(ir::ErrorClass::type, "argument-type", "{}: argument '{}' is {}; it takes {}", row.name, name, nb::repr(value).c_str(),
               wanted);
  }
  return out;
}

ir::AttributeValue convert(const ir::OpRow& row, const ir::AttributeRule& rule, nb::handle value) {
  using ir::AttributeKind;
  switch (rule.kind) {
    case AttributeKind::flag: {
      const int truth = PyObject_IsTrue(value.ptr());
      if (truth < 0) throw nb::python_error();
      return truth == 1;
    }
    case AttributeKind::integer: return cast_or_reject<std::int64_t>(row, rule.name, value, "an integer");
    case AttributeKind::number: return cast_or_reject<double>(row, rule.name, value, "a number");
    case AttributeKind::text: return cast_or_reject<std::string>(row, rule.name, value, "a string");
    case AttributeKind::ints: return cast_or_reject<ir::Ints>(row, rule.name, value, "integers");
    case AttributeKind::numbers: return cast_or_reject<ir::Floats>(row, rule.name, value, "numbers");
    case AttributeKind::texts: return cast_or_reject<ir::Strings>(row, rule.name, value, "strings");
    case AttributeKind::dtype: {
      const auto number = cast_or_reject<std::uint8_t>(row, rule.name, value, "an element type");
      if (number >= ir::kDTypes)
        ir::reject(ir::ErrorClass::type, "argument-type", "{}: argument '{}' is {}; it takes an element type", row.name, rule.name, number);
      return static_cast<ir::DType>(number);
    }
    case AttributeKind::blob: return ir::BlobId(cast_or_reject<Index>(row, rule.name, value, "data"));
    case AttributeKind::stream: return ir::HostStreamId(cast_or_reject<Index>(row, rule.name, value, "a stream"));
    case AttributeKind::buffer: return ir::BufferId(cast_or_reject<Index>(row, rule.name, value, "a remote buffer"));
  }
  return false;
}

}  // namespace

ir::Attributes attributes_from(const ir::OpRow& row, const nb::dict& values) {
  ir::Attributes out;
  for (auto [key, value] : values) {
    if (value.is_none()) continue;
    const std::string name = nb::cast<std::string>(key);
    const ir::AttributeRule* rule = nullptr;
    for (const ir::AttributeRule& r : row.attributes) {
      if (r.name == name) rule = &r;
    }
    if (rule == nullptr) ir::reject(ir::ErrorClass::type, "attribute-unknown", "{}: there is no argument '{}'", row.name, name);
    out.set(name, convert(row, *rule, value));
  }
  return out;
}

nb::object attribute_to_python(const ir::AttributeValue& value) {
  struct Visitor {
    nb::object operator()(bool v) const { return nb::cast(v); }
    nb::object operator()(std::int64_t v) const { return nb::cast(v); }
    nb::object operator()(double v) const { return nb::cast(v); }
    nb::object operator()(const std::string& v) const { return nb::cast(v); }
    nb::object operator()(const ir::Ints& v) const { return nb::cast(v); }
    nb::object operator()(const ir::Floats& v) const { return nb::cast(v); }
    nb::object operator()(const ir::Strings& v) const { return nb::cast(v); }
    nb::object operator()(ir::DType v) const { return nb::cast(std::string(ir::name_of(v))); }
    nb::object operator()(ir::BlobId v) const { return nb::cast(v.value); }
    nb::object operator()(ir::HostStreamId v) const { return nb::cast(v.value); }
    nb::object operator()(ir::BufferId v) const { return nb::cast(v.value); }
  };
  return std::visit(Visitor{}, value);
}

}  // namespace pando::python
