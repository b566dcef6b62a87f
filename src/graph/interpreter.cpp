#include "graph/interpreter.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/error.h"
#include "codelet/foreign_call.h"

namespace pando::graph {
namespace {

Values undefined_values(std::uint64_t elements, ElementType type) {
  return {std::string(elements * size_of(type), '\0'), std::string(elements, '\0')};
}

Values defined_values(std::string bytes, std::uint64_t elements) { return {std::move(bytes), std::string(elements, '\1')}; }

// One element: which variable, which place in it.
struct Element {
  VariableId variable;
  std::uint64_t index = 0;
  friend auto operator<=>(const Element&, const Element&) = default;
};

std::vector<Element> elements_of(const View& view) {
  std::vector<Element> list;
  list.reserve(view.num_elements());
  view.for_each_run([&](const Run& run) {
    for (std::uint64_t i = 0; i < run.count; ++i)
      list.push_back({run.variable, run.offset + static_cast<std::uint64_t>(static_cast<std::int64_t>(i) * run.stride)});
  });
  return list;
}

std::uint64_t row_bytes(const RemoteBuffer& buffer) { return buffer.elements * size_of(buffer.type); }

// Memory of a buffer that kernels see: zeroed, aligned for any element or vector type.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::uint64_t size) : memory_(size + kAlign, '\0') {}
  char* data() {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    return memory_.data() + (kAlign - address % kAlign) % kAlign;
  }

 private:
  static constexpr std::uint64_t kAlign = 64;
  std::vector<char> memory_;
};

}  // namespace

Interpreter::Interpreter(const Graph& graph) : graph_(graph) {
  for (const Variable& v : graph.variables()) {
    std::vector<Values> copies;
    for (unsigned r = 0; r < graph.replication_factor(); ++r) {
      if (v.replica_index)
        copies.push_back(defined_values(std::string(reinterpret_cast<const char*>(&r), sizeof r), 1));
      else if (!v.initial.empty())
        copies.push_back(defined_values(v.initial, v.elements));
      else
        copies.push_back(undefined_values(v.elements, v.type));
    }
    variables_.push_back(std::move(copies));
  }
  for (const RemoteBuffer& b : graph.remote_buffers())
    remotes_.emplace_back(graph.replication_factor(), undefined_values(b.elements * b.repeats, b.type));
  channels_.resize(graph.channels().size(), std::vector<std::deque<Values>>(graph.replication_factor()));
}

void Interpreter::connect(const std::string& handle, Block block) { fifos_[handle] = std::move(block); }

void Interpreter::connect_host_function(const std::string& handle, HostCode code) { host_functions_[handle] = std::move(code); }

void Interpreter::run(const ProgramPtr& program) {
  Replicas all;
  for (unsigned r = 0; r < graph_.replication_factor(); ++r) all.push_back(r);
  step(program, all);
}

Values Interpreter::read(const View& view, unsigned replica) const {
  const std::size_t size = size_of(view.type());
  Values out;
  for (const Element& e : elements_of(view)) {
    const Values& variable = variables_[e.variable.index()][replica];
    out.bytes.append(variable.bytes, e.index * size, size);
    out.defined.push_back(variable.defined[e.index]);
  }
  return out;
}

void Interpreter::write(const View& view, unsigned replica, const Values& values) {
  const std::size_t size = size_of(view.type());
  PANDO_CHECK(values.defined.size() == view.num_elements() && values.bytes.size() == size * values.defined.size());
  std::size_t i = 0;
  for (const Element& e : elements_of(view)) {
    Values& variable = variables_[e.variable.index()][replica];
    variable.bytes.replace(e.index * size, size, values.bytes, i * size, size);
    variable.defined[e.index] = values.defined[i];
    ++i;
  }
}

void Interpreter::step(const ProgramPtr& program, const Replicas& replicas) {
  if (!program || replicas.empty()) return;
  std::visit([&](const auto& body) { step(body, replicas); }, program->body);
}

void Interpreter::step(const Sequence& p, const Replicas& r) {
  for (const ProgramPtr& s : p.steps) step(s, r);
}

void Interpreter::step(const Copy& p, const Replicas& r) {
  for (unsigned replica : r) write(p.destination, replica, read(p.source, replica));
}

const Interpreter::Block& Interpreter::block_of(const Fifo& fifo) const {
  const auto found = fifos_.find(fifo.handle);
  if (found == fifos_.end())
    fail(ErrorKind::stream_connection_error, "unconnected-stream", "stream '{}' is used and not connected", fifo.handle);
  return found->second;
}

void Interpreter::step(const HostToDevice& p, const Replicas& r) {
  const Fifo& fifo = graph_.fifos()[p.fifo];
  Values block;
  for (unsigned replica : r) {
    if (fifo.mode == ReplicatedFifo::replicate || replica == r.front()) {
      block = defined_values(std::string(fifo.elements * size_of(fifo.type), '\0'), fifo.elements);
      block_of(fifo)(replica, block);
    }
    write(p.destination, replica, block);
  }
}

void Interpreter::step(const DeviceToHost& p, const Replicas& r) {
  const Fifo& fifo = graph_.fifos()[p.fifo];
  for (unsigned replica : r) {
    Values block = read(p.source, replica);
    block_of(fifo)(replica, block);
  }
}

std::vector<std::uint64_t> Interpreter::rows(const View& offset, std::size_t count, const RemoteBuffer& buffer, unsigned replica) const {
  if (!offset.valid()) return std::vector<std::uint64_t>(count, 0);
  const View flat = offset.flatten();
  std::vector<std::uint64_t> list;
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = static_cast<std::uint32_t>(scalar(flat.slice(i, i + 1, 0), replica, "a row number"));
    if (row >= buffer.repeats)
      fail(ErrorKind::application_runtime_error, "remote-row-out-of-range", "remote buffer '{}' has {} rows, row {} asked for",
           buffer.handle, buffer.repeats, row);
    list.push_back(row);
  }
  return list;
}

void Interpreter::step(const RemoteRead& p, const Replicas& r) {
  const RemoteBuffer& buffer = graph_.remote_buffers()[p.buffer];
  for (unsigned replica : r) {
    const Values& rows_of = remotes_[p.buffer.index()][replica];
    Values all;
    for (std::uint64_t row : rows(p.offset, p.tensor.num_elements() / buffer.elements, buffer, replica)) {
      all.bytes.append(rows_of.bytes, row * row_bytes(buffer), row_bytes(buffer));
      all.defined.append(rows_of.defined, row * buffer.elements, buffer.elements);
    }
    write(p.tensor, replica, all);
  }
}

void Interpreter::step(const RemoteWrite& p, const Replicas& r) {
  const RemoteBuffer& buffer = graph_.remote_buffers()[p.buffer];
  for (unsigned replica : r) {
    Values& rows_of = remotes_[p.buffer.index()][replica];
    const Values all = read(p.tensor, replica);
    std::uint64_t i = 0;
    for (std::uint64_t row : rows(p.offset, p.tensor.num_elements() / buffer.elements, buffer, replica)) {
      rows_of.bytes.replace(row * row_bytes(buffer), row_bytes(buffer), all.bytes, i * row_bytes(buffer), row_bytes(buffer));
      rows_of.defined.replace(row * buffer.elements, buffer.elements, all.defined, i * buffer.elements, buffer.elements);
      ++i;
    }
  }
}

// The integer value of a one-element view; of floating types only whether it is zero.
std::int64_t Interpreter::scalar(const View& view, unsigned replica, std::string_view purpose) const {
  const Values value = read(view, replica);
  PANDO_CHECK(value.defined.size() == 1);
  if (!value.all_defined())
    fail(ErrorKind::application_runtime_error, "undefined-value", "{} is read from an element that is not defined", purpose);
  std::int64_t out = 0;
  std::memcpy(&out, value.bytes.data(), value.bytes.size());
  if (view.type() == ElementType::int_) out = static_cast<std::int32_t>(out);
  return out;
}

Interpreter::Replicas Interpreter::where(const View& predicate, bool wanted, const Replicas& replicas) const {
  Replicas list;
  for (unsigned replica : replicas)
    if ((scalar(predicate, replica, "a predicate") != 0) == wanted) list.push_back(replica);
  return list;
}

void Interpreter::step(const Repeat& p, const Replicas& r) {
  for (std::uint64_t i = 0; i < p.count; ++i) step(p.body, r);
}

void Interpreter::step(const RepeatWhile& p, const Replicas& r) {
  Replicas going = r;
  while (true) {
    step(p.condition, going);
    going = where(p.predicate, !p.until, going);
    if (going.empty()) return;
    step(p.body, going);
  }
}

void Interpreter::step(const If& p, const Replicas& r) {
  const Replicas yes = where(p.predicate, true, r), no = where(p.predicate, false, r);
  step(p.then_body, yes);
  step(p.else_body, no);
}

void Interpreter::step(const Switch& p, const Replicas& r) {
  std::vector<Replicas> takers(p.cases.size() + 1);
  for (unsigned replica : r) {
    const auto value = static_cast<std::int32_t>(scalar(p.control, replica, "the control of a switch"));
    const auto found = std::find_if(p.cases.begin(), p.cases.end(), [&](const auto& c) { return c.first == value; });
    takers[static_cast<std::size_t>(found - p.cases.begin())].push_back(replica);
  }
  for (std::size_t i = 0; i < p.cases.size(); ++i) step(p.cases[i].second, takers[i]);
  step(p.default_body, takers.back());
}

void Interpreter::step(const Call& p, const Replicas& r) { step(graph_.functions()[p.function].body, r); }

void Interpreter::step(const HostCall& p, const Replicas& r) {
  const HostFunction& function = graph_.host_functions()[p.function];
  const auto code = host_functions_.find(function.handle);
  if (code == host_functions_.end())
    fail(ErrorKind::stream_connection_error, "unconnected-host-function", "host function '{}' is called and not connected",
         function.handle);
  for (unsigned replica : r) {
    std::vector<Values> in, out;
    bool defined = true;
    for (const View& view : p.inputs) {
      in.push_back(read(view, replica));
      defined = defined && in.back().all_defined();
    }
    for (const View& view : p.outputs) {
      out.push_back(undefined_values(view.num_elements(), view.type()));
      if (defined) out.back().defined.assign(view.num_elements(), '\1');
    }
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    for (const Values& v : in) inputs.push_back(v.bytes.data());
    for (Values& v : out) outputs.push_back(v.bytes.data());
    code->second(replica, inputs, outputs);
    for (std::size_t i = 0; i < out.size(); ++i) write(p.outputs[i], replica, out[i]);
  }
}

void Interpreter::step(const Print& p, const Replicas& r) {
  for (unsigned replica : r) printed_.push_back({p.title, replica, p.tensor.type(), p.tensor.shape(), read(p.tensor, replica), p.format});
}

void Interpreter::step(const Error& p, const Replicas& r) {
  const Replicas stopped = p.condition.valid() ? where(p.condition, true, r) : r;
  if (!stopped.empty()) fail(ErrorKind::application_runtime_error, "error-program", "{}", p.message);
}

void Interpreter::step(const WriteUndef& p, const Replicas& r) {
  for (unsigned replica : r) write(p.tensor, replica, undefined_values(p.tensor.num_elements(), p.tensor.type()));
}

void Interpreter::step(const CrossReplicaCopy& p, const Replicas& r) {
  if (r.size() != graph_.replication_factor())
    fail(ErrorKind::graph_replication_error, "cross-replica-copy-in-branch",
         "a copy across replicas runs on {} of {} replicas: it must not be in a branch that differs between them", r.size(),
         graph_.replication_factor());
  std::vector<Values> sources;
  for (unsigned replica : r) sources.push_back(read(p.source, replica));
  for (const auto& [from, to] : p.map) write(p.destination, to, sources.at(from));
}

// Cycle counts are the executor's business: the interpreter only knows that something is written.
void Interpreter::step(const CycleStamp& p, const Replicas& r) { step(WriteUndef{p.stamp}, r); }

void Interpreter::step(const Send& p, const Replicas& r) {
  for (unsigned replica : r) channels_[p.channel.index()][replica].push_back(read(p.source, replica));
}

void Interpreter::step(const Receive& p, const Replicas& r) {
  for (unsigned replica : r) {
    std::deque<Values>& blocks = channels_[p.channel.index()][replica];
    if (blocks.empty())
      fail(ErrorKind::control_program_error, "channel-empty",
           "in the program's own order a block is received from channel '{}' before it is sent", graph_.channels()[p.channel].name);
    write(p.destination, replica, blocks.front());
    blocks.pop_front();
  }
}

// --- Compute sets ---------------------------------------------------------------------------------------------------------------

// The operands of one vertex: one row per row of each edge field, each at a place in a buffer.
struct VertexOperands {
  struct Row {
    const View* view = nullptr;
    std::uint16_t field = 0;
    bool written = false;
    std::vector<Element> elements;
    std::size_t buffer = 0;
    std::size_t place = 0;  // element of the buffer where the row begins
  };
  std::vector<Row> rows;
  std::vector<AlignedBytes> buffers;
  bool inputs_defined = true;

  char* data(const Row& row) { return buffers[row.buffer].data() + row.place * size_of(row.view->type()); }
};

namespace {

using Row = VertexOperands::Row;

std::size_t root_of(std::vector<std::size_t>& parent, std::size_t i) {
  while (parent[i] != i) i = parent[i];
  return i;
}

// Groups rows that share an element that one of them writes; equal number = same group.
std::vector<std::size_t> groups_of(const std::vector<Row>& rows) {
  std::map<Element, std::size_t> writer;
  std::vector<std::size_t> parent(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    parent[i] = i;
    if (rows[i].written)
      for (const Element& e : rows[i].elements) writer.emplace(e, i);
  }
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const Element& e : rows[i].elements)
      if (const auto found = writer.find(e); found != writer.end()) parent[root_of(parent, i)] = root_of(parent, found->second);
  std::vector<std::size_t> group(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) group[i] = root_of(parent, i);
  return group;
}

// Where each row begins in `order`, if each is contiguous there; else empty.
std::vector<std::size_t> places_in(const std::vector<Element>& order, const std::vector<Row*>& rows) {
  std::map<Element, std::size_t> place;
  for (std::size_t i = 0; i < order.size(); ++i)
    if (!place.emplace(order[i], i).second) return {};
  std::vector<std::size_t> out;
  for (const Row* row : rows) {
    const std::size_t begin = row->elements.empty() ? 0 : place.contains(row->elements[0]) ? place[row->elements[0]] : order.size();
    for (std::size_t i = 0; i < row->elements.size(); ++i)
      if (begin + i >= order.size() || order[begin + i] != row->elements[i]) return {};
    out.push_back(begin);
  }
  return out;
}

// One buffer for the rows of a group, or, where they cannot share one, one for each.
void lay_out(const std::vector<Row*>& group, std::vector<AlignedBytes>& buffers) {
  const auto longest =
      std::max_element(group.begin(), group.end(), [](const Row* a, const Row* b) { return a->elements.size() < b->elements.size(); });
  std::vector<Element> order = (*longest)->elements;
  std::vector<std::size_t> places = places_in(order, group);
  if (places.empty()) {
    order.clear();
    for (const Row* row : group) order.insert(order.end(), row->elements.begin(), row->elements.end());
    std::sort(order.begin(), order.end());
    order.erase(std::unique(order.begin(), order.end()), order.end());
    places = places_in(order, group);
  }
  for (std::size_t i = 0; i < group.size(); ++i) {
    const bool own = places.empty();
    if (own || i == 0) buffers.emplace_back((own ? group[i]->elements.size() : order.size()) * size_of(group[i]->view->type()));
    group[i]->buffer = buffers.size() - 1;
    group[i]->place = own ? 0 : places[i];
  }
}

}  // namespace

PANDO_CALLS_CODELETS Interpreter::TileBlock& Interpreter::tile_block(TileId tile, unsigned replica) {
  const auto [found, is_new] = tiles_.try_emplace({replica, tile});
  TileBlock& block = found->second;
  if (!is_new) return block;
  const Library& library = graph_.library();
  std::uint64_t size = 0;
  for (std::uint32_t c = 0; c < library.size(); ++c) {
    const ReservedRange& range = library[CodeletId(c)].reserved;
    size = std::max(size, range.begin + range.size);
  }
  for (std::uint32_t m = 0; m < library.modules(); ++m) {
    const ModuleGlobals& globals = library.module(ModuleId(m)).globals;
    size = (size + 63) / 64 * 64;
    block.globals.push_back(globals.size == 0 ? ~std::uint64_t{0} : size);
    size += globals.size;
  }
  block.bytes.assign(size, '\0');
  for (std::uint32_t c = 0; c < library.size(); ++c)
    for (const auto& [name, image] : graph_.images)
      if (const ReservedRange& range = library[CodeletId(c)].reserved; range.size != 0 && range.image == name)
        block.bytes.replace(range.begin, image.size(), image);
  TileContext& context = tile_context();
  context = {block.bytes.data(), size, tile.value, replica, graph_.machine().tiles(), block.globals.data(), nullptr};
  for (std::uint32_t m = 0; m < library.modules(); ++m)
    if (const ModuleGlobals& globals = library.module(ModuleId(m)).globals; globals.size != 0)
      globals.initialise(block.bytes.data() + block.globals[m]);
  return block;
}

// Builds the vertex's host object (codelet/store/codelet.h) and calls the kernel on it.
PANDO_CALLS_CODELETS bool Interpreter::call_kernel(const Vertex& vertex, VertexOperands& operands, unsigned replica) {
  const Codelet& codelet = graph_.library()[vertex.codelet];
  AlignedBytes object(codelet.host_size);
  std::vector<std::vector<VectorEdge>> rows(codelet.fields.size());
  for (const Row& row : operands.rows) rows[row.field].push_back({operands.data(row), row.elements.size()});
  for (std::size_t f = 0; f < codelet.fields.size(); ++f) {
    const Field& field = codelet.fields[f];
    if (!field.is_edge()) continue;
    char* place = object.data() + field.host_offset;
    const VectorEdge list = {rows[f].data(), rows[f].size()};
    if (field.shape == FieldShape::scalar)
      std::memcpy(place, &rows[f].at(0).data, sizeof(void*));
    else
      std::memcpy(place, field.shape == FieldShape::vector ? &rows[f].at(0) : &list, sizeof list);
  }
  std::vector<AlignedBytes> state_vectors;
  for (const StateValue& value : vertex.state) {
    const Field& field = codelet.fields[value.field];
    char* place = object.data() + field.host_offset;
    if (field.shape == FieldShape::scalar) {
      std::memcpy(place, value.bytes.data(), value.bytes.size());
      continue;
    }
    state_vectors.emplace_back(value.bytes.size());
    std::memcpy(state_vectors.back().data(), value.bytes.data(), value.bytes.size());
    const VectorEdge vector = {state_vectors.back().data(), value.bytes.size() / size_of(field.type)};
    std::memcpy(place, &vector, sizeof vector);
  }
  const TileContext saved = tile_context();
  TileBlock& tile = tile_block(vertex.tile, replica);
  tile_context() = {
      tile.bytes.data(), tile.bytes.size(), vertex.tile.value, replica, graph_.machine().tiles(), tile.globals.data(), nullptr};
  std::uint64_t at = 0;
  const bool result = codelet.kernel(object.data(), codelet.host_size, 1, &at);
  tile_context() = saved;
  return result;
}

void Interpreter::execute(const ComputeSet& set, const View& result, unsigned replica) {
  // Vertices of one tile run sorted by codelet; only those that touch the tile's globals could tell.
  std::vector<VertexId> order = set.vertices;
  const auto rank = [&](VertexId v) { return std::pair(graph_.vertices()[v].codelet, v); };
  std::sort(order.begin(), order.end(), [&](VertexId a, VertexId b) { return rank(a) < rank(b); });
  std::vector<VertexOperands> all(order.size());
  for (std::size_t v = 0; v < order.size(); ++v) {
    const Vertex& vertex = graph_.vertices()[order[v]];
    const Codelet& codelet = graph_.library()[vertex.codelet];
    VertexOperands& operands = all[v];
    for (const Edge& edge : vertex.edges)
      for (const View& view : edge.rows)
        operands.rows.push_back({&view, edge.field, codelet.fields[edge.field].is_written(), elements_of(view)});
    const std::vector<std::size_t> group = groups_of(operands.rows);
    for (std::size_t g = 0; g < group.size(); ++g) {
      std::vector<Row*> members;
      for (std::size_t i = 0; i < group.size(); ++i)
        if (group[i] == g) members.push_back(&operands.rows[i]);
      if (!members.empty()) lay_out(members, operands.buffers);
    }
    for (const Row& row : operands.rows) {
      const Values values = read(*row.view, replica);
      std::memcpy(operands.data(row), values.bytes.data(), values.bytes.size());
      if (codelet.fields[row.field].is_read()) operands.inputs_defined &= values.all_defined();
    }
  }
  bool success = true, defined = true;
  for (std::size_t v = 0; v < order.size(); ++v) {
    success &= call_kernel(graph_.vertices()[order[v]], all[v], replica);
    defined &= all[v].inputs_defined;
  }
  for (VertexOperands& operands : all)
    for (const Row& row : operands.rows) {
      if (!row.written) continue;
      const std::size_t count = row.elements.size(), size = size_of(row.view->type());
      const char mark = operands.inputs_defined ? '\1' : '\0';
      write(*row.view, replica, {std::string(operands.data(row), count * size), std::string(count, mark)});
    }
  if (!result.valid()) return;
  Values flag = undefined_values(1, result.type());
  flag.bytes[0] = success ? 1 : 0;
  flag.defined[0] = defined ? 1 : 0;
  write(result, replica, flag);
}

void Interpreter::step(const Execute& p, const Replicas& r) {
  for (unsigned replica : r) execute(graph_.compute_sets()[p.compute_set], p.result, replica);
}

}  // namespace pando::graph
