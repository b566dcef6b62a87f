#include "generate.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "codelets.h"
#include "random.h"

namespace pando::fuzz {
namespace {

using namespace graph;

constexpr std::size_t kMostElements = 400;
constexpr ElementType kTypes[] = {ElementType::unsigned_char, ElementType::unsigned_short, ElementType::unsigned_int,
                                  ElementType::unsigned_long_long};

// Views name elements of variables; two views of one compute set must not meet where one is written.
using Elements = std::set<std::pair<VariableId, std::uint64_t>>;

Elements elements_of(const View& view) {
  Elements out;
  view.for_each_run([&](const Run& run) {
    for (std::uint64_t i = 0; i < run.count; ++i)
      out.emplace(run.variable, run.offset + static_cast<std::uint64_t>(static_cast<std::int64_t>(i) * run.stride));
  });
  return out;
}

bool meet(const Elements& a, const Elements& b) {
  return std::any_of(a.begin(), a.end(), [&](const auto& e) { return b.contains(e); });
}

struct Data {
  View view;  // of the whole variable
  bool constant = false;
};

// Which replicas and how often a step may run where it stands.
struct Where {
  unsigned depth = 0;
  bool may_differ = false;  // inside a branch that replicas may take differently
  unsigned functions = 0;   // how many functions may be called
};

class Generator {
 public:
  Generator(std::uint64_t seed, const LeftOut& left_out) : random_(seed), left_out_(left_out) {}

  Case run() {
    const unsigned replicas = random_.chance(25) ? 2 : 1;
    case_.graph = std::make_unique<Graph>(machine(), replicas);
    graph_ = case_.graph.get();
    add_codelets(graph_->library());
    if (random_.chance(30)) say_groups();
    add_variables();
    add_host_ends();
    const std::uint64_t functions = random_.below(4);
    for (unsigned f = 0; f < functions; ++f) add_function(f);
    const Where top{0, false, static_cast<unsigned>(functions)};
    add_engine(top);
    if (random_.chance(20)) add_engine(top);
    return std::move(case_);
  }

 private:
  bool kept() { return !left_out_.contains(case_.items++); }

  void add_engine(Where where) {
    Engine engine;
    for (std::uint64_t p = random_.between(1, 3); p > 0; --p) engine.programs.push_back(sequence(where, random_.between(2, 8)));
    // Another engine's program can be in this one too.
    if (!case_.engines.empty() && random_.chance(50)) engine.programs.push_back(case_.engines[0].programs[0]);
    for (std::uint64_t n = random_.between(1, 4); n > 0; --n)
      if (const auto p = static_cast<unsigned>(random_.below(engine.programs.size())); kept()) engine.runs.push_back(p);
    case_.engines.push_back(std::move(engine));
  }

  // Tiles whose group is said, whatever runs on them.
  void say_groups() {
    for (std::uint32_t t = 0; t < graph_->machine().tiles(); ++t)
      if (random_.chance(30)) graph_->set_tile_group(TileId(t), random_.chance(50));
  }

  Machine machine() {
    if (random_.chance(5)) return *find_machine("cpu");
    Machine m = *find_machine("tiny4");
    m.ipus = random_.chance(35) ? 2 : 1;
    m.tiles_per_ipu = random_.pick(std::vector<unsigned>{1, 2, 4, 4, 4, 7});
    return m;
  }

  TileId any_tile() { return TileId(static_cast<std::uint32_t>(random_.below(graph_->machine().tiles()))); }
  ElementType any_type() { return kTypes[random_.below(4)]; }

  std::string any_bytes(std::uint64_t n) {
    std::string bytes;
    while (bytes.size() < n) bytes.push_back(static_cast<char>(random_.next()));
    return bytes;
  }

  // --- Variables -----------------------------------------------------------------------------------------------------------------

  Shape any_shape() {
    Shape shape;
    for (std::uint64_t rank = random_.between(1, 3); rank > 0; --rank) shape.push_back(random_.between(1, rank > 2 ? 3 : 9));
    if (random_.chance(10)) shape = {random_.between(100, 300)};
    return shape;
  }

  void map(const View& view) {
    const std::uint64_t n = view.num_elements();
    const View flat = view.flatten();
    if (random_.chance(25)) return graph_->set_tile_mapping(view, any_tile());
    // Pieces of random length, each on a random tile: long pieces are blocks, short ones scatter a variable.
    const std::uint64_t longest = random_.chance(30) ? 2 : std::max<std::uint64_t>(1, n / 2);
    std::vector<graph::MappedInterval> mapping;
    for (std::uint64_t begin = 0; begin < n;) {
      const std::uint64_t end = std::min(n, begin + random_.between(1, longest));
      mapping.push_back({{begin, end}, any_tile()});
      begin = end;
    }
    graph_->set_tile_mapping(flat, mapping);
  }

  View variable(const std::string& name, ElementType type, const Shape& shape, std::optional<std::string> initial) {
    const View view = graph_->view(graph_->add_variable(type, shape, name));
    map(view);
    if (initial) graph_->set_initial_value(view, *initial);
    return view;
  }

  template <class T>
  static std::string bytes_of(const std::vector<T>& values) {
    return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }

  void add_variables() {
    for (ElementType type : kTypes)
      for (std::uint64_t n = random_.between(1, 3); n > 0; --n) {
        const Shape shape = any_shape();
        const std::uint64_t count = std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
        const ElementType declared = type == ElementType::unsigned_int && random_.chance(30) ? ElementType::float_ : type;
        const std::string bytes = any_bytes(count * size_of(type));
        const std::string name = "v" + std::to_string(data_.size());
        if (random_.chance(15)) {
          const View view = graph_->view(graph_->add_constant(declared, shape, bytes, name));
          map(view);
          data_.push_back({view, true});
        } else {
          data_.push_back({variable(name, declared, shape, random_.chance(60) ? std::optional(bytes) : std::nullopt), false});
        }
      }
    std::vector<std::int32_t> bits(6);
    for (std::int32_t& b : bits) b = static_cast<std::int32_t>(random_.below(4));
    bits_ = variable("bits", ElementType::int_, {bits.size()}, bytes_of(bits));
    if (graph_->replication_factor() > 1) {
      const View index = graph_->view(graph_->add_replica_index("replica"));
      graph_->set_tile_mapping(index, any_tile());
      data_.push_back({index, true});
    }
  }

  // --- Views ---------------------------------------------------------------------------------------------------------------------

  // A view of some variable of the element size of `type`.
  View whole(ElementType type, bool writable, const std::vector<VariableId>& but_not = {}) {
    std::vector<View> list;
    for (const Data& d : data_) {
      const bool excluded = std::any_of(but_not.begin(), but_not.end(), [&](VariableId v) { return d.view.variables()[0] == v; });
      if (size_of(d.view.type()) == size_of(type) && !(writable && d.constant) && !excluded) list.push_back(d.view);
    }
    if (list.empty()) return {};
    const View view = random_.pick(list);
    return view.type() == type ? view : view.reinterpret(type);
  }

  // One random step away from `v`; `repeats`: elements may occur more than once.
  View changed(const View& v, bool repeats) {
    if (v.rank() == 0) return v.reshape({1});
    const unsigned d = static_cast<unsigned>(random_.below(v.rank()));
    const std::size_t n = v.dim(d);
    switch (random_.below(repeats ? 9 : 7)) {
      case 0: {
        if (n == 0) return v;
        const std::size_t begin = random_.below(n), end = random_.between(begin + 1, n);
        return v.slice(begin, random_.chance(5) ? begin : end, d);
      }
      case 1: return v.flatten();
      case 2: {
        Shape shape = v.shape();
        const std::size_t factor = random_.between(2, 3);
        if (n % factor != 0 || v.rank() > 4) return v;
        shape[d] = factor;
        shape.insert(shape.begin() + d + 1, n / factor);
        return v.reshape(shape);
      }
      case 3: {
        std::vector<unsigned> order(v.rank());
        std::iota(order.begin(), order.end(), 0u);
        for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);
        return v.dim_shuffle(order);
      }
      case 4: return v.reverse(d);
      case 5: return v.sub_sample(static_cast<unsigned>(random_.between(1, 3)), d);
      case 6: return v.dim(0) == 0 ? v : v.index(random_.below(v.dim(0)));
      case 7: return v.num_elements() * 3 > kMostElements ? v : v.broadcast(static_cast<unsigned>(random_.between(1, 3)), d);
      default: return v.num_elements() * 3 > kMostElements ? v : v.upsample(static_cast<unsigned>(random_.between(1, 3)), d);
    }
  }

  // A random view; if it is writable, of no constant and without repeated elements. Invalid if there is no such variable.
  View any_view(ElementType type, bool writable) {
    View v = whole(type, writable);
    if (!v.valid()) return v;
    for (std::uint64_t n = random_.below(4); n > 0; --n) v = changed(v, !writable && random_.chance(30));
    if (!random_.chance(25)) return v;
    View other = whole(type, writable, writable ? v.variables() : std::vector<VariableId>{});
    if (!other.valid()) return v;
    for (std::uint64_t n = random_.below(3); n > 0; --n) other = changed(other, !writable && random_.chance(30));
    View joined = View::concat({v.flatten(), other.flatten()}, 0);
    for (std::uint64_t n = random_.below(3); n > 0; --n) joined = changed(joined, false);
    return joined;
  }

  // The same with exactly `n` elements, flat.
  View sized_view(ElementType type, std::size_t n, bool writable) {
    for (int attempt = 0; attempt < 12; ++attempt) {
      View v = any_view(type, writable);
      if (!v.valid()) return v;
      v = v.flatten();
      if (v.num_elements() == 0 && n > 0) continue;
      if (v.num_elements() < n && !writable) v = v.broadcast(static_cast<unsigned>((n - 1) / v.num_elements() + 1), 0);
      if (v.num_elements() < n) continue;
      const std::size_t begin = random_.below(v.num_elements() - n + 1);
      return v.slice(begin, begin + n, 0);
    }
    return {};
  }

  // --- Vertices ------------------------------------------------------------------------------------------------------------------

  // What the vertices of one compute set read and write so far.
  struct Used {
    Elements read, written;
  };

  struct Operand {
    std::string field;
    std::vector<View> rows;
    bool written = false;
    bool scalar = false, two_dimensional = false;
  };

  // May a vertex with these operands join? Elements that it both reads and writes are allowed if `in_place`.
  static bool fits(const std::vector<Operand>& operands, const Used& used, bool in_place) {
    Elements read, written;
    for (const Operand& o : operands)
      for (const View& row : o.rows) {
        if (!row.valid()) return false;
        const Elements e = elements_of(row);
        if (o.written && (e.size() != row.num_elements() || meet(e, written))) return false;
        (o.written ? written : read).insert(e.begin(), e.end());
      }
    if (!in_place && meet(read, written)) return false;
    return !meet(written, used.read) && !meet(written, used.written) && !meet(read, used.written);
  }

  void use(const std::vector<Operand>& operands, Used& used) {
    for (const Operand& o : operands)
      for (const View& row : o.rows) {
        const Elements e = elements_of(row);
        (o.written ? used.written : used.read).insert(e.begin(), e.end());
      }
  }

  View input(ElementType type) {
    const View v = any_view(type, false);
    return v.valid() ? v.flatten() : v;
  }
  View output(ElementType type) {
    const View v = any_view(type, true);
    return v.valid() ? v.flatten() : v;
  }
  View one(const View& v) { return v.valid() && v.num_elements() > 0 ? v.flatten().index(random_.below(v.num_elements())) : View(); }

  std::vector<View> rows(ElementType type, bool writable) {
    std::vector<View> list;
    if (random_.chance(50)) {  // of one tensor, as most programs do
      View v = any_view(type, writable);
      if (v.valid() && v.rank() >= 2 && v.dim(0) > 0 && v.dim(0) <= 8) {
        for (std::size_t i = 0; i < v.dim(0); ++i) list.push_back(v.index(i).flatten());
        return list;
      }
    }
    for (std::uint64_t n = random_.between(1, 4); n > 0; --n) list.push_back(writable ? output(type) : input(type));
    return list;
  }

  void add_vertex(ComputeSetId set, Used& used) {
    const unsigned item = case_.items++;
    const ElementType type = any_type();
    const std::uint64_t kind = random_.below(9);
    std::string name;
    std::vector<Operand> operands;
    bool in_place = false;
    switch (kind) {
      case 0:
      case 1:
      case 2: {
        name = kind == 0 ? "Mix" : kind == 1 ? "Chain" : "Multi";
        operands = {{"x", {input(type)}}, {"y", {output(type)}, true}};
        break;
      }
      case 3: {  // x and y are the same elements, or overlap by all but one
        name = "Chain";
        in_place = true;
        const View v = random_.chance(50) ? whole(type, true) : output(type);
        if (!v.valid()) return;
        const View flat = v.flatten();
        const std::size_t n = flat.num_elements();
        const bool shifted = n > 1 && flat.is_contiguous() && random_.chance(40);
        operands = {{"x", {shifted ? flat.slice(0, n - 1, 0) : flat}}, {"y", {shifted ? flat.slice(1, n, 0) : flat}, true}};
        break;
      }
      case 4:
        name = "Update";
        operands = {{"v", {output(type)}, true}};
        break;
      case 5:
        name = "Fold";
        operands = {{"rows", rows(type, false), false, false, true}, {"sum", {one(any_view(type, true))}, true, true}};
        break;
      case 6:
        name = "Spread";
        operands = {{"x", {input(type)}}, {"rows", rows(type, true), true, false, true}};
        break;
      case 7:
        name = "Shift";
        operands = {{"rows", rows(type, true), true, false, true}, {"s", {one(any_view(type, false))}, false, true}};
        break;
      default: name = "Test"; operands = {{"x", {input(type)}}};
    }
    const std::string state = any_bytes(size_of(type) * 3);
    const TileId tile = any_tile();
    const bool at_home = random_.chance(60);
    if (!fits(operands, used, in_place)) return;
    use(operands, used);
    if (left_out_.contains(item)) return;
    connect(set, name + "<" + std::string(name_of(type)) + ">", operands, type, state, at_home ? home_of(operands, tile) : tile);
  }

  TileId home_of(const std::vector<Operand>& operands, TileId otherwise) {
    for (const Operand& o : operands)
      for (const View& row : o.rows)
        if (const std::vector<Region> regions = row.regions(); o.written && !regions.empty())
          return graph_->variables()[regions[0].variable].mapping.tile_of(regions[0].elements.begin);
    return otherwise;
  }

  void connect(ComputeSetId set, const std::string& name, const std::vector<Operand>& operands, ElementType type, const std::string& state,
               TileId tile) {
    const VertexId v = graph_->add_vertex(set, name);
    graph_->set_tile_mapping(v, tile);
    for (const Operand& o : operands) {
      if (o.two_dimensional)
        graph_->connect({v, o.field, {}}, o.rows);
      else
        graph_->connect({v, o.field, {}}, o.rows[0]);
    }
    if (name.starts_with("Fold"))
      graph_->set_initial_value({v, "w", {}}, type, state, 3);
    else if (!name.starts_with("Spread") && !name.starts_with("Shift") && !name.starts_with("Test"))
      graph_->set_initial_value({v, "k", {}}, type, state.substr(0, size_of(type)), 1);
  }

  ComputeSetId add_compute_set() {
    const ComputeSetId set = graph_->add_compute_set("cs" + std::to_string(graph_->compute_sets().size()));
    Used used;
    for (std::uint64_t n = random_.between(1, 6); n > 0; --n) add_vertex(set, used);
    return set;
  }

  // --- Host ends -----------------------------------------------------------------------------------------------------------------

  void add_host_ends() {
    for (std::size_t i = 0; i < data_.size(); ++i) {
      const bool part = random_.chance(20);
      View view = data_[i].view;
      if (part) view = changed(view, false);
      const bool read = random_.chance(75), write = random_.chance(30);
      if (!data_[i].constant && (read || write)) graph_->add_host_handle("h" + std::to_string(i), view, read, write);
    }
    graph_->add_host_handle("hbits", bits_, true, random_.chance(50));
    bits_in_ = graph_->add_fifo({"bits_in", true, ElementType::int_, 6, ReplicatedFifo::replicate, 1});
    for (unsigned i = 0; i < 2; ++i) {
      const ReplicatedFifo mode = random_.chance(30) ? ReplicatedFifo::broadcast : ReplicatedFifo::replicate;
      const auto depth = static_cast<unsigned>(random_.between(1, 3));
      graph_->add_fifo({"in" + std::to_string(i), true, any_type(), random_.between(1, 24), mode, depth});
      graph_->add_fifo({"out" + std::to_string(i), false, any_type(), random_.between(1, 24), ReplicatedFifo::replicate, depth});
      const std::uint64_t repeats = random_.between(1, 4);
      graph_->add_remote_buffer({"far" + std::to_string(i), any_type(), random_.between(1, 12), repeats});
      std::vector<std::uint32_t> order(repeats);
      std::iota(order.begin(), order.end(), 0u);
      row_numbers_.push_back(variable("rows" + std::to_string(i), ElementType::unsigned_int, {repeats}, bytes_of(order)));
    }
    host_function_ = graph_->add_host_function({"host", {{ElementType::unsigned_int, 5}}, {{ElementType::unsigned_int, 3}}});
  }

  // --- Programs ------------------------------------------------------------------------------------------------------------------

  ProgramPtr sequence(Where where, std::uint64_t steps) {
    Sequence s;
    for (; steps > 0; --steps)
      if (ProgramPtr p = step(where)) s.steps.push_back(std::move(p));
    return make_program(std::move(s));
  }

  ProgramPtr body(Where where) {
    ++where.depth;
    return sequence(where, random_.between(where.depth > 2 ? 1 : 0, 3));
  }

  // A step, or null if it was left out or cannot be made.
  ProgramPtr step(Where where) {
    const unsigned item = case_.items++;
    ProgramPtr p = any_step(where);
    return left_out_.contains(item) ? nullptr : p;
  }

  ProgramPtr any_step(Where where) {
    const std::uint64_t dice = random_.below(where.depth < 3 ? 100 : 72);
    if (dice < 24) return copy();
    if (dice < 50) return execute(where);
    if (dice < 54) return from_host(where);
    if (dice < 58) return to_host();
    if (dice < 65) return remote();
    if (dice < 67) return print();
    if (dice < 69) return undefine();
    if (dice < 70) return across_replicas(where);
    if (dice < 72) return odd_step();
    if (dice < 78) return loop(where);
    if (dice < 83) return repeat_while(where);
    if (dice < 90) return branch(where);
    if (dice < 94) return switch_(where);
    return call(where);
  }

  ProgramPtr copy() {
    if (random_.chance(8)) return make_program(Copy{one(bits_), one(bits_)});
    const ElementType type = any_type();
    const View to = any_view(type, true);
    if (!to.valid()) return nullptr;
    const View from = sized_view(type, to.num_elements(), false);
    return from.valid() ? make_program(Copy{from.reshape(to.shape()), to}) : nullptr;
  }

  ProgramPtr execute(Where where) {
    // Some compute sets run in several places.
    if (!sets_.empty() && random_.chance(20)) return make_program(Execute{random_.pick(sets_), {}});
    sets_.push_back(add_compute_set());
    const std::string name = "step" + std::to_string(sets_.size());
    if (!random_.chance(15)) return make_program(Execute{sets_.back(), {}}, name);
    const View result = variable("ok" + std::to_string(sets_.size()), ElementType::boolean, {1}, std::nullopt).index(0);
    graph_->add_host_handle("hok" + std::to_string(sets_.size()), result.reshape({1}), true, false);
    const ProgramPtr step = make_program(Execute{sets_.back(), result}, name);
    if (where.depth >= 3 || random_.chance(60)) return step;
    where.may_differ = true;
    return make_program(Sequence{{step, make_program(If{result, body(where), body(where)})}});
  }

  FifoId any_fifo(bool to_device) { return FifoId(static_cast<std::uint32_t>(1 + 2 * random_.below(2) + (to_device ? 0 : 1))); }

  ProgramPtr from_host(Where where) {
    if (random_.chance(20)) return make_program(HostToDevice{bits_in_, bits_});
    const FifoId id = any_fifo(true);
    const Fifo& fifo = graph_->fifos()[id];
    const View to = sized_view(fifo.type, fifo.elements, true);
    // A block of a broadcast stream is for all replicas: they must ask for it equally often.
    if (!to.valid() || (fifo.mode == ReplicatedFifo::broadcast && where.may_differ)) return nullptr;
    return make_program(HostToDevice{id, to});
  }

  ProgramPtr to_host() {
    const FifoId id = any_fifo(false);
    const View from = sized_view(graph_->fifos()[id].type, graph_->fifos()[id].elements, false);
    return from.valid() ? make_program(DeviceToHost{id, from}) : nullptr;
  }

  ProgramPtr remote() {
    const auto b = static_cast<std::uint32_t>(random_.below(2));
    const RemoteBuffer& buffer = graph_->remote_buffers()[RemoteBufferId(b)];
    const std::uint64_t first = random_.below(buffer.repeats), last = random_.between(first + 1, buffer.repeats);
    const bool row_zero = random_.chance(30), write = random_.chance(50);
    const View offset = row_zero ? View() : row_numbers_[b].slice(first, last, 0);
    const View tensor = sized_view(buffer.type, buffer.elements * (row_zero ? 1 : last - first), !write);
    if (!tensor.valid()) return nullptr;
    if (write) return make_program(RemoteWrite{RemoteBufferId(b), tensor, offset});
    return make_program(RemoteRead{RemoteBufferId(b), tensor, offset});
  }

  ProgramPtr print() {
    const View v = any_view(any_type(), false);
    return v.valid() ? make_program(Print{"p" + std::to_string(case_.items), v, {}}) : nullptr;
  }

  ProgramPtr undefine() {
    const View v = any_view(any_type(), true);
    return v.valid() ? make_program(WriteUndef{v}) : nullptr;
  }

  ProgramPtr across_replicas(Where where) {
    const ElementType type = any_type();
    const View to = any_view(type, true);
    const View from = to.valid() ? sized_view(type, to.num_elements(), false) : View();
    if (!from.valid() || where.may_differ || graph_->replication_factor() == 1) return nullptr;
    const View source = from.reshape(to.shape());
    return make_program(random_.chance(50) ? CrossReplicaCopy{source, to, {{0, 1}, {1, 0}}} : CrossReplicaCopy{source, to, {{1, 0}}});
  }

  ProgramPtr odd_step() {
    switch (random_.below(4)) {
      case 0: return make_program(Sync{random_.pick(std::vector{SyncScope::internal, SyncScope::external, SyncScope::global})});
      case 1: return make_program(Error{"stop at bits", bits_, random_.chance(50) ? one(bits_) : View()});
      default: {
        const View in = sized_view(ElementType::unsigned_int, 5, false), out = sized_view(ElementType::unsigned_int, 3, true);
        return in.valid() && out.valid() ? make_program(HostCall{host_function_, {in}, {out}}) : nullptr;
      }
    }
  }

  ProgramPtr loop(Where where) {
    const std::uint64_t count = random_.below(4);
    return make_program(Repeat{count, body(where)});
  }

  // Counts an own counter down from a constant; one item, since its parts make it end.
  ProgramPtr repeat_while(Where where) {
    const std::string name = "loop" + std::to_string(loops_++);
    const View counter = variable(name, ElementType::unsigned_int, {1}, std::nullopt);
    const View flags = variable(name + ".flags", ElementType::unsigned_int, {2}, std::nullopt);
    const auto rounds = static_cast<std::uint32_t>(random_.below(4));
    const View start = graph_->view(graph_->add_constant(ElementType::unsigned_int, {1}, bytes_of(std::vector{rounds}), name + ".n"));
    map(start);
    const ComputeSetId set = graph_->add_compute_set(name);
    const VertexId v = graph_->add_vertex(set, "Countdown");
    graph_->set_tile_mapping(v, any_tile());
    graph_->connect({v, "n", {}}, counter.index(0));
    graph_->connect({v, "going", {}}, flags.index(0));
    graph_->connect({v, "done", {}}, flags.index(1));
    const bool until = random_.chance(40), by_result = random_.chance(25);
    const ProgramPtr inner = body(where);
    // The result of Countdown is its `going`.
    const View result = by_result ? variable(name + ".going", ElementType::boolean, {1}, std::nullopt).index(0) : View();
    const ProgramPtr condition = make_program(Execute{set, result});
    const ProgramPtr loop = make_program(by_result ? RepeatWhile{condition, result, false, inner}
                                                   : RepeatWhile{condition, flags.index(until ? 1 : 0), until, inner});
    return make_program(Sequence{{make_program(Copy{start, counter}), loop}});
  }

  ProgramPtr branch(Where where) {
    const View predicate = one(bits_);
    where.may_differ = true;
    const ProgramPtr yes = body(where), no = random_.chance(60) ? body(where) : make_program(Sequence{});
    return make_program(If{predicate, yes, no});
  }

  ProgramPtr switch_(Where where) {
    const View control = one(bits_);
    where.may_differ = true;
    Switch s{control, {}, {}};
    for (std::int32_t value : {2, 0, -1})
      if (random_.chance(70)) s.cases.emplace_back(value, body(where));
    s.default_body = random_.chance(60) ? body(where) : make_program(Sequence{});
    return make_program(std::move(s));
  }

  ProgramPtr call(Where where) {
    if (where.functions == 0) return nullptr;
    const FunctionId f(static_cast<std::uint32_t>(random_.below(where.functions)));
    const ProgramPtr call = make_program(Call{f});
    if (!graph_->functions()[f].in_streaming_memory) return call;
    return make_program(Sequence{{make_program(LoadFunction{f}), call}});
  }

  // Calls only functions before it: no recursion.
  void add_function(unsigned number) {
    const ProgramPtr inner = sequence({2, true, number}, random_.between(1, 4));
    const FunctionId f = graph_->add_function(inner, "f" + std::to_string(number));
    graph_->functions()[f].in_streaming_memory = random_.chance(30);
  }

  Random random_;
  const LeftOut& left_out_;
  Case case_;
  Graph* graph_ = nullptr;
  std::vector<Data> data_;
  std::vector<View> row_numbers_;
  std::vector<ComputeSetId> sets_;
  View bits_;
  FifoId bits_in_;
  HostFunctionId host_function_;
  unsigned loops_ = 0;
};

}  // namespace

Case generate(std::uint64_t seed, const LeftOut& left_out) { return Generator(seed, left_out).run(); }

std::string host_block(const std::string& handle, unsigned replica, std::uint64_t n, std::uint64_t bytes) {
  std::uint64_t seed = n * 31 + replica;
  for (char c : handle) seed = mixed(seed + static_cast<unsigned char>(c));
  Random random(seed);
  std::string block(bytes, '\0');
  const bool bits = handle.find("bits") != std::string::npos;
  for (std::uint64_t i = 0; i < bytes; ++i) block[i] = static_cast<char>(bits ? (i % 4 == 0 ? random.below(4) : 0) : random.next());
  return block;
}

}  // namespace pando::fuzz
