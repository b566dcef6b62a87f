// Programs over many devices: the search for a strategy, and what the transforms make of one.
#include "native/interruptible.h"
#include "native/native.h"

#include "onnx/training.h"
#include "pricing/compiled_costs.h"
#include "search/programs/program_search.h"
#include "search/settings/emit_settings.h"
#include "search/strategy_text.h"
#include "simulate/cluster_json.h"
#include "transform/distribute/annotate.h"

#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/set.h>

#include <map>
#include <optional>
#include <set>

namespace pando::python {

namespace {

using Dimensions = std::map<std::string, std::int32_t>;

struct Note {
  Dimensions samples, sequence, experts;
  std::optional<std::string> loss;
};

transform::Program annotated(Program& p, const Note& note) {
  p.builder.finish();
  return transform::annotate(ir::Module(p.module()), {note.samples, note.sequence, note.experts, note.loss});
}

transform::Strategy strategy_of(std::string_view words, std::int32_t first_device) {
  transform::Strategy s;
  s.first_device = first_device;
  return search::parse_strategy(words, search::Spelling::whole, s);
}

nb::dict certificate_of(const search::Certificate& c) {
  nb::dict d;
  d["points"] = c.points;
  d["evaluated"] = c.evaluated;
  d["too_large"] = c.too_large;
  d["against_a_rule"] = c.by_rule;
  d["too_large_by_a_bound"] = c.by_memory;
  d["slower_by_a_bound"] = c.by_time;
  d["best"] = c.best;
  d["bound"] = c.bound;
  return d;
}

nb::list found_of(const std::vector<search::FoundProgram>& all) {
  nb::list list;
  for (const search::FoundProgram& f : all) {
    list.append(nb::make_tuple(search::to_string(f.strategy, search::Spelling::whole), f.estimate.seconds, f.estimate.computing,
                               f.estimate.transferring, f.estimate.peak));
  }
  return list;
}

// (found, frontier, certificate, table, answers to `why_not`)
nb::tuple search_for(Program& p, const Note& note, const search::Space& space, const std::string& machine, std::size_t top, bool frontier,
                     const std::vector<std::string>& why_not) {
  search::ProgramResult r;
  std::vector<std::string> answers;
  interruptibly([&] {
    const transform::Program program = annotated(p, note);
    const simulate::Cluster cluster = simulate::cluster_of(machine);
    r = search::search_program(program, cluster, space, {.top = top, .frontier = frontier});
    for (const std::string& words : why_not)
      answers.push_back(search::why_not(program, cluster, space, strategy_of(words, space.first_device), r));
  });
  return nb::make_tuple(found_of(r.best), found_of(r.frontier), certificate_of(r.certificate), search::to_table(r), answers);
}

// A program over devices, and where the parts of the one that it was made of are.
struct Distribution {
  transform::Distributed parts;
  transform::Program whole;
};

using Pieces = std::vector<std::tuple<Index, Index, std::vector<std::int64_t>, std::vector<std::int64_t>, Index>>;

const ir::Shape& part_shape(const Distribution& d, const transform::Piece& p, bool stream, bool remote) {
  const ir::Module& m = d.parts.module;
  if (stream) return m.stream(ir::HostStreamId(p.part)).shape;
  if (remote) return m.type(m.state(ir::StateId(p.part)).type).shape;
  return m.type_of(m.graph(m.main_graph()).inputs[p.part]).shape;
}

// (stream of the whole, stream of a device, first element, shape, which load of a run)
Pieces stream_pieces(const Distribution& d) {
  Pieces all;
  for (const transform::Piece& p : d.parts.streams) all.emplace_back(p.whole, p.part, p.start, part_shape(d, p, true, false), p.load);
  return all;
}

// (state of the whole, state of a device, first element, shape, 0)
Pieces state_pieces(const Distribution& d) {
  const auto states = [](const ir::Module& m) {
    std::map<std::uint32_t, Index> by_input;
    for (std::uint32_t s = 0; s < m.state_count(); ++s) {
      if (const auto input = m.state(ir::StateId(s)).input) by_input[*input] = s;
    }
    return by_input;
  };
  const auto whole = states(d.whole.module), parts = states(d.parts.module);
  Pieces all;
  for (const transform::Piece& p : d.parts.inputs) {
    if (whole.contains(p.whole) && parts.contains(p.part))
      all.emplace_back(whole.at(p.whole), parts.at(p.part), p.start, part_shape(d, p, false, false), 0);
  }
  for (const transform::Piece& p : d.parts.remote) {
    if (whole.contains(p.whole)) all.emplace_back(whole.at(p.whole), p.part, p.start, part_shape(d, p, false, true), 0);
  }
  return all;
}

// (stream of the whole, stream of the device that stores)
std::vector<std::pair<Index, Index>> stores(const Distribution& d) {
  std::vector<std::pair<Index, Index>> all;
  const ir::Module &whole = d.whole.module, &parts = d.parts.module;
  for (std::uint32_t w = 0; w < whole.stream_count(); ++w) {
    for (std::uint32_t p = 0; p < parts.stream_count(); ++p) {
      const ir::HostStream &a = whole.stream(ir::HostStreamId(w)), &b = parts.stream(ir::HostStreamId(p));
      if (a.direction == ir::HostStream::Direction::device_to_host && b.direction == a.direction && a.name == b.name)
        all.emplace_back(w, p);
    }
  }
  return all;
}

// The loss ("", "cross_entropy" or "mse") and the output that it is of, the optimizer ("sgd", "adam" or "adamw"), its numbers, frozen
// weights.
using TrainingWords = std::tuple<std::string, std::string, std::string, std::map<std::string, double>, std::set<std::string>>;

onnx::Training training_of(const TrainingWords& words) {
  const auto& [loss, of, optimizer, numbers, frozen] = words;
  onnx::Training t;
  t.loss = loss == "mse" ? onnx::Training::Loss::mse : loss.empty() ? onnx::Training::Loss::output : onnx::Training::Loss::cross_entropy;
  t.of = of;
  t.frozen = frozen;
  onnx::Optimizer& o = t.optimizer;
  const std::map<std::string_view, onnx::Optimizer::Kind> kinds{
      {"sgd", onnx::Optimizer::Kind::sgd}, {"adam", onnx::Optimizer::Kind::adam}, {"adamw", onnx::Optimizer::Kind::adamw}};
  o.kind = kinds.at(optimizer);
  for (const auto& [name, value] : numbers) {
    const std::map<std::string_view, double*> places{{"lr", &o.learning_rate}, {"momentum", &o.momentum}, {"weight_decay", &o.weight_decay},
                                                     {"beta1", &o.beta1},      {"beta2", &o.beta2},       {"eps", &o.epsilon}};
    *places.at(name) = value;
  }
  return t;
}

}  // namespace

void bind_distribution(nb::module_& m) {
  m.def(
      "load_onnx",
      [](const std::string& path, const std::map<std::string, std::int64_t>& dimensions,
         const std::map<std::string, std::tuple<int, std::vector<std::int64_t>, nb::object>>& values,
         std::optional<TrainingWords> training) {
        onnx::ImportOptions options{.dimensions = dimensions, .streams = true, .values = {}};
        // A copy: what the array holds may change while the program is there.
        for (const auto& [name, value] : values) {
          const auto& [dtype, shape, array] = value;
          const ir::HostTensor view = host_tensor_from(array, static_cast<ir::DType>(dtype), shape);
          ir::HostTensor own(view.dtype(), view.shape());
          std::copy_n(view.data(), view.size_bytes(), own.writable());
          options.values.emplace(name, std::move(own));
        }
        auto p = std::make_unique<Program>(1);
        p->module() = training ? onnx::import_training_file(path, options, training_of(*training)) : onnx::import_file(path, options);
        return p.release();
      },
      nb::rv_policy::take_ownership, nb::arg("path"), nb::arg("dimensions"), nb::arg("values"), nb::arg("training") = nb::none(),
      "values: {input: (element type, shape, array)}. training: (loss, output, optimizer, numbers of it by name, frozen weights).");
  m.def(
      "state_list",
      [](Program& p) {
        std::vector<std::tuple<Index, std::string, int, std::vector<std::int64_t>>> all;
        for (std::uint32_t s = 0; s < p.module().state_count(); ++s) {
          const ir::State& state = p.module().state(ir::StateId(s));
          all.emplace_back(s, state.name, static_cast<int>(p.module().type(state.type).dtype), p.module().type(state.type).shape);
        }
        return all;
      },
      nb::arg("program"), "(number, name, element type, shape) of each variable of a program that was read.");
  m.def(
      "onnx_operators",
      [] {
        std::vector<std::tuple<std::string, std::string, std::string, std::string>> all;
        for (const onnx::OperatorNote& o : onnx::operator_notes()) all.emplace_back(o.domain, o.name, o.signature, o.limits);
        return all;
      },
      "(domain, name, signature, what is rejected) of each operator that load_onnx knows.");
  m.def(
      "stream_list",
      [](Program& p) {
        std::vector<std::tuple<Index, std::string, bool, int, std::vector<std::int64_t>>> all;
        for (std::uint32_t s = 0; s < p.module().stream_count(); ++s) {
          const ir::HostStream& h = p.module().stream(ir::HostStreamId(s));
          all.emplace_back(s, h.name, h.direction == ir::HostStream::Direction::host_to_device, static_cast<int>(h.dtype), h.shape);
        }
        return all;
      },
      nb::arg("program"), "(number, name, whether it goes to the device, element type, shape) of each.");
  nb::class_<Note>(m, "Note", "What a program's text does not say of a step.")
      .def(
          "__init__",
          [](Note* self, Dimensions samples, Dimensions sequence, Dimensions experts, std::optional<std::string> loss) {
            new (self) Note{std::move(samples), std::move(sequence), std::move(experts), std::move(loss)};
          },
          nb::arg("samples"), nb::arg("sequence"), nb::arg("experts"), nb::arg("loss").none());
  m.def(
      "search",
      [](Program& p, const Note& note, std::int32_t devices, std::int32_t first_device, double memory, bool wide, std::string require,
         std::int32_t microbatches, const std::string& machine, std::size_t top, bool frontier, const std::vector<std::string>& why_not,
         std::vector<std::string> schedules, std::int32_t cuts, std::int32_t recompute_sets) {
        search::Space space{.devices = devices,
                            .reach = wide ? search::Reach::everything : search::Reach::trainers,
                            .memory = memory,
                            .require = std::move(require),
                            .recompute_sets = recompute_sets,
                            .first_device = first_device,
                            .most_microbatches = microbatches};
        space.cuts = cuts;
        for (std::string& s : schedules) {
          if (s.ends_with(".csv"))
            space.tables.push_back({s, search::table_from(s)});
          else
            space.schedules.push_back(std::move(s));
        }
        return search_for(p, note, space, machine, top, frontier, why_not);
      },
      nb::arg("program"), nb::arg("note"), nb::arg("devices"), nb::arg("first_device"), nb::arg("memory"), nb::arg("wide"),
      nb::arg("require"), nb::arg("microbatches"), nb::arg("machine"), nb::arg("top"), nb::arg("frontier"), nb::arg("why_not"),
      nb::arg("schedules"), nb::arg("cuts"), nb::arg("recompute_sets"));
  nb::class_<Distribution> c(m, "Distribution", "A program over devices.");
  c.def(
      "__init__",
      [](Distribution* self, Program& p, const Note& note, std::string_view words, std::int32_t first_device) {
        interruptibly([&] {
          transform::Program whole = annotated(p, note);
          transform::Distributed parts = transform::parallelise(whole, strategy_of(words, first_device));
          new (self) Distribution{std::move(parts), std::move(whole)};
        });
      },
      nb::arg("program"), nb::arg("note"), nb::arg("words"), nb::arg("first_device"));
  c.def(
      "program",
      [](Distribution& d) {
        auto p = std::make_unique<Program>(1);
        p->module() = d.parts.module;
        return p.release();
      },
      nb::rv_policy::take_ownership, "The program over devices, for a session with parsed=True.");
  c.def(
      "emit",
      [](Distribution& d, const std::string& target, const std::string& folder) {
        std::string note;
        interruptibly([&] { note = search::find_emit_target(target)->program(d.whole, d.parts, folder); });
        return note;
      },
      nb::arg("target"), nb::arg("folder"), "Writes it for another machine; what the user should know.");
  m.def(
      "emits_programs",
      [](const std::string& target) {
        const search::EmitTarget* t = search::find_emit_target(target);
        return t != nullptr && t->program != nullptr;
      },
      nb::arg("target"));
  c.def("streams", stream_pieces, "(stream, stream of a device, first element, shape, load) of each part.");
  c.def("states", state_pieces, "(state, state of a device, first element, shape, 0) of each part.");
  c.def("stores", stores, "(stream, stream of the device that stores).");
  c.def(
      "seconds",
      [](Distribution& d, const std::string& machine, std::string_view words, std::int32_t first_device, bool compiled) {
        double seconds = 0;
        interruptibly([&] {
          const simulate::Cluster cluster = simulate::cluster_of(machine);
          const simulate::ClusterCostModel formula(cluster);
          std::optional<pricing::CompiledCostModel> costs;
          if (compiled) costs.emplace(formula, pricing::runner_of(machine, &cluster));
          const simulate::CostModel& model = costs ? static_cast<const simulate::CostModel&>(*costs) : formula;
          seconds = search::estimate_program(d.whole, strategy_of(words, first_device), cluster, &model).seconds;
        });
        return seconds;
      },
      nb::arg("machine"), nb::arg("words"), nb::arg("first_device"), nb::arg("compiled"));
}

}  // namespace pando::python
