#include "poplibs/popops/reduce/build.h"

#include <poputil/VertexTemplates.hpp>

namespace popops::internal {

namespace {

using poplar::Interval;
using poplar::Tensor;

void append_interval(std::vector<Interval>& to, std::size_t begin, std::size_t size) {
  if (!to.empty() && to.back().end() == begin)
    to.back() = Interval(to.back().begin(), begin + size);
  else
    to.emplace_back(begin, begin + size);
}

// The regions that a stage reads, in the order of its works, for each space.
std::vector<std::vector<Tensor>> regions_of(const Stage& stage, const std::vector<Tensor>& spaces) {
  std::vector<std::vector<Interval>> intervals(spaces.size());
  for (const Work& w : stage.works)
    for (const WorkItem& item : w.items)
      for (const Region& r : item.regions) intervals[r.space].emplace_back(r.begin, r.begin + r.size);
  std::vector<std::vector<Tensor>> regions;
  for (std::size_t s = 0; s < spaces.size(); ++s)
    regions.push_back(intervals[s].empty() ? std::vector<Tensor>() : spaces[s].slices(intervals[s]));
  return regions;
}

// Of a tensor in the order of the output: what each work that is the last has of it; of others nothing.
std::vector<Tensor> parts_of(const Stage& stage, const Tensor& flat) {
  std::vector<std::vector<Interval>> intervals;
  for (const Work& w : stage.works) {
    if (!w.last) continue;
    intervals.emplace_back();
    for (const WorkItem& item : w.items) append_interval(intervals.back(), item.begin, item.outputs);
  }
  const std::vector<Tensor> last = intervals.empty() ? std::vector<Tensor>() : flat.slices(intervals);
  std::vector<Tensor> parts;
  std::size_t next = 0;
  for (const Work& w : stage.works) parts.push_back(w.last ? last[next++] : Tensor());
  return parts;
}

// What each work writes.
std::vector<Tensor> results_of(const Stage& stage, const Tensor& out, const Tensor& partials) {
  std::vector<std::vector<Interval>> of_out, of_partials;
  for (const Work& w : stage.works) {
    std::vector<Interval> intervals;
    for (const WorkItem& item : w.items) append_interval(intervals, w.last ? item.begin : item.at, item.outputs);
    (w.last ? of_out : of_partials).push_back(std::move(intervals));
  }
  const std::vector<Tensor> last = of_out.empty() ? std::vector<Tensor>() : out.slices(of_out);
  const std::vector<Tensor> others = of_partials.empty() ? std::vector<Tensor>() : partials.slices(of_partials);
  std::vector<Tensor> results;
  std::size_t next_last = 0, next_other = 0;
  for (const Work& w : stage.works) results.push_back(w.last ? last[next_last++] : others[next_other++]);
  return results;
}

Tensor add_partials(poplar::Graph& graph, const poplar::Type& type, const Stage& stage, const poplar::DebugContext& context) {
  if (stage.partials == 0) return Tensor();
  const Tensor t = graph.addVariable(type, {stage.partials}, {context, "partials"});
  poplar::Graph::TileToTensorMapping mapping(graph.getTarget().getNumTiles());
  for (const Work& w : stage.works)
    if (!w.last)
      for (const WorkItem& item : w.items) append_interval(mapping[w.tile], item.at, item.outputs);
  graph.setTileMapping(t, mapping);
  return t;
}

// The operation that puts results of `op` together.
Operation operation_on_results(Operation op) { return op == Operation::SQUARE_ADD ? Operation::ADD : op; }

std::vector<unsigned> blocks_of(const Work& work) {
  std::vector<unsigned> blocks;
  for (const WorkItem& item : work.items)
    for (const std::size_t n : {item.regions.size(), item.outputs, item.middle, item.inner}) blocks.push_back(static_cast<unsigned>(n));
  return blocks;
}

void add_vertex(poplar::Graph& graph, const poplar::ComputeSet& cs, const Work& work, const std::vector<Tensor>& in, const Tensor& out,
                const ReduceParams& params) {
  const Operation op = work.items[0].regions[0].space == 0 ? params.op : operation_on_results(params.op);
  const bool finishes = work.last && (params.useScale || params.update);
  const bool single = in.size() == 1 && work.items.size() == 1 && !finishes;
  const std::size_t row = work.items[0].row;
  const char* name = row > 0    ? "popops::ReduceColumns"
                     : finishes ? "popops::ReduceUpdate"
                     : single   ? "popops::Reduce"
                                : "popops::ReduceBlocks";
  const poplar::VertexRef v = graph.addVertex(cs, poputil::templateVertex(name, in[0].elementType(), out.elementType()));
  graph.setTileMapping(v, work.tile);
  if (single)
    graph.connect(v["in"], in[0]);
  else
    graph.connect(v["in"], poplar::ArrayRef<Tensor>(in));
  graph.connect(v["out"], out);
  graph.setInitialValue(v["op"], static_cast<unsigned char>(op));
  if (row > 0) {
    graph.setInitialValue(v["row"], static_cast<unsigned>(row));
    return;
  }
  if (single) {
    graph.setInitialValue(v["middle"], static_cast<unsigned>(work.items[0].middle));
    graph.setInitialValue(v["inner"], static_cast<unsigned>(work.items[0].inner));
    return;
  }
  graph.setInitialValue(v["blocks"], blocks_of(work));
  if (!finishes) return;
  graph.setInitialValue(v["scaled"], params.useScale);
  graph.setInitialValue(v["update"], params.update);
  if (params.useScale)
    graph.connect(v["scale"], params.scale.flatten()[0]);
  else
    graph.connect(v["scale"], 1.0f);
}

// What vertices with an epilogue have beside `in` and `out`: for each operand, each further result, a tensor of each work of a stage.
struct Parts {
  std::vector<std::vector<Tensor>> operands, more;
};

Parts finish_parts(const Stage& stage, const ReductionFinish& finish) {
  Parts parts;
  for (std::size_t i = 0; i < finish.operands.size(); ++i)
    parts.operands.push_back(finish.finish.operands[i].is_matrix ? parts_of(stage, finish.operands[i])
                                                                 : std::vector<Tensor>(stage.works.size(), finish.operands[i]));
  for (const Tensor& t : finish.more) parts.more.push_back(parts_of(stage, t));
  return parts;
}

void add_finished_vertex(poplar::Graph& graph, const poplar::ComputeSet& cs, const Work& work, const std::vector<Tensor>& in,
                         const Tensor& out, const Reduction& reduction, const Parts& parts, std::size_t number) {
  const auto of_work = [&](const std::vector<std::vector<Tensor>>& all) {
    std::vector<Tensor> own;
    for (const std::vector<Tensor>& t : all) own.push_back(t[number]);
    return own;
  };
  const ReduceParams& params = reduction.params;
  const Operation op = work.items[0].regions[0].space == 0 ? params.op : operation_on_results(params.op);
  const std::size_t row = work.items[0].row;
  const poplar::VertexRef v =
      graph.addVertex(cs, poputil::templateVertex("popops::FinishedReduce", in[0].elementType(), out.elementType()));
  graph.setTileMapping(v, work.tile);
  graph.connect(v["in"], poplar::ArrayRef<Tensor>(in));
  graph.connect(v["out"], out);
  graph.connect(v["operands"], of_work(parts.operands));
  graph.connect(v["more"], of_work(parts.more));
  set_words(graph, v, words_for(reduction.finish->finish, out.numElements()));
  graph.setInitialValue(v["blocks"], row > 0 ? std::vector<unsigned>() : blocks_of(work));
  graph.setInitialValue(v["row"], static_cast<unsigned>(row));
  graph.setInitialValue(v["op"], static_cast<unsigned char>(op));
  graph.setInitialValue(v["scaled"], params.useScale);
  if (params.useScale)
    graph.connect(v["scale"], params.scale.flatten()[0]);
  else
    graph.connect(v["scale"], 1.0f);
}

}  // namespace

poplar::Graph::TileToTensorMapping output_mapping(const ReductionPlan& plan, unsigned tiles) {
  poplar::Graph::TileToTensorMapping mapping(tiles);
  for (const Stage& s : plan.stages)
    for (const Work& w : s.works)
      if (w.last)
        for (const WorkItem& item : w.items) append_interval(mapping[w.tile], item.begin, item.outputs);
  return mapping;
}

void build_reduction(poplar::Graph& graph, const Reduction& reduction, const ReductionPlan& plan, std::vector<poplar::ComputeSet>& css,
                     const poplar::DebugContext& context) {
  std::vector<Tensor> spaces = {reduction.in};
  std::size_t set = 0;
  for (const Stage& stage : plan.stages) {
    if (stage.works.empty()) {
      spaces.emplace_back();
      continue;
    }
    if (set == css.size()) css.push_back(graph.addComputeSet({context, "Reduce"}));
    const poplar::ComputeSet cs = css[set++];
    const Tensor partials = add_partials(graph, reduction.partial_type, stage, context);
    const std::vector<std::vector<Tensor>> regions = regions_of(stage, spaces);
    const std::vector<Tensor> results = results_of(stage, reduction.out, partials);
    const Parts parts = reduction.finish != nullptr ? finish_parts(stage, *reduction.finish) : Parts();
    std::vector<std::size_t> next(spaces.size(), 0);
    std::vector<Tensor> in;
    for (std::size_t i = 0; i < stage.works.size(); ++i) {
      in.clear();
      for (const WorkItem& item : stage.works[i].items)
        for (const Region& r : item.regions) in.push_back(regions[r.space][next[r.space]++]);
      if (reduction.finish != nullptr && stage.works[i].last)
        add_finished_vertex(graph, cs, stage.works[i], in, results[i], reduction, parts, i);
      else
        add_vertex(graph, cs, stage.works[i], in, results[i], reduction.params);
    }
    spaces.push_back(partials);
  }
}

}  // namespace popops::internal
