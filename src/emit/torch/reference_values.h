// What check.py's numbers are: data that are made, results as run.py saves them, and how far rounding may take them.
#pragma once

#include "emit/emit.h"
#include "ir/op_row.h"
#include "ir/semantics/interpreter.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pando::emit {

using Tensors = std::map<std::string, ir::HostTensor>;

// What runtime.py's Data gives where there are no files.
class MadeData {
 public:
  explicit MadeData(const Options& o) : o_(o) {}

  // A variable; `own`: what the program says that it begins with.
  ir::HostTensor variable(const std::string& name, ir::DType dtype, const ir::Shape& shape, const ir::HostTensor& own) const;
  // Blocks of a stream, (wanted, shape).
  ir::HostTensor blocks(const std::string& name, ir::DType dtype, const ir::Shape& shape, std::int64_t wanted) const;

 private:
  bool is_zero(const std::string& name) const;

  const Options& o_;
};

// Whole tensors of the sequential program, where parts are known: what run.py saves. Outputs are (blocks, shape).
Tensors joined(const Tensors& variables, const Tensors& outputs, const std::optional<transform::PieceTable>& pieces);
// b behind a, along the first dimension.
ir::HostTensor behind(const ir::HostTensor& a, const ir::HostTensor& b);
// `count` blocks from `begin` on.
ir::HostTensor blocks_from(const ir::HostTensor& all, std::int64_t begin, std::int64_t count);

// Changes results as other roundings would: sums are added up in another order elsewhere.
class Perturbation {
 public:
  void operator()(const ir::OpRow& row, std::vector<ir::HostValue>& results);

 private:
  void change(ir::HostValue& v, bool alone);

  std::uint64_t state_ = 0x9E3779B97F4A7C15ull;
};

// Steps that are compared; 0, with the reason.
std::int64_t steps_of(const Options& options, double operations, Emitted& out);
// reference.json, reference.bin and check.json. What a run with other roundings has changed says what is allowed.
void write_reference(const Tensors& exact, const Tensors& perturbed, std::int64_t steps, const Options& options, Emitted& out);

}  // namespace pando::emit
