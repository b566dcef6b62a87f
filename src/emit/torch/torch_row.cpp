#include "emit/torch/torch_row.h"

#include "base/check.h"
#include "emit/torch/python_text.h"
#include "ir/op_table.h"
#include "ir/shared/scalars.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace pando::emit {

using namespace ir;

#define X(name) extern const std::span<const TorchRow> torch_##name;
#include "torch_ops_manifest.inc"
#undef X

std::span<const TorchFamily> torch_table() {
  static const std::vector<TorchFamily> families = {
#define X(name) {#name, torch_##name},
#include "torch_ops_manifest.inc"
#undef X
  };
  return families;
}

const TorchRow* find_torch_row(OpKind kind) {
  static const std::vector<const TorchRow*> by_kind = [] {
    std::vector<const TorchRow*> all(op_table().size());
    for (const TorchFamily& family : torch_table()) {
      for (const TorchRow& row : family.rows) {
        const std::optional<OpKind> k = find_op(row.op);
        PANDO_CHECK(k && !all[k->index()]);
        all[k->index()] = &row;
      }
    }
    return all;
  }();
  return by_kind[kind.index()];
}

namespace {

// Torch stores these, and computes with few of them.
bool is_stored_only(DType t) { return t == DType::uint16 || t == DType::uint32 || t == DType::uint64; }

}  // namespace

std::string Call::x(std::size_t operand) const {
  const std::string& name = operands_[operand];
  return numbers_ && is_stored_only(type(operand).dtype) ? name + ".to(torch.int64)" : name;
}

std::string Call::all() const {
  std::string out;
  for (std::size_t i = 0; i < operands(); ++i) out += (i ? ", " : "") + x(i);
  return out;
}

std::string Call::attribute(std::string_view name, std::string_view otherwise) const {
  const AttributeValue* value = attributes().find(name);
  return value ? py_value(*value) : std::string(otherwise);
}

std::string Call::scalar(std::string_view name, std::size_t tensors, std::string_view otherwise) const {
  if (const auto i = scalar_operand(attributes(), name, tensors)) return x(*i);
  return attribute(name, otherwise);
}

std::string fill_form(std::string_view form, const Call& c) {
  std::string out;
  for (std::size_t at = 0; at < form.size();) {
    const std::size_t open = form.find('{', at);
    out += form.substr(at, open - at);
    if (open == std::string_view::npos) break;
    const std::size_t close = form.find('}', open);
    PANDO_CHECK(close != std::string_view::npos);
    const std::string_view what = form.substr(open + 1, close - open - 1);
    at = close + 1;
    if (what == "*") {
      out += c.all();
    } else if (what == ":dtype") {
      out += py_dtype(c.result().dtype);
    } else if (what == ":shape") {
      out += py_tuple(c.result().shape);
    } else if (what[0] >= '0' && what[0] <= '9') {
      std::size_t i = 0;
      std::from_chars(what.data(), what.data() + what.size(), i);
      PANDO_CHECK(i < c.operands());
      out += c.x(i);
    } else {
      const std::size_t bar = what.find('|');
      const std::string text = c.attribute(what.substr(0, bar), bar == std::string_view::npos ? std::string_view() : what.substr(bar + 1));
      PANDO_CHECK(!text.empty());
      out += text;
    }
  }
  return out;
}

std::vector<std::string> expressions(const TorchRow& row, Call& c, bool in_place) {
  c.set_numbers(!row.moves);
  const std::string text = in_place ? fill_form(row.in_place, c) : row.write ? row.write(c) : fill_form(row.form, c);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  if (row.moves || c.module().results(c.op()).size() != lines.size()) return lines;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (is_stored_only(c.result(i).dtype)) lines[i] = fmt::format("({}).to({})", lines[i], py_dtype(c.result(i).dtype));
  }
  return lines;
}

}  // namespace pando::emit
