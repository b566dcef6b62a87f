// Variables, constants and their tile mapping.
#include <algorithm>
#include <atomic>

#include "base/check.h"
#include "base/error.h"
#include "base/sizes.h"
#include "graph/graph.h"

namespace pando::graph {

namespace {

std::uint32_t next_serial() {
  static std::atomic<std::uint32_t> last{0};
  for (;;)
    if (const std::uint32_t serial = ++last; serial != 0) return serial;
}

}  // namespace

Graph::Graph(Machine machine, unsigned replication_factor)
    : serial_(next_serial()), machine_(std::move(machine)), replication_(replication_factor), tile_groups_(machine_.tiles()) {
  if (replication_ == 0) fail(ErrorKind::graph_replication_error, "replication-factor-0", "a graph with replication factor 0");
}

VariableId Graph::push_variable(Variable variable) {
  variable.elements = checked_elements(variable.shape, "a variable");
  if (variable.constant) PANDO_CHECK(variable.initial.size() == variable.elements * size_of(variable.type));
  return variables_.push(std::move(variable));
}

VariableId Graph::add_variable(ElementType type, const Shape& shape, std::string name, ReplicationId replication) {
  Variable v;
  v.name = std::move(name);
  v.type = type;
  v.shape = shape;
  v.replication = replication;
  return push_variable(std::move(v));
}

VariableId Graph::add_constant(ElementType type, const Shape& shape, std::string values, std::string name, ReplicationId replication) {
  const std::uint64_t elements = checked_elements(shape, "a constant");
  if (values.size() != elements * size_of(type))
    fail(ErrorKind::tensor_creation_error, "constant-size", "constant '{}' of type {} and shape {} needs {} values; {} given", name,
         name_of(type), to_string(shape), elements, values.size() / size_of(type));
  Variable v;
  v.name = std::move(name);
  v.type = type;
  v.shape = shape;
  v.constant = true;
  v.initial = std::move(values);
  v.replication = replication;
  return push_variable(std::move(v));
}

VariableId Graph::add_replica_index(std::string name, ReplicationId replication) {
  const VariableId id = add_constant(ElementType::unsigned_int, {}, std::string(4, '\0'), std::move(name), replication);
  variables_[id].replica_index = true;
  return id;
}

View Graph::view(VariableId v) const {
  PANDO_CHECK(v.index() < variables_.size());
  return View::of_variable(v, variables_[v].type, variables_[v].shape);
}

void Graph::set_initial_value(const View& tensor, std::string_view bytes) {
  const std::size_t size = size_of(tensor.type());
  if (bytes.size() != tensor.num_elements() * size)
    fail(ErrorKind::tensor_creation_error, "initial-value-size",
         "setInitialValue of a tensor of shape {} with {} values; it has {} elements", to_string(tensor.shape()), bytes.size() / size,
         tensor.num_elements());
  for (VariableId id : tensor.variables())
    if (variables_[id].constant)
      fail(ErrorKind::tensor_creation_error, "constant-is-fixed", "setInitialValue of constant '{}'", variables_[id].name);
  if (tensor.contains_aliases())
    fail(ErrorKind::tensor_creation_error, "write-of-aliases", "setInitialValue of a tensor of shape {} that holds an element twice",
         to_string(tensor.shape()));
  for (VariableId id : tensor.variables())
    check_host_memory(variables_[id].elements * size, ErrorKind::tensor_creation_error, "initial values of '" + variables_[id].name + "'");
  std::uint64_t at = 0;
  tensor.for_each_run([&](const Run& run) {
    Variable& v = variables_[run.variable];
    if (v.initial.empty()) v.initial.assign(v.elements * size, '\0');
    std::uint64_t element = run.offset;
    if (run.stride == 1) {
      v.initial.replace(element * size, run.count * size, bytes.substr(at, run.count * size));
    } else {
      for (std::uint64_t i = 0; i < run.count; ++i, element += static_cast<std::uint64_t>(run.stride))
        v.initial.replace(element * size, size, bytes.substr(at + i * size, size));
    }
    at += run.count * size;
  });
}

void Graph::check_tile(TileId tile, const std::string& what) const {
  if (tile.value < machine_.tiles()) return;
  fail(ErrorKind::invalid_tile_mapping, "no-such-tile", "{} mapped to tile {}; machine '{}' has {} tiles (0 to {}) on {} IPU{}", what,
       tile.value, machine_.name, machine_.tiles(), machine_.tiles() - 1, machine_.ipus, machine_.ipus == 1 ? "" : "s");
}

namespace {

// Each element is given to one tile. True: in the order of the elements.
bool check_mapping(const View& tensor, const std::vector<MappedInterval>& mapping) {
  const std::uint64_t n = tensor.num_elements();
  std::uint64_t at = 0;
  bool in_order = true;
  for (const auto& [part, tile] : mapping) {
    if (part.begin > part.end || part.end > n)
      fail(ErrorKind::invalid_tile_mapping, "interval-out-of-range",
           "mapping to tile {} of elements [{}, {}) of a tensor of shape {}, which has {}", tile.value, part.begin, part.end,
           to_string(tensor.shape()), n);
    in_order = in_order && part.begin >= at;
    at = part.end;
  }
  if (in_order) return true;
  std::vector<Interval> all;
  all.reserve(mapping.size());
  for (const auto& [part, tile] : mapping)
    if (!part.empty()) all.push_back(part);
  std::sort(all.begin(), all.end());
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i].begin < all[i - 1].end)
      fail(ErrorKind::invalid_tile_mapping, "element-mapped-twice", "a mapping of a tensor of shape {} gives elements [{}, {}) twice",
           to_string(tensor.shape()), all[i].begin, std::min(all[i].end, all[i - 1].end));
  return false;
}

// Does it map all elements of the tensor, which are in order?
bool is_complete(const View& tensor, const std::vector<MappedInterval>& mapping) {
  std::uint64_t at = 0;
  for (const MappedInterval& m : mapping) {
    if (m.elements.begin != at) return false;
    at = m.elements.end;
  }
  return at == tensor.num_elements();
}

// What replicas have lies where the first one's does.
void check_own_mapping(const Variable& variable) {
  if (variable.replica_of.valid())
    fail(ErrorKind::invalid_tile_mapping, "mapping-of-a-replica",
         "setTileMapping of '{}' of replica {}: map the tensor of the replicated graph, which places that of each replica", variable.name,
         variable.replica);
}

void set_run(Variable& variable, const Run& run, TileId tile) {
  check_own_mapping(variable);
  if (run.stride == 0) return variable.mapping.set({run.offset, run.offset + 1}, tile);
  if (run.stride == 1) return variable.mapping.set({run.offset, run.offset + run.count}, tile);
  if (run.stride == -1) return variable.mapping.set({run.offset + 1 - run.count, run.offset + 1}, tile);
  variable.mapping.make_room(run.count);
  std::uint64_t element = run.offset;
  for (std::uint64_t i = 0; i < run.count; ++i, element += static_cast<std::uint64_t>(run.stride))
    variable.mapping.set({element, element + 1}, tile);
}

}  // namespace

void Graph::set_tile_mapping(const View& tensor, TileId tile) {
  if (!tensor.valid()) fail(ErrorKind::invalid_tile_mapping, "invalid-tensor", "setTileMapping of a tensor that is not valid");
  if (tile.value >= machine_.tiles()) {
    const std::vector<VariableId> ids = tensor.variables();
    check_tile(tile, ids.empty() ? "empty tensor" : fmt::format("tensor of variable '{}'", variables_[ids[0]].name));
  }
  tensor.for_each_run_in_any_order([&](const Run& run) { set_run(variables_[run.variable], run, tile); });
}

void Graph::set_tile_mapping(const View& tensor, const std::vector<MappedInterval>& mapping) {
  if (!tensor.valid()) fail(ErrorKind::invalid_tile_mapping, "invalid-tensor", "setTileMapping of a tensor that is not valid");
  const bool in_order = check_mapping(tensor, mapping);
  for (const MappedInterval& m : mapping)
    if (!m.elements.empty() && m.tile.value >= machine_.tiles()) set_tile_mapping(tensor, m.tile);  // throws
  Region region;
  if (in_order && tensor.single_region(region) && region.elements.size() == variables_[region.variable].elements &&
      is_complete(tensor, mapping)) {
    check_own_mapping(variables_[region.variable]);
    return variables_[region.variable].mapping.assign(mapping);
  }
  for (const auto& [part, tile] : mapping) {
    if (part.empty()) continue;
    tensor.for_each_run(part.begin, part.end, [&, to = tile](const Run& run) { set_run(variables_[run.variable], run, to); });
  }
}

namespace {

// Appends the mapping of consecutive runs of a tensor to intervals of the tensor's own elements.
class MappingReader {
 public:
  MappingReader(const Graph& graph, std::vector<MappedInterval>& out) : graph_(graph), out_(out) {}

  void add(const Run& run) {
    const Variable& own = graph_.variables()[run.variable];
    const Variable& mapped_as = own.replica_of.valid() ? graph_.variables()[own.replica_of] : own;
    const std::vector<MappedInterval>& map = mapped_as.mapping.intervals();
    const auto place = [&](TileId tile) {
      return &own == &mapped_as ? tile : graph_.tile_of_replica(mapped_as.replication, own.replica, tile);
    };
    std::uint64_t element = run.offset, left = run.count;
    std::size_t i = find(map, element);
    while (left > 0) {
      const std::uint64_t n = std::min(left, steps_inside(map, i, element, run.stride));
      const bool mapped = i < map.size() && map[i].elements.begin <= element;
      if (mapped) put(place(map[i].tile), n);
      complete = complete && mapped;
      position_ += n;
      left -= n;
      element += static_cast<std::uint64_t>(run.stride) * n;
      if (left == 0) return;
      i = run.stride > 0 ? find_behind(map, i, element) : find(map, element);
    }
  }

  bool complete = true;

 private:
  // The first interval that ends after the element: it holds it, or lies behind it.
  static std::size_t find(const std::vector<MappedInterval>& map, std::uint64_t element) {
    auto it =
        std::upper_bound(map.begin(), map.end(), element, [](std::uint64_t e, const MappedInterval& m) { return e < m.elements.end; });
    return static_cast<std::size_t>(it - map.begin());
  }

  // The same, which is interval `i` or behind it: the next one mostly, and far away where a run of large strides goes over many.
  static std::size_t find_behind(const std::vector<MappedInterval>& map, std::size_t i, std::uint64_t element) {
    std::size_t width = 1;
    for (; i < map.size() && map[i].elements.end <= element; width *= 2) i += width;
    const auto at = [&](std::size_t k) { return map.begin() + static_cast<std::ptrdiff_t>(std::min(k, map.size())); };
    // The last step, of width / 2, may have gone too far.
    const auto it = std::partition_point(at(i - std::min(i, width / 2) + (width > 1)), at(i),
                                         [&](const MappedInterval& m) { return m.elements.end <= element; });
    return static_cast<std::size_t>(it - map.begin());
  }

  // How many steps of a run that is at `element` stay in interval `i`, or in the gap before it.
  static std::uint64_t steps_inside(const std::vector<MappedInterval>& map, std::size_t i, std::uint64_t element, std::int64_t stride) {
    constexpr std::uint64_t kAll = ~std::uint64_t{0};
    if (stride == 0) return kAll;
    const bool inside = i < map.size() && map[i].elements.begin <= element;
    if (stride > 0) {
      if (!inside && i == map.size()) return kAll;
      const std::uint64_t end = inside ? map[i].elements.end : map[i].elements.begin;
      if (stride == 1) return end - element;
      return (end - 1 - element) / static_cast<std::uint64_t>(stride) + 1;
    }
    if (!inside && i == 0) return kAll;
    const std::uint64_t begin = inside ? map[i].elements.begin : map[i - 1].elements.end;
    return (element - begin) / static_cast<std::uint64_t>(-stride) + 1;
  }

  void put(TileId tile, std::uint64_t n) {
    if (!out_.empty() && out_.back().elements.end == position_ && out_.back().tile == tile)
      out_.back().elements.end += n;
    else
      out_.push_back({{position_, position_ + n}, tile});
  }

  const Graph& graph_;
  std::vector<MappedInterval>& out_;
  std::uint64_t position_ = 0;
};

}  // namespace

std::vector<MappedInterval> Graph::tile_mapping(const View& tensor, bool* complete) const {
  std::vector<MappedInterval> mapping;
  MappingReader reader(*this, mapping);
  if (tensor.num_elements() > 0) tensor.for_each_run([&](const Run& run) { reader.add(run); });
  if (complete) *complete = reader.complete;
  return mapping;
}

}  // namespace pando::graph
