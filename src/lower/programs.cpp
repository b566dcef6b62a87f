// The programs of a module, and what they share with the host: variables, streams, remote buffers.
#include "base/check.h"
#include "ir/error.h"
#include "lower/lowering.h"
#include "lower/terms/element_types.h"

#include <fmt/format.h>
#include <pando/placing.hpp>

#include <algorithm>

namespace pando::lower {

using ir::Context;
using ir::GraphId;
using ir::StateId;
using ir::ValueId;
using poplar::Tensor;
using poplar::program::Copy;
using poplar::program::Sequence;

std::string stream_handle(ir::HostStreamId stream) { return fmt::format("stream{}", stream.value); }
std::string upload_handle(StateId state) { return fmt::format("upload{}", state.value); }
std::string download_handle(StateId state) { return fmt::format("download{}", state.value); }
std::string buffer_handle(ir::BufferId buffer) { return fmt::format("buffer{}", buffer.value); }

bool has_lowering(const ir::OpRow& op) { return op.constant || find_row(op.name) != nullptr; }

std::int64_t devices_of(const ir::Module& module) {
  std::int64_t devices = 1;
  for (std::size_t t = 0; t < module.types().size(); ++t) {
    devices =
        std::max<std::int64_t>(devices, std::int64_t{module.type(ir::TypeId(static_cast<ir::TypeId::rep>(t))).place.device.value} + 1);
  }
  return devices;
}

poplar::DataStream Lowering::stream(ir::HostStreamId id) {
  const auto known = streams_.find(id);
  if (known != streams_.end()) return known->second;
  const ir::HostStream& s = module_.stream(id);
  const auto elements = static_cast<std::size_t>(ir::elements_of(s.shape));
  const poplar::Type type = element_type(s.dtype);
  const poplar::DataStream made =
      s.direction == ir::HostStream::Direction::host_to_device
          ? graph_.addHostToDeviceFIFO(stream_handle(id), type, elements, poplar::ReplicatedStreamMode::REPLICATE)
          : graph_.addDeviceToHostFIFO(stream_handle(id), type, elements);
  return streams_.emplace(id, made).first->second;
}

poplar::RemoteBuffer Lowering::buffer(ir::BufferId id) {
  const auto known = buffers_.find(id);
  if (known != buffers_.end()) return known->second;
  const ir::RemoteBuffer& b = module_.buffer(id);
  const poplar::RemoteBuffer made = graph_.addRemoteBuffer(
      buffer_handle(id), element_type(b.dtype), static_cast<std::size_t>(ir::elements_of(b.shape)), static_cast<std::size_t>(b.entries));
  return buffers_.emplace(id, made).first->second;
}

// Large ones first: small ones find room between them.
std::vector<ValueId> Lowering::in_order_of_size(std::vector<ValueId> variables) const {
  const auto mebibytes = [&](ValueId v) {
    const ir::Type& type = module_.type_of(v);
    return static_cast<std::uint64_t>(ir::elements_of(type.shape)) * ir::size_of(type.dtype) >> 20;
  };
  if (options_.settings.flag("rotate"))
    std::stable_sort(variables.begin(), variables.end(), [&](ValueId a, ValueId b) { return mebibytes(a) > mebibytes(b); });
  return variables;
}

// Those with a wish first: the others lie as what they are combined with.
void Lowering::make_variables() {
  const ir::Graph& main = module_.graph(module_.main_graph());
  const std::vector<ValueId> inputs = in_order_of_size(main.inputs);
  std::set<ValueId> passed_on;
  std::map<ValueId, ir::LocationId> places;
  for (std::size_t s = 0; s < module_.state_count(); ++s) {
    const StateId id(static_cast<StateId::rep>(s));
    if (const auto input = module_.state(id).input) places.emplace(main.inputs[*input], module_.location_of(id));
  }
  for (const bool wishes : {true, false}) {
    for (ValueId v : inputs) {
      if (has_slot(v)) continue;
      const auto place = places.find(v);
      const SourceScope scope = source_scope(place != places.end() ? place->second : ir::LocationId());
      const Tensor wish = wishes && ir::elements_of(module_.type_of(v).shape) > 1 ? layout_wish(v) : Tensor();
      if (wishes && !wish.valid()) continue;
      if (wish.valid() && wish_of_function_) passed_on.insert(v);
      if (wish.valid() && decisions_) why_[v] = why_wish_;
      define(v, {wish.valid() ? wish : new_tensor(v), {add_storage(true, false)}});
      if (passed_on.contains(v)) continue;
      // What goes with another one, as an optimiser's state with its weight, stays with it.
      level_out(v, wish.valid() ? parts_of_wish_ : lies_as_partner_ ? Row::Parts::stay : Row::Parts::move);
      pando::count_as_resident(graph_, slots_[v].tensor);
    }
    if (wishes && loads_) balance(passed_on);
    for (ValueId v : passed_on) pando::count_as_resident(graph_, slots_[v].tensor);
  }
  for (std::size_t s = 0; s < module_.state_count(); ++s) {
    const StateId id(static_cast<StateId::rep>(s));
    const ir::State& state = module_.state(id);
    if (!state.input) {
      buffer(state.buffer);
      continue;
    }
    const Tensor t = slots_[main.inputs[*state.input]].tensor;
    if (t.numElements() == 0) continue;
    graph_.createHostRead(download_handle(id), t);
    if (module_.replicas() == 1) {
      graph_.createHostWrite(upload_handle(id), t);
    } else {
      const poplar::DataStream in =
          graph_.addHostToDeviceFIFO(upload_handle(id), t.elementType(), t.numElements(), poplar::ReplicatedStreamMode::REPLICATE);
      program_->add(Copy(in, t));
    }
  }
}

void Lowering::lower_context(Context context, Sequence& program) {
  const ir::Graph& main = module_.graph(module_.main_graph());
  constexpr const char* kNames[] = {"main program", "main program, accumulate_outer", "program weights_from_host",
                                    "program weights_to_host"};
  if (decisions_) decisions_.begin(kNames[static_cast<std::size_t>(context)]);
  context_ = context;
  program_ = &program;
  scope_ = ++scopes_;
  const std::vector<Slot> homes = variables_;
  const std::vector<ir::KeptValue>& kept = analysis_.kept();
  for (std::size_t i = 0; i < homes.size(); ++i) define(main.inputs[i], homes[i]);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (!ir::runs_in(module_, module_.value(kept[i].value).producer, context)) define(kept[i].value, kept_[i]);
  }
  lower_ops(module_.main_graph());
  std::vector<Tensor> to, from;
  for (std::size_t i = 0; i < homes.size(); ++i) {
    // What another context's program makes is not there yet, or not of this run.
    const ir::OpId producer = module_.value(main.finals[i]).producer;
    if (producer.valid() && !ir::runs_in(module_, producer, context)) continue;
    to.push_back(homes[i].tensor);
    from.push_back(slot(main.finals[i]).tensor);
    if (decisions_ && main.finals[i] != main.inputs[i]) {
      decisions_.line(
          fmt::format("'{}': its last version {}", name_of(main.inputs[i]), to.back() == from.back() ? "lies at home" : "is copied home"));
    }
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    to.push_back(kept_[i].tensor);
    from.push_back(slot(kept[i].last).tensor);
  }
  assign_all(to, from);
  if (decisions_) decisions_.end();
}

Lowered Lowering::run() {
  refuse_what_has_no_lowering();
  refuse_types();
  Lowered out;
  program_ = &out.weights_from_host;
  choose_product_share();
  if (has_functions() && graph_.getTarget().getNumTiles() > devices_of(module_)) loads_.emplace(graph_.getTarget(), io_tiles());
  if (decisions_) decisions_.begin("variables");
  make_variables();
  for (ValueId v : module_.graph(module_.main_graph()).inputs) {
    if (decisions_) tell_variable(v);
  }
  if (decisions_) decisions_.end();
  for (ValueId v : module_.graph(module_.main_graph()).inputs) variables_.push_back(slots_[v]);
  for (const ir::KeptValue& k : analysis_.kept()) kept_.push_back({new_tensor(k.value), {add_storage(true, false)}});
  lower_context(Context::normal, out.main);
  lower_context(Context::accumulate_outer, out.main);
  const std::set<ir::HostStreamId> streams = used_streams_;
  lower_context(Context::weights_from_host, out.weights_from_host);
  lower_context(Context::weights_to_host, out.weights_to_host);
  for (ir::HostStreamId id : streams) {
    (module_.stream(id).direction == ir::HostStream::Direction::host_to_device ? out.inputs : out.outputs).push_back(id);
  }
  if (decisions_) decisions_.finish();
  return out;
}

Lowered lower(const ir::Module& module, poplar::Graph& graph, const Options& options) { return Lowering(module, graph, options).run(); }

}  // namespace pando::lower
