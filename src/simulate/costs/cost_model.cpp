#include "simulate/costs/cost_model.h"

#include "base/source_location.h"
#include "ir/rows/inference.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace pando::simulate {

std::string CostModel::label(const ir::Module& module, ir::OpId op) const { return std::string(module.row(op).name); }

std::optional<Collective> collective_of(const ir::OpRow& row) {
  // The same kinds in the same order, but for none.
  const auto at = [](auto kind) { return static_cast<int>(kind); };
  static_assert(static_cast<int>(Collective::send) + 1 == static_cast<int>(ir::Traffic::send));
  static_assert(static_cast<int>(Collective::all_to_all) + 1 == static_cast<int>(ir::Traffic::all_to_all));
  if (!ir::crosses_devices(row)) return std::nullopt;
  return static_cast<Collective>(at(row.traffic) - 1);
}

namespace {

void add_tensors(const ir::Module& module, ir::TypeId type, std::vector<ir::TypeId>& all) {
  if (module.type(type).is_tensor()) {
    all.push_back(type);
    return;
  }
  for (ir::TypeId t : module.type(type).elements) add_tensors(module, t, all);
}

}  // namespace

std::vector<ir::TypeId> tensors_of(const ir::Module& module, std::span<const ir::ValueId> values) {
  std::vector<ir::TypeId> all;
  for (ir::ValueId v : values) add_tensors(module, module.value(v).type, all);
  return all;
}

// --- reference --------------------------------------------------------------------------------------------------------------------------

namespace {

enum class ReferenceRule : std::uint8_t { launch, zero, unary, binary, matmul, matmul_gradients, send, all_reduce, gather, optimizer };

struct ReferenceOp {
  std::string_view name;
  ReferenceRule rule;
};

// DistIR's ops, by ours: its names, and which of its rules says what each costs. Other ops have no rule there.
const std::unordered_map<std::string_view, ReferenceOp>& reference_ops() {
  using R = ReferenceRule;
  static const std::unordered_map<std::string_view, ReferenceOp> known = {
      {"add", {"Add", R::binary}},
      {"sub", {"Sub", R::binary}},
      {"mul", {"Mul", R::binary}},
      {"div", {"Div", R::binary}},
      {"matmul", {"MatMul", R::matmul}},
      {"matmul_grad", {"MatMulGrad", R::matmul_gradients}},
      {"relu", {"Relu", R::unary}},
      {"relu_grad", {"ReluGrad", R::binary}},
      {"tanh", {"Tanh", R::unary}},
      {"sqrt", {"Sqrt", R::unary}},
      {"softmax", {"Softmax", R::unary}},
      {"transpose", {"Transpose", R::unary}},
      {"cast", {"Cast", R::unary}},
      {"mean", {"ReduceMean", R::unary}},
      {"squared_loss", {"Loss", R::unary}},
      {"squared_loss_grad", {"LossGrad", R::unary}},
      {"identity", {"Identity", R::zero}},
      {"constant", {"Constant", R::zero}},
      {"concat", {"Concat", R::launch}},
      {"split", {"Split", R::launch}},
      {"slice", {"Slice", R::launch}},
      {"reshape", {"Reshape", R::launch}},
      {"gather", {"Gather", R::launch}},
      {"squeeze", {"Squeeze", R::launch}},
      {"sgd", {"SGDOptimizer", R::optimizer}},
      {"send", {"Send", R::send}},
      {"broadcast_across", {"MPIBroadcast", R::zero}},
      {"scatter_across", {"MPIScatter", R::zero}},
      {"gather_across", {"MPIGather", R::gather}},
      {"reduce_across", {"MPIReduce", R::gather}},
      {"all_reduce_across", {"MPIAllreduce", R::all_reduce}},
      {"all_gather_across", {"MPIAllgather", R::all_reduce}},
  };
  return known;
}

std::int64_t bytes_of(const ir::Type& t) { return ir::elements_of(t.shape) * static_cast<std::int64_t>(ir::size_of(t.dtype)); }

}  // namespace

std::string ReferenceCostModel::label(const ir::Module& module, ir::OpId op) const {
  const auto found = reference_ops().find(module.row(op).name);
  return std::string(found == reference_ops().end() ? module.row(op).name : found->second.name);
}

double ReferenceCostModel::seconds(const ir::Module& module, ir::OpId op) const {
  const auto found = reference_ops().find(module.row(op).name);
  const std::vector<ir::TypeId> operands = tensors_of(module, module.operands(op));
  if (found == reference_ops().end() || operands.empty()) return costs_.launch();
  const auto type = [&](std::size_t i) -> const ir::Type& { return module.type(operands[i]); };
  const auto size = static_cast<std::int64_t>(ir::size_of(type(0).dtype));
  const auto dimension = [&](std::size_t i, std::size_t d) { return d < type(i).shape.size() ? type(i).shape[d] : 1; };
  const std::int64_t elements = ir::elements_of(type(0).shape);
  switch (found->second.rule) {
    case ReferenceRule::zero: return 0;
    case ReferenceRule::launch: return costs_.launch();
    case ReferenceRule::unary: return costs_.elementwise(elements, size, 1);
    case ReferenceRule::binary: return costs_.elementwise(elements, size, operands.size() > 1 && !type(1).shape.empty() ? 2 : 1);
    case ReferenceRule::optimizer: return costs_.elementwise(ir::elements_of(type(operands.size() / 2 - 1).shape), size, 2);
    case ReferenceRule::matmul: return costs_.matmul(dimension(0, 0), dimension(0, 1), dimension(1, 1), size);
    case ReferenceRule::matmul_gradients: return costs_.matmul_gradients(dimension(0, 0), dimension(0, 1), dimension(1, 1), size);
    case ReferenceRule::send: return costs_.send(bytes_of(type(0)));
    case ReferenceRule::all_reduce: return costs_.all_reduce(bytes_of(type(0)), static_cast<std::int64_t>(operands.size()));
    case ReferenceRule::gather: return costs_.gather(bytes_of(type(0)), size);
  }
  return costs_.launch();
}

// --- cluster ----------------------------------------------------------------------------------------------------------------------------

ClusterCostModel::Work ClusterCostModel::work_of(const ir::Module& module, ir::OpId op) const {
  const ir::OpRow& row = module.row(op);
  std::vector<ir::TypeId> operands;
  for (ir::ValueId v : module.operands(op)) operands.push_back(module.value(v).type);
  ir::Cost cost;
  if (row.cost != nullptr) {
    ir::Inference in(module, row, operands, module.attributes(op), module.graphs(op), module.op(op).in_place);
    for (ir::ValueId v : module.results(op)) in.results().push_back(module.type_of(v));
    cost = row.cost(in);
  } else {
    for (ir::TypeId t : tensors_of(module, module.operands(op))) cost.bytes_read += static_cast<double>(bytes_of(module.type(t)));
    for (ir::TypeId t : tensors_of(module, module.results(op))) {
      cost.bytes_written += static_cast<double>(bytes_of(module.type(t)));
      cost.operations += static_cast<double>(ir::elements_of(module.type(t).shape));
    }
  }
  Work w;
  w.operations = cost.operations;
  w.bytes = cost.bytes_read + cost.bytes_written;
  w.product = row.on_matrix_units;
  const bool tensor = !operands.empty() && module.type(operands[0]).is_tensor();
  const ir::DType dtype = tensor ? module.type(operands[0]).dtype : ir::DType::float32;
  w.peak = !w.product ? cluster_.vector_operations : ir::size_of(dtype) <= 2 ? cluster_.half_operations : cluster_.single_operations;
  return w;
}

bool is_free_view(const ir::OpRow& row) { return row.view == ir::View::of_first_operand; }
bool is_far(const ir::OpRow& row) { return ir::has(row.effects, ir::Effects::stream | ir::Effects::remote | ir::Effects::code); }
bool is_there(const ir::Module& module, ir::OpId op) {
  const ir::OpRow& row = module.row(op);
  return row.in_program_only && module.operands(op).empty() && row.effects == ir::Effects::none && row.graphs < 0;
}

double ClusterCostModel::compute_seconds(const ir::Module& module, ir::OpId op) const {
  if (is_there(module, op)) return 0;
  const Work w = work_of(module, op);
  const double computing = w.operations / (w.peak * (w.product ? cluster_.matmul_efficiency.at(w.operations) : 1));
  if (cluster_.far_bytes_per_second > 0 && is_far(module.row(op))) return cluster_.launch + w.bytes / cluster_.far_bytes_per_second;
  return cluster_.launch + std::max(computing, w.bytes / (cluster_.memory_bytes_per_second * cluster_.memory_efficiency.at(w.bytes)));
}

double ClusterCostModel::least_seconds(const ir::Module& module, ir::OpId op, double parts) const {
  const ir::OpRow& row = module.row(op);
  if (is_there(module, op) || row.view != ir::View::none || is_far(row) || row.tuple != ir::Tuple::none) return 0;
  const Work w = work_of(module, op);
  const double operations = w.operations / parts, bytes = w.bytes / parts;
  const double computing = w.product && operations > 0 ? cluster_.matmul_efficiency.least_quotient(operations) : operations;
  const double moving = bytes > 0 ? cluster_.memory_efficiency.least_quotient(bytes) : 0;
  return cluster_.launch + std::max(computing / w.peak, moving / cluster_.memory_bytes_per_second);
}

double ClusterCostModel::seconds(const ir::Module& module, ir::OpId op) const {
  const auto what = collective_of(module.row(op));
  if (!what) return compute_seconds(module, op);
  const std::vector<ir::TypeId> operands = tensors_of(module, module.operands(op)), results = tensors_of(module, module.results(op));
  std::vector<std::int64_t> devices;
  for (const auto* side : {&operands, &results}) {
    for (ir::TypeId t : *side) {
      const ir::Device d = module.type(t).place.device;
      devices.push_back(d.known() && !d.is_variable() ? d.value : 0);
    }
  }
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  if (devices.size() < 2 || operands.empty() || results.empty()) return 0;
  const bool whole_is_result = *what == Collective::all_gather || *what == Collective::gather;
  const auto bytes = static_cast<double>(bytes_of(module.type(whole_is_result ? results[0] : operands[0])));
  const auto count = static_cast<std::int64_t>(devices.size());
  return transfer_time(cluster_, *what, bytes, group_of(cluster_, devices.front(), count, (devices.back() - devices.front()) / (count - 1)))
      .seconds;
}

// --- tables -----------------------------------------------------------------------------------------------------------------------------

TableCostModel::TableCostModel(const CostModel& otherwise, std::string_view csv, const std::string& file) : otherwise_(otherwise) {
  std::size_t number = 0;
  while (!csv.empty()) {
    ++number;
    const std::size_t end = std::min(csv.find('\n'), csv.size());
    const std::string_view line = csv.substr(0, end);
    csv.remove_prefix(std::min(end + 1, csv.size()));
    if (line.empty() || line[0] == '#') continue;
    const std::size_t comma = line.rfind(',');
    double seconds = -1;
    const char* const last = line.data() + (line.ends_with('\r') ? line.size() - 1 : line.size());
    const char* end_of_number = nullptr;
    if (comma != std::string_view::npos) end_of_number = std::from_chars(line.data() + comma + 1, last, seconds).ptr;
    if (!(seconds >= 0) || !std::isfinite(seconds) || end_of_number != last) {
      fail_at(ErrorKind::poplar_error, "op-table", {file, number}, "'{}'; a line is an op's signature, a comma, and its seconds", line);
    }
    seconds_[std::string(line.substr(0, comma))] = seconds;
  }
  if (seconds_.empty()) fail_at(ErrorKind::poplar_error, "op-table", {file}, "there are no ops in it");
}

std::string TableCostModel::signature(const ir::Module& module, ir::OpId op) {
  std::string text(module.row(op).name);
  for (ir::TypeId t : tensors_of(module, module.operands(op))) {
    text += fmt::format(" {}{}", ir::name_of(module.type(t).dtype), ir::to_string(module.type(t).shape));
  }
  return text;
}

std::optional<double> TableCostModel::find(const ir::Module& module, ir::OpId op) const {
  const auto found = seconds_.find(signature(module, op));
  return found == seconds_.end() ? std::nullopt : std::optional(found->second);
}

double TableCostModel::seconds(const ir::Module& module, ir::OpId op) const {
  const auto known = find(module, op);
  return known ? *known : otherwise_.seconds(module, op);
}

namespace {

class TableInModule : public ModuleCosts {
 public:
  TableInModule(const TableCostModel& table, const ir::Module& module, std::unique_ptr<ModuleCosts> otherwise)
      : table_(table), module_(module), otherwise_(std::move(otherwise)) {}
  double seconds(ir::OpId op) const override {
    const auto known = table_.find(module_, op);
    return known ? *known : otherwise_->seconds(op);
  }

 private:
  const TableCostModel& table_;
  const ir::Module& module_;
  std::unique_ptr<ModuleCosts> otherwise_;
};

}  // namespace

std::unique_ptr<ModuleCosts> TableCostModel::of_module(const ir::Module& module) const {
  std::unique_ptr<ModuleCosts> otherwise = otherwise_.of_module(module);
  return otherwise ? std::make_unique<TableInModule>(*this, module, std::move(otherwise)) : nullptr;
}

}  // namespace pando::simulate
