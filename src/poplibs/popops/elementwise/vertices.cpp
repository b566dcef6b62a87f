#include "vertices.h"

#include <algorithm>

#include <poputil/Broadcast.hpp>
#include <poputil/Util.hpp>

#include "block_order.h"
#include "estimate.h"
#include "generate.h"
#include "kernels/elementwise/elementwise_program.h"
#include "operands.h"
#include "poplibs/work.h"
#include "program_writer.h"

namespace popops::internal {

using namespace poplar;
namespace kernels = pando::kernels;

namespace {

using Intervals = std::vector<Interval>;
using Rows = std::vector<Intervals>;

// Work is cut at multiples of so many elements (64 bytes of float, so that workers do not share cache lines), and into no fewer a vertex.
constexpr unsigned kGrain = 16, kFewest = 32;

// Unsigned types of the sizes that programs know: vertices move bits.
const Type& bits_type(const Type& type) {
  static const Type types[] = {UNSIGNED_CHAR, UNSIGNED_SHORT, UNSIGNED_INT, UNSIGNED_LONGLONG};
  return types[kernels::size_class_of(kernels::size_of(kernel_type(type)))];
}
Tensor bits_of(const Tensor& t) { return t.elementType() == bits_type(t.elementType()) ? t : t.reinterpret(bits_type(t.elementType())); }

// An operand as vertices read it.
struct Source {
  std::size_t index;               // among the work's operands
  Tensor flat;                     // of the bits' type
  std::optional<Pattern> pattern;  // one of the broadcast operands that are read in place
};

// A function of one or two operands, with a vertex of its own for single rows.
struct SingleFunction {
  std::string vertex;
  bool unary = false;
  std::uint8_t op = 0;
  std::vector<const Source*> operands;  // those that are not the result itself
};

class VertexMaker {
 public:
  VertexMaker(Graph& graph, const MapWork& work, const MapOptions& options, program::Sequence& prog, const DebugContext& context)
      : graph_(graph), work_(work), options_(options), prog_(prog), context_(context) {}

  void make() {
    follow_memory();
    for (const Tensor& t : work_.outs) outs_.push_back(t.flatten());
    write();
    find_sources();
    put_in_order();
    if (compiled_)
      generate();
    else
      use_program();
    const ComputeSet cs = graph_.addComputeSet(context_);
    const auto mapping = graph_.getTileMapping(outs_[0]);
    for (unsigned tile = 0; tile < mapping.size(); ++tile)
      if (!mapping[tile].empty()) add_tile(cs, tile, mapping[tile]);
    prog_.add(program::Execute(cs, context_));
  }

 private:
  void find_sources() {
    const std::vector<std::size_t> shape = work_.outs[0].shape();
    for (std::size_t i = 0; i < work_.operands.size(); ++i) {
      const WorkOperand& o = work_.operands[i];
      if (!o.tensor.valid() || o.in_place >= 0) continue;
      Source s{i, o.tensor, {}};
      if (o.tensor.shape() != shape) {
        if (options_.read_broadcast || o.tensor.numElements() == 1) s.pattern = pattern_of(o.tensor.shape(), shape);
        if (compiled_ && s.pattern && s.pattern->period > 1) s.pattern.reset();  // generated codelets know scalars only
        if (!s.pattern)
          poputil::broadcastToMatch(s.flat, shape);
        else if (s.pattern->period == outs_[0].numElements())
          s.pattern.reset();  // only dimensions of size 1 differ
      }
      s.flat = s.flat.flatten();
      sources_.push_back(std::move(s));
    }
  }

  // Dimensions in the order in which the result lies, if operands are to be repeated along some of them.
  void follow_memory() {
    const Tensor& out = work_.outs[0];
    const auto repeats = [&](const WorkOperand& o) {
      return o.tensor.valid() && o.tensor.numElements() > 1 && o.tensor.shape() != out.shape();
    };
    if (out.isContiguous() || std::none_of(work_.operands.begin(), work_.operands.end(), repeats)) return;
    const std::vector<unsigned> order = memory_order(out);
    if (std::is_sorted(order.begin(), order.end())) return;
    const unsigned rank = static_cast<unsigned>(order.size());
    for (WorkOperand& o : work_.operands) {
      if (!o.tensor.valid()) continue;
      while (o.tensor.rank() < rank) o.tensor = o.tensor.expand({0});
      o.tensor = o.tensor.dimShuffle(order);
    }
    for (Tensor& t : work_.outs) t = t.dimShuffle(order);
  }

  bool has_vectors() const {
    return std::any_of(sources_.begin(), sources_.end(), [](const Source& s) { return s.pattern && s.pattern->period > 1; });
  }

  // In how many pieces the elements lie, row by row, as the first of them show: counting all may cost time per element.
  static std::size_t pieces_of(const Tensor& flat) {
    const std::size_t n = flat.numElements(), some = std::min<std::size_t>(n, 4096);
    return flat.slice(0, some).getContiguousRegions().size() * n / some;
  }

  // A matrix that lies in blocks, and vectors that are repeated along its rows or its columns: each block reads its part of them.
  bool put_in_blocks() {
    std::vector<std::size_t> shape = work_.outs[0].shape();
    while (shape.size() > 1 && shape.back() == 1) shape.pop_back();
    const std::size_t columns = shape.back(), n = outs_[0].numElements();
    for (const Source& s : sources_) {
      if (!s.pattern || s.pattern->period == 1) continue;
      const bool along_rows = s.pattern->repeat == 1 && s.pattern->period == columns,
                 along_columns = s.pattern->repeat == columns && s.pattern->period * columns == n;
      if (!along_rows && !along_columns) return false;
    }
    blocks_ = block_order_of(outs_[0].reshape({n / columns, columns}));
    if (!blocks_) return false;
    for (Tensor& t : outs_) t = blocks_->apply(t.reshape({n / columns, columns}));
    for (Source& s : sources_)
      if (!s.pattern) s.flat = blocks_->apply(s.flat.reshape({n / columns, columns}));
    return true;
  }

  // Elements in the order in which they lie in memory make long rows. Patterns hold in row-major order only: where that is not how
  // the output lies, all but scalars are spread out first.
  void put_in_order() {
    if (outs_[0].isContiguous()) return;
    if (has_vectors() && put_in_blocks()) return;
    if (has_vectors()) {
      const std::size_t pieces = pieces_of(outs_[0]);
      std::size_t tiles = 0;
      for (const auto& intervals : graph_.getTileMapping(outs_[0])) tiles += intervals.empty() ? 0 : 1;
      if (pieces <= 8 * tiles) return;
      for (Source& s : sources_)
        if (s.pattern && s.pattern->period > 1) {
          s.flat = work_.operands[s.index].tensor;
          poputil::broadcastToMatch(s.flat, work_.outs[0].shape());
          s.flat = s.flat.flatten();
          s.pattern.reset();
        }
    }
    std::vector<Tensor*> follow;
    for (std::size_t o = 1; o < outs_.size(); ++o) follow.push_back(&outs_[o]);
    for (Source& s : sources_)
      if (!s.pattern) follow.push_back(&s.flat);
    graph_.reorderToSimplify(&outs_[0], follow);
  }

  void generate() {
    std::vector<GeneratedOperand> operands;
    for (const WorkOperand& o : work_.operands) operands.push_back({o.type, o.tensor.valid(), o.in_place, false});
    for (const Source& s : sources_) {
      operands[s.index].scalar = s.pattern.has_value();
      order_.push_back(&s);
    }
    const GeneratedCodelet codelet = generate_codelet(*work_.dag, operands);
    add_generated(graph_, codelet);
    vertex_ = codelet.vertex;
  }

  VertexRef add_generated_vertex(ComputeSet cs, const Rows& rows, std::size_t first, const std::vector<std::vector<Tensor>>& out_rows,
                                 const std::vector<std::vector<Tensor>>& in_rows) {
    const VertexRef v = graph_.addVertex(cs, vertex_);
    const auto part = [&](const std::vector<Tensor>& from) {
      return std::vector<Tensor>(from.begin() + static_cast<std::ptrdiff_t>(first),
                                 from.begin() + static_cast<std::ptrdiff_t>(first + rows.size()));
    };
    for (std::size_t i = 0; i < order_.size(); ++i)
      graph_.connect(v["in" + std::to_string(order_[i]->index)],
                     order_[i]->pattern ? std::vector<Tensor>{order_[i]->flat} : part(in_rows[i]));
    std::size_t n = 0;
    for (const Intervals& row : rows)
      for (const Interval& i : row) n += i.size();
    for (std::size_t o = 0; o < out_rows.size(); ++o) graph_.connect(v["out" + std::to_string(o)], part(out_rows[o]));
    graph_.setPerfEstimate(v, estimate_dag(*work_.dag, n, rows.size()));
    return v;
  }

  // Chooses the way, and writes the program if it is to be one. An expression with more values than a program can name is compiled.
  void write() {
    std::vector<ProgramOperand> operands;
    for (const WorkOperand& o : work_.operands) {
      operands.push_back({o.type, o.in_place});
      in_place_ = in_place_ || (o.tensor.valid() && o.in_place >= 0);
    }
    compiled_ = is_compiled(*work_.dag, options_);
    if (compiled_) return;
    std::optional<Program> program = write_program(*work_.dag, operands);
    compiled_ = !program.has_value();
    if (program) program_ = std::move(*program);
  }

  void use_program() {
    vertex_ = in_place_ ? "popops::MapInPlace" : "popops::Map";
    for (Tensor& t : outs_) t = bits_of(t);
    for (Source& s : sources_) s.flat = bits_of(s.flat);
    for (const int o : program_.operands) order_.push_back(&source_of(static_cast<std::size_t>(o)));
    find_single_function();
  }

  const Source& source_of(std::size_t operand) const {
    return *std::find_if(sources_.begin(), sources_.end(), [&](const Source& s) { return s.index == operand; });
  }

  void find_single_function() {
    const Dag& dag = *work_.dag;
    if (outs_.size() != 1) return;
    const Node& f = dag.nodes[static_cast<std::size_t>(dag.results[0])];
    if (f.kind != NodeKind::unary && f.kind != NodeKind::binary) return;
    static const Type types[] = {FLOAT, HALF, INT, UNSIGNED_INT};
    if (std::find(std::begin(types), std::end(types), f.type) == std::end(types)) return;
    SingleFunction single;
    bool in_place = false;
    for (unsigned i = 0; i < 3 && f.arguments[i] >= 0; ++i) {
      const Node& a = dag.nodes[static_cast<std::size_t>(f.arguments[i])];
      if (a.kind != NodeKind::operand || a.type != f.type) return;
      if (work_.operands[a.operand].in_place >= 0) {
        if (i > 0) return;
        in_place = true;
      } else {
        const Source& s = source_of(a.operand);
        if (s.pattern) return;
        single.operands.push_back(&s);
      }
    }
    single.op = f.op;
    single.unary = f.kind == NodeKind::unary;
    single.vertex =
        std::string("popops::") + (single.unary ? "Unary" : "Binary") + (in_place ? "InPlace" : "") + '<' + f.type.toString() + '>';
    type_ = f.type;
    single_ = std::move(single);
  }

  VertexRef add_single(ComputeSet cs, const Tensor& out, std::size_t row, const std::vector<std::vector<Tensor>>& in_rows) {
    const auto typed = [&](const Tensor& t) { return t.elementType() == type_ ? t : t.reinterpret(type_); };
    const VertexRef v = graph_.addVertex(cs, single_->vertex);
    const std::size_t n = single_->operands.size();
    for (std::size_t i = 0; i < n; ++i) {
      const auto at = std::find(order_.begin(), order_.end(), single_->operands[i]) - order_.begin();
      graph_.connect(v[single_->unary ? "in" : n == 2 && i == 0 ? "in1" : "in2"], typed(in_rows[static_cast<std::size_t>(at)][row]));
    }
    graph_.connect(v["out"], typed(out));
    graph_.setInitialValue(v["op"], single_->op);
    return v;
  }

  void add_tile(ComputeSet cs, unsigned tile, const Intervals& mapped) {
    const auto regions = graph_.getSortedContiguousRegions(outs_[0], mapped);
    const unsigned least = pando::poplibs::least_elements(graph_.getTarget(), kFewest);
    std::vector<Rows> parts = poputil::splitRegionsBetweenWorkers(graph_.getTarget(), regions, kGrain, least);
    if (has_vectors()) parts = one_interval_each(parts, blocks_);
    Rows all;
    for (const Rows& rows : parts) all.insert(all.end(), rows.begin(), rows.end());
    std::vector<std::vector<Tensor>> out_rows, in_rows;
    for (const Tensor& t : outs_) out_rows.push_back(t.slices(all));
    for (const Source* s : order_) in_rows.push_back(s->pattern ? std::vector<Tensor>() : s->flat.slices(all));
    for (std::size_t p = 0, row = 0; p < parts.size(); row += parts[p].size(), ++p)
      graph_.setTileMapping(single_ && parts[p].size() == 1 ? add_single(cs, out_rows[0][row], row, in_rows)
                                                            : add_vertex(cs, parts[p], row, out_rows, in_rows),
                            tile);
  }

  // Patterns need the position of a row's first element, and rows without jumps; of one block, where there are blocks.
  static std::vector<Rows> one_interval_each(const std::vector<Rows>& parts, const std::optional<BlockOrder>& blocks) {
    std::vector<Rows> out;
    for (const Rows& rows : parts)
      for (const Intervals& row : rows)
        for (const Interval& i : row)
          for (std::size_t at = i.begin(), end; at < i.end(); at = end) {
            end = blocks ? std::min(i.end(), blocks->at(at).end) : i.end();
            out.push_back({{Interval(at, end)}});
          }
    return out;
  }

  VertexRef add_vertex(ComputeSet cs, const Rows& rows, std::size_t first, const std::vector<std::vector<Tensor>>& out_rows,
                       const std::vector<std::vector<Tensor>>& in_rows) {
    if (compiled_) return add_generated_vertex(cs, rows, first, out_rows, in_rows);
    std::vector<Tensor> in[4], out[4];
    std::vector<std::uint32_t> code = program_.words;
    const auto append = [&](std::vector<Tensor>& to, const std::vector<Tensor>& from) {
      to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(first),
                from.begin() + static_cast<std::ptrdiff_t>(first + rows.size()));
    };
    for (std::size_t i = 0; i < order_.size(); ++i) {
      std::uint32_t* const words = &code[program_.operand_at(i)];
      std::vector<Tensor>& to = in[words[0]];
      words[1] = static_cast<std::uint32_t>(to.size());
      if (!order_[i]->pattern)
        append(to, in_rows[i]);
      else
        to.push_back(part_of(*order_[i], rows[0][0], words));
    }
    for (std::size_t o = 0; o < out_rows.size(); ++o) {
      std::uint32_t* const words = &code[program_.output_at(o)];
      words[1] = static_cast<std::uint32_t>(out[words[0]].size());
      append(out[words[0]], out_rows[o]);
    }
    return graph_.addVertex(cs, vertex_,
                            {{"in1", in[0]},
                             {"in2", in[1]},
                             {"in4", in[2]},
                             {"in8", in[3]},
                             {"out1", out[0]},
                             {"out2", out[1]},
                             {"out4", out[2]},
                             {"out8", out[3]},
                             {"code", code}});
  }

  // What of a broadcast operand a row needs: a contiguous part of it, unless the row goes around it.
  Tensor part_of(const Source& s, const Interval& row, std::uint32_t* words) const {
    if (blocks_ && s.pattern->period > 1) return part_of_block(s, row, words);
    const Pattern& p = *s.pattern;
    const std::size_t cycle = p.repeat * p.period, begin = row.begin() % cycle, end = begin + row.size();
    std::size_t first = 0, last = p.period;
    if (p.period > 1 && end <= cycle) first = begin / p.repeat, last = (end + p.repeat - 1) / p.repeat;
    words[2] = static_cast<std::uint32_t>(last - first == 1 ? 1 : p.repeat);
    words[3] = static_cast<std::uint32_t>(last - first);
    words[4] = last - first == 1 ? 0 : static_cast<std::uint32_t>(begin - first * p.repeat);
    return s.flat.slice(first, last);
  }

  // The same where the row is of one block: a vector's part that belongs to the block's columns, or to its rows.
  Tensor part_of_block(const Source& s, const Interval& row, std::uint32_t* words) const {
    const BlockOrder::Block block = blocks_->at(row.begin());
    const std::size_t begin = row.begin() - block.begin, end = row.end() - block.begin;
    std::size_t first = block.column, last = block.column + block.width, repeat = 1, from = begin % block.width;
    if (s.pattern->repeat > 1) {
      first = block.row + begin / block.width;
      last = block.row + (end + block.width - 1) / block.width;
      repeat = block.width;
    }
    words[2] = static_cast<std::uint32_t>(last - first == 1 ? 1 : repeat);
    words[3] = static_cast<std::uint32_t>(last - first);
    words[4] = last - first == 1 ? 0 : static_cast<std::uint32_t>(from);
    return s.flat.slice(first, last);
  }

  Graph& graph_;
  MapWork work_;
  const MapOptions& options_;
  program::Sequence& prog_;
  const DebugContext& context_;
  std::vector<Tensor> outs_;
  std::vector<Source> sources_;
  std::vector<const Source*> order_;  // as the program lists them
  std::optional<BlockOrder> blocks_;  // of outs_, if they are in blocks
  Program program_;
  std::string vertex_;
  std::optional<SingleFunction> single_;
  Type type_;  // of the single function
  bool in_place_ = false;
  bool compiled_ = false;
};

}  // namespace

bool is_compiled(const Dag& dag, const MapOptions& options) {
  if (!options.force_codelet || !options.generate_codelet) return false;
  const std::vector<bool> needed = dag.needed();
  unsigned functions = 0;
  for (std::size_t i = 0; i < dag.nodes.size(); ++i)
    functions += needed[i] && dag.nodes[i].kind != NodeKind::operand && dag.nodes[i].kind != NodeKind::constant ? 1 : 0;
  return functions > 0;
}

void add_vertices(Graph& graph, const MapWork& work, const MapOptions& options, program::Sequence& prog, const DebugContext& context) {
  VertexMaker(graph, work, options, prog, context).make();
}

}  // namespace popops::internal
