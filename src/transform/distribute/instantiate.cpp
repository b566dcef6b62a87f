#include "transform/distribute/instantiate.h"

#include "ir/error.h"
#include "ir/op_row.h"
#include "ir/op_table.h"
#include "schedule/replay.h"
#include "transform/distribute/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace pando::transform {

namespace {

using ir::Module;
using ir::ValueId;

class Writer {
 public:
  Writer(const Program& program, const Recipe& recipe, const Mesh& mesh, const schedule::Table& table, Module out,
         const InstantiateOptions& options)
      : in_(program.module),
        r_(recipe),
        mesh_(mesh),
        table_(table),
        options_(options),
        ranks_(static_cast<std::size_t>(mesh.written())),
        microbatches_(static_cast<std::size_t>(mesh.sizes[kTime])),
        pieces_(recipe.located) {
    d_.module = std::move(out);
    tuple_kind_ = ir::op_kind("make_tuple");
    element_kind_ = ir::op_kind("get_element");
    identity_kind_ = ir::op_kind("identity");
    none_ = m().intern({});
    std::size_t next = 0;
    first_.reserve(pieces_.size());
    for (const Located& x : pieces_) {
      first_.push_back(next);
      next += ranks_ * (x.each ? microbatches_ : 1);
    }
    values_.resize(next);
    counts_.assign(pieces_.size(), 0);
    tuples_.resize(pieces_.size());
  }

  Distributed run() {
    main_ = m().add_graph(in_.graph(in_.main_graph()).name);
    inputs();
    reserve();
    for (const Step& s : r_.before) {
      for (std::size_t k = 0; k < (s.for_all ? microbatches_ : 1); ++k) write(s, k);
    }
    passes();
    for (const Step& s : r_.behind) write(s, 0);
    outputs();
    updated_inputs();
    streams();
    return std::move(d_);
  }

 private:
  Module& m() { return d_.module; }
  const ir::Graph& sequential() const { return in_.graph(in_.main_graph()); }
  ValueId& at(std::uint32_t x, std::size_t rank, std::size_t microbatch) {
    const Located& l = pieces_[x];
    return values_[first_[x] + (l.each ? microbatch * ranks_ : 0) + rank];
  }

  // --- the main graph's inputs

  void inputs() {
    std::vector<std::uint32_t> order = r_.inputs;
    const auto index = [&](std::uint32_t x) { return in_.value(pieces_[x].value).index; };
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return index(a) < index(b); });
    std::vector<const ir::State*> states(sequential().inputs.size(), nullptr);
    for (std::size_t s = 0; s < in_.state_count(); ++s) {
      const ir::State& state = in_.state(ir::StateId(static_cast<std::uint32_t>(s)));
      if (state.input) states[*state.input] = &state;
    }
    for (std::uint32_t x : order) {
      if (!pieces_[x].buffers.empty()) {
        off_chip(x, states[index(x)]);
        continue;
      }
      for (std::size_t k = 0; k < (pieces_[x].each ? microbatches_ : 1); ++k) {
        for (std::size_t r = 0; r < ranks_; ++r) input(x, r, k, states[index(x)]);
      }
    }
  }

  // Variables in rows of buffers.
  void off_chip(std::uint32_t x, const ir::State* state) {
    const Located& l = pieces_[x];
    for (std::size_t r = 0; r < ranks_; ++r) {
      ir::State s;
      s.name = fmt::format("{}.{}", in_.name_of(l.value), m().type(l.types[r]).place.device.value);
      s.type = l.types[r];
      s.buffer = l.buffers[r];
      const ir::Shape start = start_of(in_.type_of(l.value).shape, l.specs, mesh_, static_cast<std::int64_t>(r), 0);
      if (state && state->data.valid() && !mesh_.first_alone) s.data = m().add_blob(part_of(in_.blob(state->data), start, l.shape));
      d_.remote.push_back({in_.value(l.value).index, m().add_state(std::move(s)).value, start});
    }
  }

  void input(std::uint32_t x, std::size_t rank, std::size_t microbatch, const ir::State* state) {
    const Located& l = pieces_[x];
    const ir::Type type = m().type(l.types[rank]);
    std::string name = fmt::format("{}.{}", in_.name_of(l.value), type.place.device.value);
    if (l.each && microbatches_ > 1) name += fmt::format(".m{}", microbatch);
    const ValueId v = m().add_input(main_, type, name);
    at(x, rank, microbatch) = v;
    Piece piece{
        in_.value(l.value).index, m().value(v).index,
        start_of(in_.type_of(l.value).shape, l.specs, mesh_, static_cast<std::int64_t>(rank), static_cast<std::int64_t>(microbatch))};
    ir::State s;
    s.name = m().name_of(v);
    s.type = l.types[rank];
    s.input = piece.part;
    if (state && state->data.valid() && !mesh_.first_alone) s.data = m().add_blob(part_of(in_.blob(state->data), piece.start, l.shape));
    m().add_state(std::move(s));
    d_.inputs.push_back(std::move(piece));
  }

  // --- ops

  void reserve() {
    std::size_t ops = 0, operands = 0, results = 0;
    const auto count = [&](const std::vector<Step>& steps, std::size_t times) {
      for (const Step& s : steps) {
        const std::size_t n = s.kind == Step::collective ? 3 : 1;
        ops += n * times * ranks_;
        operands += (n + s.operands.size()) * times * ranks_;
        results += std::max<std::size_t>(n, s.results.size()) * times * ranks_;
      }
    };
    count(r_.before, 1);
    count(r_.behind, 1);
    for (const auto* lists : {&r_.cells, &r_.sends}) {
      for (const auto& stage : *lists) {
        for (const auto& steps : stage) count(steps, microbatches_);
      }
    }
    m().reserve(ops, operands, results);
    m().graph(main_).ops.reserve(ops);
  }

  void write(const Step& s, std::size_t k) {
    m().set_current_location(s.location);
    switch (s.kind) {
      case Step::plain:
      case Step::send: plain(s, k); break;
      case Step::collective: collective(s, k); break;
      case Step::accumulate: accumulate(s, k); break;
      case Step::append: append(s, k); break;
      case Step::join: join(s); break;
      case Step::load_row: load_row(s, k); break;
      case Step::store_row: store_row(s, k); break;
    }
  }

  void plain(const Step& s, std::size_t k) {
    const std::size_t results = s.results.size();
    for (std::size_t r = 0; r < (s.first_rank ? 1 : ranks_); ++r) {
      operands_.clear();
      types_.clear();
      for (std::uint32_t x : s.operands) operands_.push_back(made(s, x, r, k));
      for (std::uint32_t x : s.results) types_.push_back(pieces_[x].types[r]);
      const ir::NameId name = results ? pieces_[s.results[0]].name : ir::NameId(0);
      const ir::OpId o = m().append_op(main_, s.op, operands_, attributes_of(s, r, k), types_, name);
      m().op(o).in_place = s.in_place;
      for (std::size_t i = 0; i < results; ++i) {
        const ValueId v = m().result(o, i);
        at(s.results[i], r, k) = v;
        if (i > 0) m().set_name(v, pieces_[s.results[i]].name);
      }
    }
  }

  // One for all, one for each rank, or one for each rank of each microbatch.
  ir::AttributesId attributes_of(const Step& s, std::size_t rank, std::size_t k) const {
    if (s.attributes.size() == 1) return s.attributes[0];
    return s.attributes[s.attributes.size() == ranks_ ? rank : rank + ranks_ * k];
  }

  // An operand, which an earlier pass must have made.
  ValueId made(const Step& s, std::uint32_t x, std::size_t rank, std::size_t k) {
    const ValueId v = at(x, rank, k);
    if (!v.valid()) {
      ir::reject(ir::ErrorClass::value, "pass-order", "{} on stage {} takes '{}' of microbatch {}, which no earlier pass makes there",
                 ir::row_of(s.op).name, pieces_[x].stage, in_.name_of(pieces_[x].value), k);
    }
    return v;
  }

  void load_row(const Step& s, std::size_t k) {
    const Located& row = pieces_[s.operands[0]];
    for (std::size_t r = 0; r < ranks_; ++r) {
      const ValueId offset = number(row.stage, r, row.input ? 0 : k);
      at(s.results[0], r, k) = one(s.op, {{offset}}, s.attributes[r], pieces_[s.results[0]].types[r], row.name);
    }
  }
  void store_row(const Step& s, std::size_t k) {
    const Located& row = pieces_[s.results[0]];
    for (std::size_t r = 0; r < ranks_; ++r) {
      const ValueId operands[] = {number(row.stage, r, row.input ? 0 : k), at(s.operands[0], r, k)};
      m().append_op(main_, s.op, operands, s.attributes[r], {}, row.name);
    }
  }
  // An integer on a device, made when it is first needed.
  ValueId number(std::int32_t stage, std::size_t rank, std::size_t n) {
    const std::int32_t device = mesh_.device(stage, static_cast<std::int64_t>(rank));
    const auto [it, added] = numbers_.try_emplace({device, n});
    if (!added) return it->second;
    ir::Type t = ir::tensor_type(ir::DType::uint32, {});
    t.place = {ir::Device::numbered(device), ir::TileSet::compute};
    while (rows_.size() <= n) {
      const ir::BlobId data = m().add_blob(ir::HostTensor::filled(ir::DType::uint32, {}, static_cast<double>(rows_.size())));
      rows_.push_back(m().intern({{"data", data}}));
    }
    it->second = one(ir::op_kind("constant"), {}, rows_[n], m().type(t), m().name("row"));
    return it->second;
  }

  // One op for each group of ranks that differ on the axis alone.
  void collective(const Step& s, std::size_t k) {
    const auto n = static_cast<std::size_t>(mesh_.sizes[s.axis]), stride = static_cast<std::size_t>(mesh_.stride(s.axis));
    for (std::size_t r = 0; r < ranks_; ++r) {
      if (mesh_.coordinate(static_cast<std::int64_t>(r), s.axis) != 0) continue;
      operands_.clear();
      for (std::size_t i = 0; i < n; ++i) operands_.push_back(at(s.operands[0], written(r + i * stride), k));
      const ir::NameId name = pieces_[s.results[0]].name;
      ir::TypeId type = tuple(s.operands[0], r, n, stride);
      const ir::OpId tuple_op = m().append_op(main_, tuple_kind_, operands_, none_, {&type, 1}, name);
      const ValueId all = m().result(tuple_op);
      type = tuple(s.results[0], r, n, stride);
      const ValueId out = m().result(m().append_op(main_, s.op, {&all, 1}, s.attributes[0], {&type, 1}, name));
      for (std::size_t i = 0; i < n && r + i * stride < ranks_; ++i) {
        const ir::TypeId element = pieces_[s.results[0]].types[r + i * stride];
        at(s.results[0], r + i * stride, k) = m().result(m().append_op(main_, element_kind_, {&out, 1}, index(i), {&element, 1}, name));
      }
    }
  }

  // The rank whose ops stand for those of another.
  std::size_t written(std::size_t rank) const { return mesh_.first_alone ? 0 : rank; }

  // The type of a tuple of a group's parts.
  ir::TypeId tuple(std::uint32_t x, std::size_t rank, std::size_t n, std::size_t stride) {
    auto& made = tuples_[x];
    auto of_axis = std::find_if(made.begin(), made.end(), [&](const TupleTypes& t) { return t.stride == stride; });
    if (of_axis == made.end()) of_axis = made.insert(made.end(), {stride, std::vector<ir::TypeId>(ranks_)});
    ir::TypeId& type = of_axis->by_rank[rank];
    if (type.valid()) return type;
    // The part's type says its stage's first device, too.
    const auto [known, is_new] = tuples_of_parts_.try_emplace({pieces_[x].types[0].index(), rank, n, stride});
    if (!is_new) return type = known->second;
    ir::Type t;
    t.kind = ir::Type::Kind::tuple;
    for (std::size_t i = 0; i < n; ++i) t.elements.push_back(type_at(x, rank + i * stride));
    return type = known->second = m().type(t);
  }
  ir::TypeId type_at(std::uint32_t x, std::size_t rank) {
    if (rank < ranks_) return pieces_[x].types[rank];
    ir::Type t = m().type(pieces_[x].types[0]);
    t.place.device = ir::Device::numbered(mesh_.device(pieces_[x].stage, static_cast<std::int64_t>(rank)));
    return m().type(std::move(t));
  }
  ir::AttributesId index(std::size_t i) {
    while (indices_.size() <= i) indices_.push_back(m().intern({{"index", static_cast<std::int64_t>(indices_.size())}}));
    return indices_[i];
  }

  void accumulate(const Step& s, std::size_t k) {
    const std::uint32_t from = s.operands[0], to = s.results[0];
    const bool first = counts_[to]++ == 0;
    for (std::size_t r = 0; r < ranks_; ++r) {
      const ValueId v = at(from, r, k);
      ValueId& sum = at(to, r, 0);
      if (first) {
        sum = copied_first() ? one(identity_kind_, {{v}}, none_, pieces_[to].types[r], pieces_[to].name) : v;
      } else {
        const ValueId both[] = {sum, v};
        sum = one(s.op, both, none_, pieces_[to].types[r], pieces_[to].name);
      }
    }
  }
  bool copied_first() const { return options_.copy_first && microbatches_ > 1; }

  ValueId one(ir::OpKind op, std::span<const ValueId> operands, ir::AttributesId attributes, ir::TypeId type, ir::NameId name) {
    return m().result(m().append_op(main_, op, operands, attributes, {&type, 1}, name));
  }

  void append(const Step& s, std::size_t k) {
    const std::uint32_t from = s.operands[0], to = s.results[0];
    const auto count = static_cast<std::int64_t>(++counts_[to]);
    for (std::size_t r = 0; r < ranks_; ++r) {
      const ValueId v = at(from, r, k);
      ValueId& all = at(to, r, 0);
      if (count == 1) {
        all = copied_first() ? one(identity_kind_, {{v}}, none_, pieces_[from].types[r], pieces_[to].name) : v;
        continue;
      }
      ir::Type t = m().type(pieces_[from].types[r]);
      t.shape[static_cast<std::size_t>(s.dim)] *= count;
      const ValueId both[] = {all, v};
      all = one(s.op, both, s.attributes[0], m().type(t), pieces_[to].name);
    }
  }

  void join(const Step& s) {
    const std::uint32_t from = s.operands[0], to = s.results[0];
    for (std::size_t r = 0; r < ranks_; ++r) {
      operands_.clear();
      for (std::size_t k = 0; k < microbatches_; ++k) operands_.push_back(at(from, r, k));
      at(to, r, 0) = microbatches_ == 1 ? operands_[0] : one(s.op, operands_, s.attributes[0], pieces_[to].types[r], pieces_[to].name);
    }
  }

  // --- the schedule

  struct Timed {
    double time;
    std::int32_t rank;
    schedule::Cell cell;
  };

  // Cells in the order of their start; what a cell makes for other stages is sent when it ends.
  void passes() {
    schedule::Costs costs;
    costs.forward = {1};
    costs.input_gradient = costs.weight_gradient = {0.5};
    const schedule::Timing timing = schedule::replay(table_, costs);
    std::vector<Timed> starts, ends;
    for (std::size_t r = 0; r < table_.ranks.size(); ++r) {
      for (std::size_t c = 0; c < table_.ranks[r].size(); ++c) {
        const schedule::Cell& cell = table_.ranks[r][c];
        if (!schedule::computes(cell.action)) continue;
        starts.push_back({timing.start[r][c], static_cast<std::int32_t>(r), cell});
        ends.push_back({timing.start[r][c] + costs.of(cell), static_cast<std::int32_t>(r), cell});
      }
    }
    const auto earlier = [](const Timed& a, const Timed& b) { return a.time != b.time ? a.time < b.time : a.rank < b.rank; };
    std::stable_sort(starts.begin(), starts.end(), earlier);
    std::stable_sort(ends.begin(), ends.end(), earlier);
    std::size_t sent = 0;
    for (const Timed& t : starts) {
      while (sent < ends.size() && ends[sent].time <= t.time) cell(r_.sends, ends[sent++].cell);
      cell(r_.cells, t.cell);
    }
    while (sent < ends.size()) cell(r_.sends, ends[sent++].cell);
  }

  void cell(const std::vector<std::array<std::vector<Step>, kSegments>>& lists, const schedule::Cell& c) {
    const auto& stage = lists[static_cast<std::size_t>(c.stage)];
    const auto k = static_cast<std::size_t>(c.microbatch);
    const auto write_all = [&](Segment s) {
      for (const Step& step : stage[static_cast<std::size_t>(s)]) write(step, k);
    };
    switch (c.action) {
      case schedule::Action::forward: write_all(Segment::forward); break;
      case schedule::Action::input_gradient: write_all(Segment::backward); break;
      case schedule::Action::weight_gradient: write_all(Segment::weights); break;
      case schedule::Action::backward:
        write_all(Segment::backward);
        write_all(Segment::weights);
        break;
      default: break;
    }
  }

  // --- what comes out

  // Of copies, the first.
  bool is_first_copy(const Located& l, std::size_t rank) const {
    for (std::size_t a = 0; a < kTime; ++a) {
      if (!l.specs[a].is_sharded() && mesh_.coordinate(static_cast<std::int64_t>(rank), static_cast<Axis>(a)) != 0) return false;
    }
    return true;
  }

  void outputs() {
    for (std::size_t i = 0; i < r_.outputs.size(); ++i) {
      for (std::uint32_t x : r_.outputs[i]) {
        const Located& l = pieces_[x];
        for (std::size_t k = 0; k < (l.each ? microbatches_ : 1); ++k) {
          for (std::size_t r = 0; r < ranks_; ++r) {
            if (!is_first_copy(l, r)) continue;
            const auto part = static_cast<std::uint32_t>(m().graph(main_).outputs.size());
            m().add_output(main_, at(x, r, k));
            d_.outputs.push_back(
                {static_cast<std::uint32_t>(i), part,
                 start_of(in_.type_of(l.value).shape, l.specs, mesh_, static_cast<std::int64_t>(r), static_cast<std::int64_t>(k))});
          }
        }
      }
    }
  }

  // Loads of a run come in the order of microbatches: parallelise() has rejected others.
  void streams() {
    for (const Recipe::Load& load : r_.loads) {
      const Located& l = pieces_[load.located];
      for (std::size_t r = 0; r < ranks_; ++r) {
        for (std::size_t k = 0; k < (l.each ? microbatches_ : 1); ++k) {
          const ir::Shape start =
              start_of(in_.type_of(l.value).shape, l.specs, mesh_, static_cast<std::int64_t>(r), static_cast<std::int64_t>(k));
          d_.streams.push_back({load.stream.value, load.by_rank[r].value, start, static_cast<std::uint32_t>(k)});
        }
      }
    }
  }

  void updated_inputs() {
    std::vector<std::size_t> next(r_.updated_inputs.size(), 0);
    for (std::uint32_t x : r_.inputs) {
      const std::size_t i = in_.value(pieces_[x].value).index;
      if (r_.updated_inputs[i].empty() || !pieces_[x].buffers.empty()) continue;
      const std::uint32_t f = r_.updated_inputs[i][next[i]++];
      for (std::size_t r = 0; r < ranks_; ++r) m().graph(main_).updated_inputs[m().value(at(x, r, 0)).index] = at(f, r, 0);
    }
  }

  const Module& in_;
  const Recipe& r_;
  const Mesh& mesh_;
  const schedule::Table& table_;
  const InstantiateOptions& options_;
  std::size_t ranks_, microbatches_;
  Distributed d_;
  ir::GraphId main_;
  const std::vector<Located>& pieces_;
  // Where the values of each stand in values_.
  std::vector<std::size_t> first_;
  std::vector<ValueId> values_, operands_;
  std::vector<ir::TypeId> types_;
  std::vector<std::size_t> counts_;
  // By the first rank of each group of an axis.
  struct TupleTypes {
    std::size_t stride;
    std::vector<ir::TypeId> by_rank;
  };
  std::vector<std::vector<TupleTypes>> tuples_;
  // By a part's type, a rank, the size of its group and the stride.
  std::map<std::array<std::size_t, 4>, ir::TypeId> tuples_of_parts_;
  std::vector<ir::AttributesId> indices_, rows_;
  std::map<std::pair<std::int32_t, std::size_t>, ValueId> numbers_;
  ir::OpKind tuple_kind_, element_kind_, identity_kind_;
  ir::AttributesId none_;
};

}  // namespace

Distributed instantiate(const Program& program, const Recipe& recipe, const Mesh& mesh, const schedule::Table& table, ir::Module out,
                        const InstantiateOptions& options) {
  return Writer(program, recipe, mesh, table, std::move(out), options).run();
}

}  // namespace pando::transform
