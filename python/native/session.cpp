// Sessions.
#include "native/instances.h"
#include "native/interruptible.h"
#include "native/native.h"

#include "session/session.h"
#include "simulate/observed/prediction.h"

#include <filesystem>

namespace pando::python {

namespace {

struct Held {
  explicit Held(nb::handle object, bool writable) {
    if (PyObject_GetBuffer(object.ptr(), &buffer, writable ? PyBUF_SIMPLE | PyBUF_WRITABLE : PyBUF_SIMPLE) != 0) throw nb::python_error();
  }
  ~Held() { PyBuffer_Release(&buffer); }
  Held(const Held&) = delete;
  Py_buffer buffer;
};

struct Bound {
  nb::object owner;
  Program& program;
  std::unique_ptr<session::Session> session;
};

std::map<std::string, std::string> strings_from(const nb::dict& d) {
  std::map<std::string, std::string> out;
  for (auto [key, value] : d) out.emplace(nb::cast<std::string>(key), nb::cast<std::string>(value));
  return out;
}

session::OptionValue option_value(nb::handle value) {
  if (nb::isinstance<nb::bool_>(value)) return nb::cast<bool>(value);
  if (nb::isinstance<nb::int_>(value)) return nb::cast<std::int64_t>(value);
  return nb::cast<std::string>(value);
}

// (name, member of popart.SessionOptions or "", effect, value that is not given) of each.
nb::list session_options() {
  nb::list all;
  for (const session::OptionRow& row : session::option_rows()) {
    nb::object otherwise;
    std::visit([&](const auto& v) { otherwise = nb::cast(v); }, row.otherwise);
    all.append(nb::make_tuple(row.name, row.popart, row.effect, otherwise));
  }
  return all;
}

void make(Bound* self, nb::object program, std::string device, std::string machine, std::int64_t tiles_per_ipu,
          const nb::dict& options_given, const nb::dict& engine, const Indices& mapped, bool parsed, HeldInstances* instances,
          bool reads_own_replica) {
  session::Options options;
  options.device = std::move(device);
  options.machine = std::move(machine);
  options.tiles_per_ipu = tiles_per_ipu;
  for (auto [name, value] : options_given) options.settings.set(nb::cast<std::string>(name), option_value(value));
  options.engine = strings_from(engine);
  if (instances != nullptr) options.instances = instances->instances;
  options.reads_own_replica = reads_own_replica;
  for (Index s : mapped) options.mapped.push_back(ir::StateId(s));
  Program& p = nb::cast<Program&>(program);
  std::unique_ptr<session::Session> made;
  interruptibly([&] {
    made = parsed ? std::make_unique<session::Session>(ir::Module(p.module()), std::move(options))
                  : std::make_unique<session::Session>(p.builder, std::move(options));
  });
  new (self) Bound{std::move(program), p, std::move(made)};
}

std::size_t slice_bytes(Bound& b, Index stream) {
  const ir::HostStream& s = b.program.module().stream(ir::HostStreamId(stream));
  return static_cast<std::size_t>(ir::elements_of(s.shape) * b.session->local_replicas()) * ir::size_of(s.dtype);
}

using Slices = std::vector<std::tuple<Index, nb::object, std::int64_t>>;

std::vector<std::unique_ptr<Held>> hold(Bound& b, const Slices& slices, bool writable) {
  std::vector<std::unique_ptr<Held>> held;
  for (const auto& [stream, data, count] : slices) {
    held.push_back(std::make_unique<Held>(data, writable));
    if (static_cast<std::size_t>(held.back()->buffer.len) != slice_bytes(b, stream) * static_cast<std::size_t>(count)) {
      throw nb::value_error("data of another size than the slices of the stream");
    }
  }
  return held;
}

void run(Bound& s, const Slices& inputs, const Slices& outputs) {
  const auto in = hold(s, inputs, false);
  const auto out = hold(s, outputs, true);
  std::vector<session::InputData> given;
  std::vector<session::OutputData> results;
  for (std::size_t i = 0; i < in.size(); ++i)
    given.push_back({ir::HostStreamId(std::get<0>(inputs[i])), in[i]->buffer.buf, std::get<2>(inputs[i])});
  for (std::size_t i = 0; i < out.size(); ++i)
    results.push_back({ir::HostStreamId(std::get<0>(outputs[i])), out[i]->buffer.buf, std::get<2>(outputs[i])});
  interruptibly([&] { s.session->run(given, results); }, [&] { s.session->stop(); });
}

// A call that runs a program.
template <class F>
auto running(F f) {
  return [f](Bound& s) { interruptibly([&] { f(*s.session); }, [&] { s.session->stop(); }); };
}

// The caller may change its array later, unless `shared` says that this is wanted: a mapped file.
ir::HostTensor data_from(Program& p, Index state, nb::handle data, bool share) {
  const ir::State& s = p.module().state(ir::StateId(state));
  ir::HostTensor copy = host_tensor_from(data, p.module().type(s.type).dtype, p.module().blob(s.data).shape());
  if (share) return copy;
  const ir::HostTensor shared = copy;
  copy.writable();
  return copy;
}

}  // namespace

void bind_session(nb::module_& m) {
  using session::Session;
  m.def("session_options", session_options,
        "The options of a session: (name, member of popart.SessionOptions or \"\", effect, value not given).");
  nb::class_<Bound> c(m, "Session", "A program that is compiled for a device.");
  c.def("__init__", make, nb::arg("program"), nb::arg("device") = "ipu_model", nb::arg("machine") = "ipu2", nb::arg("tiles_per_ipu") = 0,
        nb::arg("options") = nb::dict(), nb::arg("engine") = nb::dict(), nb::arg("mapped") = Indices(), nb::arg("parsed") = false,
        nb::arg("instances").none() = nb::none(), nb::arg("reads_own_replica") = false,
        "options: by the names of session_options(). parsed: the program was not built here; its order is not checked for ambiguity.");
  c.def("inputs", [](Bound& s) { return numbers_of(s.session->inputs()); });
  c.def("outputs", [](Bound& s) { return numbers_of(s.session->outputs()); });
  c.def("attach", running([](Session& s) { s.attach(); }));
  c.def("detach", [](Bound& s) { s.session->detach(); });
  c.def("is_attached", [](Bound& s) { return s.session->is_attached(); });
  c.def("in_sync", [](Bound& s) { return s.session->in_sync(); });
  c.def("run", run, nb::arg("inputs"), nb::arg("outputs"), "Each a list of (stream, array, slices).");
  c.def("weights_from_host", running([](Session& s) { s.weights_from_host(); }));
  c.def("weights_to_host", running([](Session& s) { s.weights_to_host(); }));
  c.def(
      "data",
      [](Bound& s, Index state, nb::handle into) {
        ir::HostTensor data;
        interruptibly([&] { data = s.session->data(ir::StateId(state)); }, [&] { s.session->stop(); });
        copy_to(into, data);
      },
      nb::arg("state"), nb::arg("into"));
  c.def(
      "write",
      [](Bound& s, const std::vector<std::tuple<Index, nb::object, bool>>& variables) {
        std::vector<session::VariableData> data;
        for (const auto& [state, array, share] : variables) data.push_back({ir::StateId(state), data_from(s.program, state, array, share)});
        s.session->write(std::move(data));
      },
      nb::arg("variables"), "A list of (state, array, whether the variable's data are the array itself).");
  c.def("local_replicas", [](Bound& s) { return s.session->local_replicas(); }, "Replicas that run in this process.");
  c.def("ipus", [](Bound& s) { return s.session->ipus(); });
  c.def("stop", [](Bound& s) { s.session->stop(); });
  c.def(
      "times",
      [](Bound& s) {
        const Session::Times& t = s.session->times();
        nb::dict d;
        d["transform"] = t.transform;
        d["lower"] = t.lower;
        d["compile"] = t.compile;
        d["load"] = t.load;
        return d;
      },
      "Seconds that each stage took.");
  c.def("dump", [](Bound& s, std::string_view level) { return s.session->dump(level); }, nb::arg("level"));
  c.def("cycles", [](Bound& s) { return s.session->cycles(); }, "By the cycle model, since the session was attached or reset_cycles().");
  c.def("reset_cycles", [](Bound& s) { s.session->reset_cycles(); });
  c.def("clock_hz", [](Bound& s) { return s.session->clock_hz(); });
  c.def("executable_bytes", [](Bound& s) { return s.session->executable_bytes(); }, "Of the compiled program as a file.");
  c.def("resident_bytes", [](Bound& s) { return s.session->resident_bytes(); }, "By tile: what the program takes as long as it is loaded.");
  c.def(
      "add_prediction",
      [](Bound& s) {
        const session::Options& o = s.session->options();
        const std::string report = s.session->report_file();
        if (o.device == "cpu" || report.empty() || !std::filesystem::exists(report)) return;
        simulate::add_prediction(report, simulate::prediction(s.session->lowered(), o.machine, o.tiles_per_ipu));
      },
      "If runs write a report of a machine with tiles: puts what is predicted of a step into it.");
  c.def("report_file", [](Bound& s) { return s.session->report_file(); }, "Where runs write a report; \"\" if none was asked for.");
  c.def("profile_summary", [](Bound& s) { return s.session->profile_summary(); });
}

}  // namespace pando::python
