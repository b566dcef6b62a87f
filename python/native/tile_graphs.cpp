// Graphs of vertices, for pando.graph: the public C++ interface, with tensors' data as bytes.
#include "native/interruptible.h"
#include "native/native.h"

#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>

#include <cstring>
#include <map>
#include <set>

namespace pando::python {

namespace {

struct TileBuffer {
  explicit TileBuffer(nb::handle object, bool writable) {
    if (PyObject_GetBuffer(object.ptr(), &view, writable ? PyBUF_SIMPLE | PyBUF_WRITABLE : PyBUF_SIMPLE) != 0) throw nb::python_error();
  }
  ~TileBuffer() { PyBuffer_Release(&view); }
  TileBuffer(const TileBuffer&) = delete;
  char* begin() const { return static_cast<char*>(view.buf); }
  char* end() const { return begin() + view.len; }
  Py_buffer view;
};

struct TileGraph {
  explicit TileGraph(poplar::Device on) : device(std::move(on)), graph(device) {}
  poplar::Device device;
  poplar::Graph graph;
};

TileGraph* make_tile_graph(const std::string& device, const std::string& machine, unsigned ipus, unsigned tiles) {
  if (device == "cpu") return new TileGraph(poplar::Device::createCPUDevice());
  poplar::IPUModel model(machine.c_str());
  model.numIPUs = ipus;
  if (tiles > 0) model.tilesPerIPU = tiles;
  return new TileGraph(model.createDevice());
}

// The API keeps the pointers of a place.
const char* kept(const std::string& text) {
  static std::set<std::string> texts;
  return texts.insert(text).first->c_str();
}

poplar::SourceLocation user_line() {
  const ir::Location at = Locations::find();
  return at.file.empty() ? poplar::SourceLocation() : poplar::SourceLocation(kept(at.function), kept(at.file), at.line);
}

poplar::DebugContext named(const std::string& name) { return poplar::DebugContext(name, user_line()); }

poplar::Type type_named(const std::string& name) {
  static const std::map<std::string, poplar::Type> types{{"float32", poplar::FLOAT},
                                                         {"float16", poplar::HALF},
                                                         {"int32", poplar::INT},
                                                         {"uint32", poplar::UNSIGNED_INT},
                                                         {"int16", poplar::SHORT},
                                                         {"uint16", poplar::UNSIGNED_SHORT},
                                                         {"int8", poplar::SIGNED_CHAR},
                                                         {"uint8", poplar::UNSIGNED_CHAR},
                                                         {"bool", poplar::BOOL},
                                                         {"int64", poplar::LONGLONG},
                                                         {"uint64", poplar::UNSIGNED_LONGLONG}};
  const auto it = types.find(name);
  if (it != types.end()) return it->second;
  std::string known;
  for (const auto& [other, type] : types) known += (known.empty() ? "" : ", ") + other;
  throw nb::value_error(("tensors have no elements of type '" + name + "'; expected one of " + known).c_str());
}

// A constant of a field: (type, bytes, whether it is a scalar).
using FieldValue = std::tuple<std::string, nb::bytes, bool>;

template <class T>
poplar::Graph::ConnectionDesc constant_of(const std::string& field, const nb::bytes& bytes, bool is_scalar) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.c_str(), values.size() * sizeof(T));
  if (is_scalar) return {field, values.at(0)};
  return {field, values};
}

poplar::Graph::ConnectionDesc field_of(const std::string& field, nb::handle value) {
  if (nb::isinstance<poplar::Tensor>(value)) return {field, nb::cast<poplar::Tensor>(value)};
  if (nb::isinstance<nb::list>(value)) return {field, nb::cast<std::vector<poplar::Tensor>>(value)};
  const auto [type, bytes, is_scalar] = nb::cast<FieldValue>(value);
  if (type == "float32") return constant_of<float>(field, bytes, is_scalar);
  if (type == "int32") return constant_of<int>(field, bytes, is_scalar);
  if (type == "uint32") return constant_of<unsigned>(field, bytes, is_scalar);
  if (type == "int16") return constant_of<short>(field, bytes, is_scalar);
  if (type == "uint16") return constant_of<unsigned short>(field, bytes, is_scalar);
  if (type == "int8") return constant_of<signed char>(field, bytes, is_scalar);
  if (type == "uint8") return constant_of<unsigned char>(field, bytes, is_scalar);
  if (type == "bool") {
    if (is_scalar) return {field, *bytes.c_str() != 0};
  }
  throw nb::value_error(("field '" + field + "': a constant has the type '" + type +
                         "'; expected float32, int32, uint32, int16, uint16, int8, uint8, or one bool")
                            .c_str());
}

void add_vertex(TileGraph& g, const poplar::ComputeSet& set, const std::string& codelet, unsigned tile, const nb::dict& fields) {
  std::vector<poplar::Graph::ConnectionDesc> connections;
  for (auto [name, value] : fields) connections.push_back(field_of(nb::cast<std::string>(name), value));
  g.graph.setTileMapping(g.graph.addVertex(set, codelet, connections, user_line()), tile);
}

void add_tile_codelets(TileGraph& g, const std::string& file, const std::string& flags) {
  interruptibly([&] { g.graph.addCodelets(file, poplar::CodeletFileType::Auto, flags); });
}

template <class T>
void initialise(TileGraph& g, const poplar::Tensor& t, const TileBuffer& from) {
  std::vector<T> values(static_cast<std::size_t>(from.view.len) / sizeof(T));
  std::memcpy(values.data(), from.begin(), values.size() * sizeof(T));
  g.graph.setInitialValue(t, poplar::ArrayRef<T>(values));
}

void set_initial_bytes(TileGraph& g, const poplar::Tensor& t, const std::string& type, nb::handle buffer) {
  const TileBuffer from(buffer, false);
  if (type == "float16") {
    std::vector<std::uint16_t> values(static_cast<std::size_t>(from.view.len) / 2);
    std::memcpy(values.data(), from.begin(), values.size() * 2);
    return g.graph.setInitialValueHalf(t, poplar::ArrayRef<std::uint16_t>(values));
  }
  if (type == "float32") return initialise<float>(g, t, from);
  if (type == "int32") return initialise<int>(g, t, from);
  if (type == "uint32") return initialise<unsigned>(g, t, from);
  if (type == "int16") return initialise<short>(g, t, from);
  if (type == "uint16") return initialise<unsigned short>(g, t, from);
  if (type == "int8") return initialise<signed char>(g, t, from);
  if (type == "uint8") return initialise<unsigned char>(g, t, from);
  throw nb::value_error(("initial values of type '" + type + "': write them with Engine.write_tensor").c_str());
}

poplar::program::Program sequence_of(const std::vector<poplar::program::Program>& parts) {
  poplar::program::Sequence out(named(""));
  for (const poplar::program::Program& p : parts) out.add(p);
  return out;
}

poplar::program::Program choice_of(const poplar::Tensor& control,
                                   const std::vector<std::pair<std::int32_t, poplar::program::Program>>& cases,
                                   const poplar::program::Program& otherwise) {
  return poplar::program::Switch(control, cases, otherwise, named(""));
}

poplar::program::Program loop_of(const poplar::program::Program& condition, const poplar::Tensor& predicate,
                                 const poplar::program::Program& body, bool while_true) {
  if (while_true) return poplar::program::RepeatWhileTrue(condition, predicate, body, named(""));
  return poplar::program::RepeatWhileFalse(condition, predicate, body, named(""));
}

poplar::DataStream add_stream(TileGraph& g, const std::string& handle, const std::string& type, std::size_t elements, bool to_device) {
  return to_device ? g.graph.addHostToDeviceFIFO(handle, type_named(type), elements)
                   : g.graph.addDeviceToHostFIFO(handle, type_named(type), elements);
}

struct TileEngine {
  TileEngine(nb::object owner, TileGraph& g, const std::vector<poplar::program::Program>& programs, const nb::dict& options)
      : graph(std::move(owner)) {
    poplar::OptionFlags flags;
    for (auto [name, value] : options) flags.set(nb::cast<std::string>(name), nb::cast<std::string>(value));
    interruptibly([&] {
      engine = std::make_unique<poplar::Engine>(g.graph, programs, flags);
      engine->load(g.device);
    });
  }
  nb::object graph;  // has the device
  std::map<std::string, std::unique_ptr<TileBuffer>> connected;
  std::unique_ptr<poplar::Engine> engine;  // reads and writes what is connected
};

void connect_buffer(TileEngine& e, const std::string& handle, nb::handle array, bool to_device) {
  auto buffer = std::make_unique<TileBuffer>(array, !to_device);
  e.engine->connectStream(handle, buffer->begin(), buffer->end());
  e.connected[handle] = std::move(buffer);
}

// `function` is given the block's bytes. What it raises ends the run.
void connect_function(TileEngine& e, const std::string& handle, std::size_t bytes, nb::object function) {
  e.engine->connectStreamToCallback(handle, [bytes, function = std::move(function)](void* block) {
    const nb::gil_scoped_acquire held;
    function(nb::steal(PyMemoryView_FromMemory(static_cast<char*>(block), static_cast<Py_ssize_t>(bytes), PyBUF_WRITE)));
  });
  e.connected.erase(handle);
}

void run_tile_engine(TileEngine& e, unsigned program, const std::string& name) {
  interruptibly([&] { e.engine->run(program, name); }, [&] { e.engine->stop(); });
}

}  // namespace

void bind_tile_graphs(nb::module_& m) {
  using poplar::Tensor;
  using poplar::program::Program;
  nb::class_<Tensor>(m, "TileTensor")
      .def("shape", [](const Tensor& t) { return std::vector<std::size_t>(t.shape()); })
      .def("type", [](const Tensor& t) { return t.elementType().toString(); })
      .def("slice", [](const Tensor& t, std::size_t begin, std::size_t end, unsigned dim) { return t.slice(begin, end, dim); })
      .def("index", [](const Tensor& t, std::size_t i) { return t[i]; })
      .def("reshape", [](const Tensor& t, const std::vector<std::size_t>& shape) { return t.reshape(shape); })
      .def("shuffle", [](const Tensor& t, const std::vector<unsigned>& dims) { return t.dimShuffle(dims); });
  nb::class_<poplar::ComputeSet>(m, "TileComputeSet");
  nb::class_<Program>(m, "TileProgram");
  nb::class_<poplar::DataStream>(m, "TileStream");
  nb::class_<TileGraph>(m, "TileGraph")
      .def("__init__",
           [](TileGraph* self, const std::string& device, const std::string& machine, unsigned ipus, unsigned tiles) {
             const std::unique_ptr<TileGraph> made(make_tile_graph(device, machine, ipus, tiles));
             new (self) TileGraph(std::move(*made));
           })
      .def("tiles", [](const TileGraph& g) { return g.graph.getTarget().getNumTiles(); })
      .def("add_codelets", add_tile_codelets)
      .def("add_variable", [](TileGraph& g, const std::string& type, const std::vector<std::size_t>& shape,
                              const std::string& name) { return g.graph.addVariable(type_named(type), shape, named(name)); })
      .def("map", [](TileGraph& g, const Tensor& t, unsigned tile) { g.graph.setTileMapping(t, tile); })
      .def("set_initial_value", set_initial_bytes)
      .def("add_stream", add_stream)
      .def("add_compute_set", [](TileGraph& g, const std::string& name) { return g.graph.addComputeSet(named(name)); })
      .def("add_vertex", add_vertex)
      .def("create_host_write", [](TileGraph& g, const std::string& handle, const Tensor& t) { g.graph.createHostWrite(handle, t); })
      .def("create_host_read", [](TileGraph& g, const std::string& handle, const Tensor& t) { g.graph.createHostRead(handle, t); });
  m.def("tile_execute", [](const poplar::ComputeSet& set) -> Program { return poplar::program::Execute(set, named("")); });
  m.def("tile_copy", [](const Tensor& from, const Tensor& to) -> Program { return poplar::program::Copy(from, to, false, named("")); });
  m.def("tile_copy_in",
        [](const poplar::DataStream& from, const Tensor& to) -> Program { return poplar::program::Copy(from, to, false, named("")); });
  m.def("tile_copy_out",
        [](const Tensor& from, const poplar::DataStream& to) -> Program { return poplar::program::Copy(from, to, false, named("")); });
  m.def("tile_sequence", sequence_of);
  m.def("tile_if", [](const Tensor& predicate, const Program& then, const Program& otherwise) -> Program {
    return poplar::program::If(predicate, then, otherwise, named(""));
  });
  m.def("tile_switch", choice_of);
  m.def("tile_loop", loop_of);
  m.def("tile_repeat", [](unsigned count, const Program& body) -> Program { return poplar::program::Repeat(count, body, named("")); });
  m.def("tile_print",
        [](const std::string& title, const Tensor& t) -> Program { return poplar::program::PrintTensor(title, t, named("")); });
  nb::class_<TileEngine>(m, "TileEngine")
      .def("__init__",
           [](TileEngine* self, nb::object graph, const std::vector<Program>& programs, const nb::dict& options) {
             TileGraph& g = nb::cast<TileGraph&>(graph);
             new (self) TileEngine(std::move(graph), g, programs, options);
           })
      .def("run", run_tile_engine)
      .def("connect_buffer", connect_buffer)
      .def("connect_function", connect_function)
      .def("write_tensor",
           [](TileEngine& e, const std::string& handle, nb::handle from) {
             const TileBuffer data(from, false);
             e.engine->writeTensor(handle, data.begin(), data.end());
           })
      .def("read_tensor", [](TileEngine& e, const std::string& handle, nb::handle to) {
        const TileBuffer data(to, true);
        e.engine->readTensor(handle, data.begin(), data.end());
      });
}

}  // namespace pando::python
