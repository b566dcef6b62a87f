// The programs of a module, and its variables.
#include "lower/lower.h"
#include "lower/parts/checks.h"
#include "lower/parts/parts.h"

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

std::string upload_handle(StateId state) { return fmt::format("upload{}", state.value); }
std::string download_handle(StateId state) { return fmt::format("download{}", state.value); }

bool has_lowering(const ir::OpRow& op) { return op.constant || find_row(op.name) != nullptr; }

std::int64_t devices_of(const ir::Module& module) {
  std::int64_t devices = 1;
  for (std::size_t t = 0; t < module.types().size(); ++t) {
    devices =
        std::max<std::int64_t>(devices, std::int64_t{module.type(ir::TypeId(static_cast<ir::TypeId::rep>(t))).place.device.value} + 1);
  }
  return devices;
}

namespace {

class Programs {
 public:
  Programs(const ir::Module& module, poplar::Graph& graph, const Options& options)
      : module_(module), graph_(graph), options_(options), parts_(module, graph, options) {}
  Lowered run();

 private:
  std::vector<ValueId> in_order_of_size(std::vector<ValueId> variables) const;
  void make_variables();
  void make_variable(ValueId v, LayoutPreference preference, std::set<ValueId>& passed_on);
  // How the host gets at states.
  void connect_states();
  void lower_context(Context context, Sequence& program);
  bool has_functions() const;

  const ir::Module& module_;
  poplar::Graph& graph_;
  const Options& options_;
  Parts parts_;
  // Where variables lie, by input of the main graph, and what programs leave for each other.
  std::vector<Slot> variables_, kept_;
};

bool Programs::has_functions() const {
  for (std::size_t g = 0; g < module_.graph_count(); ++g)
    if (parts_.analysis.is_function(GraphId(static_cast<GraphId::rep>(g)))) return true;
  return false;
}

// Large ones first: small ones find room between them.
std::vector<ValueId> Programs::in_order_of_size(std::vector<ValueId> variables) const {
  const auto mebibytes = [&](ValueId v) {
    const ir::Type& type = module_.type_of(v);
    return static_cast<std::uint64_t>(ir::elements_of(type.shape)) * ir::size_of(type.dtype) >> 20;
  };
  if (options_.settings.flag("rotate"))
    std::stable_sort(variables.begin(), variables.end(), [&](ValueId a, ValueId b) { return mebibytes(a) > mebibytes(b); });
  return variables;
}

void Programs::make_variable(ValueId v, LayoutPreference preference, std::set<ValueId>& passed_on) {
  const bool liked = preference.tensor.valid();
  if (liked && preference.of_function) passed_on.insert(v);
  if (liked && parts_.decisions) parts_.decisions.give_reason(v, std::move(preference.why));
  bool as_partner = false;
  parts_.storages.define(v, parts_.storages.home_slot(liked ? preference.tensor : parts_.layouts.new_tensor(v, &as_partner)));
  if (passed_on.contains(v)) return;
  // What goes with another one, as an optimiser's state with its weight, stays with it.
  parts_.memory.level_out(v, liked ? preference.parts : as_partner ? Row::Parts::stay : Row::Parts::move);
  pando::count_as_resident(graph_, parts_.storages.own_slot(v).tensor);
}

// Those with a preference first: the others lie as what they are combined with.
void Programs::make_variables() {
  const ir::Graph& main = module_.graph(module_.main_graph());
  const std::vector<ValueId> inputs = in_order_of_size(main.inputs);
  std::set<ValueId> passed_on;
  std::map<ValueId, ir::LocationId> places;
  for (std::size_t s = 0; s < module_.state_count(); ++s) {
    const StateId id(static_cast<StateId::rep>(s));
    if (const auto input = module_.state(id).input) places.emplace(main.inputs[*input], module_.location_of(id));
  }
  for (const bool is_preferred : {true, false}) {
    for (ValueId v : inputs) {
      if (parts_.storages.has_slot(v)) continue;
      const auto place = places.find(v);
      const SourceScope scope = parts_.places.source_scope(place != places.end() ? place->second : ir::LocationId());
      LayoutPreference preference =
          is_preferred && ir::elements_of(module_.type_of(v).shape) > 1 ? parts_.layouts.preference(v) : LayoutPreference();
      if (!is_preferred || preference.tensor.valid()) make_variable(v, std::move(preference), passed_on);
    }
    if (is_preferred) parts_.memory.balance(passed_on);
    for (ValueId v : passed_on) pando::count_as_resident(graph_, parts_.storages.own_slot(v).tensor);
  }
}

void Programs::connect_states() {
  const ir::Graph& main = module_.graph(module_.main_graph());
  for (std::size_t s = 0; s < module_.state_count(); ++s) {
    const StateId id(static_cast<StateId::rep>(s));
    const ir::State& state = module_.state(id);
    if (!state.input) {
      parts_.channels.buffer(state.buffer);
      continue;
    }
    const Tensor t = parts_.storages.own_slot(main.inputs[*state.input]).tensor;
    if (t.numElements() == 0) continue;
    graph_.createHostRead(download_handle(id), t);
    if (module_.replicas() == 1) {
      graph_.createHostWrite(upload_handle(id), t);
    } else {
      const poplar::DataStream in =
          graph_.addHostToDeviceFIFO(upload_handle(id), t.elementType(), t.numElements(), poplar::ReplicatedStreamMode::REPLICATE);
      parts_.cursor.program().add(Copy(in, t));
    }
  }
}

void Programs::lower_context(Context context, Sequence& program) {
  const ir::Graph& main = module_.graph(module_.main_graph());
  constexpr const char* kNames[] = {"main program", "main program, accumulate_outer", "program weights_from_host",
                                    "program weights_to_host"};
  if (parts_.decisions) parts_.decisions.begin(kNames[static_cast<std::size_t>(context)]);
  parts_.cursor.begin(program, context);
  const std::vector<Slot> homes = variables_;
  const std::vector<ir::KeptValue>& kept = parts_.analysis.kept();
  for (std::size_t i = 0; i < homes.size(); ++i) parts_.storages.define(main.inputs[i], homes[i]);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (!ir::runs_in(module_, module_.value(kept[i].value).producer, context)) parts_.storages.define(kept[i].value, kept_[i]);
  }
  parts_.fusion.lower_ops(module_.main_graph());
  std::vector<Tensor> to, from;
  for (std::size_t i = 0; i < homes.size(); ++i) {
    // What another context's program makes is not there yet, or not of this run.
    const ir::OpId producer = module_.value(main.updated_inputs[i]).producer;
    if (producer.valid() && !ir::runs_in(module_, producer, context)) continue;
    to.push_back(homes[i].tensor);
    from.push_back(parts_.storages.slot(main.updated_inputs[i]).tensor);
    if (parts_.decisions && main.updated_inputs[i] != main.inputs[i]) {
      parts_.decisions.line(fmt::format("'{}': its last version {}", module_.name_of(main.inputs[i]),
                                        to.back() == from.back() ? "lies at home" : "is copied home"));
    }
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    to.push_back(kept_[i].tensor);
    from.push_back(parts_.storages.slot(kept[i].last).tensor);
  }
  parts_.storages.assign_all(to, from);
  if (parts_.decisions) parts_.decisions.end();
}

Lowered Programs::run() {
  reject_what_has_no_lowering(module_);
  reject_types(module_);
  Lowered out;
  parts_.cursor.prepare(out.weights_from_host);
  parts_.memory.choose_product_share(options_.allow_out_of_memory);
  if (has_functions() && graph_.getTarget().getNumTiles() > devices_of(module_)) parts_.memory.count_loads();
  const std::vector<ValueId>& inputs = module_.graph(module_.main_graph()).inputs;
  if (parts_.decisions) parts_.decisions.begin("variables");
  make_variables();
  connect_states();
  for (ValueId v : inputs) {
    if (parts_.decisions) parts_.telling.variable(v);
  }
  if (parts_.decisions) parts_.decisions.end();
  for (ValueId v : inputs) variables_.push_back(parts_.storages.own_slot(v));
  for (const ir::KeptValue& k : parts_.analysis.kept()) kept_.push_back(parts_.storages.home_slot(parts_.layouts.new_tensor(k.value)));
  lower_context(Context::normal, out.main);
  lower_context(Context::accumulate_outer, out.main);
  const std::set<ir::HostStreamId> streams = parts_.channels.used();
  lower_context(Context::weights_from_host, out.weights_from_host);
  lower_context(Context::weights_to_host, out.weights_to_host);
  for (ir::HostStreamId id : streams) {
    (module_.stream(id).direction == ir::HostStream::Direction::host_to_device ? out.inputs : out.outputs).push_back(id);
  }
  if (parts_.decisions) parts_.decisions.finish();
  return out;
}

}  // namespace

Lowered lower(const ir::Module& module, poplar::Graph& graph, const Options& options) { return Programs(module, graph, options).run(); }

}  // namespace pando::lower
