// What is simulated: a placed module with its tuples taken apart, a flat list of steps for each graph.
//
// A body is one graph. Its slots are the tensors that it makes or is given; a step reads slots, fills slots and takes time on its devices.
// A call step runs another body, once or several times (`repeat`), with its devices bound: so what is equal in a program (layers,
// microbatches, replicas of a pmap) is one body that is called often, and can be simulated once (simulate.h).
//
// Devices of a body are counted from zero; `devices` says which device of the machine each is, or which device variable of the body.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pando::simulate {

// What a tensor is there for.
enum class MemoryKind : std::uint8_t { weights, gradients, optimizer, activations, workspace, buffers };
inline constexpr std::size_t kMemoryKinds = 6;
std::string_view name_of(MemoryKind k);

using SlotId = std::uint32_t;

struct Slot {
  std::int64_t bytes = 0;
  // Of the body.
  std::uint32_t device = 0;
  // How often it is read before it can be dropped; outputs of the body and slots that nobody reads stay.
  std::uint32_t uses = 0;
  MemoryKind kind = MemoryKind::workspace;
  bool given = false;
  bool kept = false;
  // Given, and its contents change.
  bool modified = false;
};

enum class StepKind : std::uint8_t { compute, transfer, call };

struct Step {
  StepKind kind = StepKind::compute;
  // Results take the memory of operands: nothing is allocated.
  bool in_place = false;
  // Of a transfer: the widest level of the machine's network that it crosses.
  std::uint8_t level = 0;
  std::uint32_t label = 0;
  std::uint32_t operand_begin = 0, operand_count = 0, result_begin = 0, result_count = 0, device_begin = 0, device_count = 0;
  // Of a call.
  std::uint32_t body = 0;
  std::int64_t trips = 1;
  // On each of its devices.
  double seconds = 0;
};

struct BodyDevice {
  // Of the machine, or the number of the body's device variable.
  std::int32_t number = 0;
  bool is_variable = false;
  friend bool operator==(const BodyDevice&, const BodyDevice&) = default;
};

struct Body {
  std::string name;
  std::vector<Slot> slots;
  std::vector<Step> steps;
  std::vector<SlotId> operands, results;
  // Of steps: local devices. A call's are what the callee's devices are here, in their order.
  std::vector<std::uint32_t> step_devices;
  std::vector<BodyDevice> devices;
  // In the order of the graph's inputs, tuples element by element; the same for what the graph gives back.
  std::vector<SlotId> inputs, outputs;
  // Outputs from here on are what modified inputs have become: they lie where the caller's operands lie.
  std::size_t own_outputs = 0;
  // For each output: the input of the next trip that it is; -1: none.
  std::vector<std::int32_t> carried;

  std::span<const SlotId> operands_of(const Step& s) const { return {operands.data() + s.operand_begin, s.operand_count}; }
  std::span<const SlotId> results_of(const Step& s) const { return {results.data() + s.result_begin, s.result_count}; }
  std::span<const std::uint32_t> devices_of(const Step& s) const { return {step_devices.data() + s.device_begin, s.device_count}; }
  // The local number of a device, added where it is new.
  std::uint32_t device(BodyDevice d);
};

class Program {
 public:
  // The main graph's body is the first.
  std::vector<Body> bodies;

  std::uint32_t label(std::string_view text);
  const std::string& label(std::uint32_t id) const { return labels_[id]; }
  std::size_t labels() const { return labels_.size(); }
  // One more than the highest device that is named: what is indexed by devices has so many places.
  std::int32_t devices() const;
  // Those that are named. Numbers need not begin at 0: a distribution begins with device 1 where nothing else is said.
  std::vector<std::int32_t> used_devices() const;
  // Steps that run, calls and repeats counted out, calls themselves not counted.
  std::int64_t unfolded_steps() const;
  // How often each label runs, in the order of names.
  std::vector<std::pair<std::string, std::int64_t>> histogram() const;

 private:
  std::vector<std::string> labels_;
  std::unordered_map<std::string, std::uint32_t> label_ids_;
};

// Appends steps to a body; counts uses.
class BodyWriter {
 public:
  explicit BodyWriter(Body& body) : body_(body) {}
  SlotId slot(std::int64_t bytes, std::uint32_t device, MemoryKind kind = MemoryKind::workspace);
  SlotId input(std::int64_t bytes, std::uint32_t device, MemoryKind kind);
  // Devices: those of operands and results, each once.
  Step& step(StepKind kind, std::uint32_t label, double seconds, std::span<const SlotId> operands, std::span<const SlotId> results);
  // A call's devices are the callee's.
  Step& call(std::uint32_t callee, std::uint32_t label, std::int64_t trips, std::span<const SlotId> operands,
             std::span<const SlotId> results, std::span<const std::uint32_t> devices);
  // `carried`: which input of the next trip it is.
  void output(SlotId s, std::int32_t carried = -1);

 private:
  Step& append(StepKind kind, std::uint32_t label, std::span<const SlotId> operands, std::span<const SlotId> results);
  Body& body_;
};

}  // namespace pando::simulate
