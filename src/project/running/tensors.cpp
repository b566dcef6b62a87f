#include "project/running/tensors.h"

#include "base/check.h"
#include "ir/error.h"
#include "ir/rows/evaluation.h"

#include <cstring>

namespace pando::project {

using namespace ir;

namespace {

// The loop's own ops reach nothing beside their operands.
class NoHost : public EvaluationHost {
 public:
  HostTensor load(HostStreamId) override { return none(); }
  void store(HostStreamId, const HostTensor&) override { none(); }
  HostTensor load_row(BufferId, std::int64_t) override { return none(); }
  void store_row(BufferId, std::int64_t, const HostTensor&) override { none(); }
  void print(const std::string&) override { none(); }
  std::int64_t replica() const override { return 0; }

 private:
  static HostTensor none() {
    reject(ErrorClass::runtime, "effect-in-loop", "an op of a projected program computes; streams are its actions");
  }
};

}  // namespace

Tensors::Value Tensors::initial(const Buffer& b) const {
  if (b.kind == BufferKind::state) return of(b.initial);
  const Type& t = module_.type(b.type);
  return of(HostTensor(t.dtype, t.shape));
}

Tensors::Value Tensors::input(const std::string& stream, TypeId type, std::int64_t slice) const {
  const auto it = inputs_.find(stream);
  if (it == inputs_.end())
    reject(ErrorClass::value, "stream-without-data", "stream '{}' of the host is read, but was given no data", stream);
  const Type& t = module_.type(type);
  HostTensor out(t.dtype, t.shape);
  const std::size_t bytes = out.size_bytes(), first = static_cast<std::size_t>(slice) * bytes;
  if (it->second.dtype() != t.dtype || first + bytes > it->second.size_bytes()) {
    reject(ErrorClass::value, "stream-too-short", "slice {} of stream '{}' is read; it was given {} slices of {}", slice, stream,
           bytes == 0 ? 0 : it->second.size_bytes() / bytes, module_.types().to_string(type));
  }
  std::memcpy(out.writable(), it->second.data() + first, bytes);
  return of(std::move(out));
}

std::vector<Tensors::Value> Tensors::evaluate(OpId op, std::vector<Value> operands) {
  std::vector<HostValue> values, results;
  for (Value& v : operands) values.push_back(std::move(v.value));
  const OpRow& row = module_.row(op);
  if (row.reference_group) {
    const auto run = [&](GraphId graph, ReplicaValues inputs, std::span<const std::size_t> positions) {
      PANDO_CHECK(inputs.size() == positions.size());
      ReplicaValues out;
      for (auto& in : inputs) out.push_back(interpreter_.run_graph(graph, std::move(in)));
      return out;
    };
    GroupEvaluation e(module_, op, {0}, {std::move(values)}, run);
    row.reference_group(e);
    results = std::move(e.results()[0]);
  } else {
    NoHost host;
    Evaluation e(module_, op, std::move(values), host);
    row.reference(e);
    results = std::move(e.results());
  }
  std::vector<Value> out;
  for (HostValue& v : results) out.push_back({std::move(v), false});
  return out;
}

}  // namespace pando::project
