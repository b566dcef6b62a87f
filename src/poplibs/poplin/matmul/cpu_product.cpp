#include "poplibs/poplin/matmul/cpu_product.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "poplibs/poplin/matmul/finish.h"
#include "poplibs/poplin/matmul/product.h"

namespace poplin::internal::matmul {
namespace {

using poplar::Graph;
using poplar::Tensor;

// Parts of a large product: more than a host's threads, so that they share them evenly; and of a smaller one, as far as parts do not get so
// small that bringing their operands near costs more than the threads gain.
constexpr std::size_t kParts = 16, kFewParts = 8;
// Products of numbers in a part, at least: of few parts, and of more.
constexpr std::size_t kLeastWork = 1 << 15, kMuchWork = 1 << 25;
// Blocks of C, at least: rows, which share what packing their columns of B costs, and columns, in multiples of what the kernel
// multiplies at once.
constexpr std::size_t kRows = 128, kColumns = 64, kDepth = 1024;
// Of a single row, whose product takes the time to read B: few parts, of columns of B that follow each other for long enough, and rows.
constexpr std::size_t kRowParts = 4, kRowColumns = 1024, kRowDepth = 64;

// `size` in at most `parts` blocks that are multiples of `grain`.
std::size_t block_of(std::size_t size, std::size_t parts, std::size_t grain) { return std::min(size, up(up(size, parts), grain) * grain); }

// An operand {groups, rows, columns}: of each group the memory from its first element to its last, in which element (i, j) is at i * row +
// j * column. One of the strides is 1. Between rows there may be elements of others.
struct Operand {
  std::vector<Tensor> groups;
  std::size_t row, column;
  bool intersects(const Tensor& t) const {
    return std::any_of(groups.begin(), groups.end(), [&](const Tensor& g) { return g.intersectsWith(t); });
  }
};

Operand in_one_piece(const Tensor& t, std::size_t row, std::size_t column) {
  Operand o{{}, row, column};
  for (std::size_t g = 0; g < t.dim(0); ++g) o.groups.push_back(t[g].flatten());
  return o;
}

// Where the rows of a matrix begin in the one variable that it lies in; false if they are not whole, or unevenly apart.
struct Rows {
  poplar::VariableRef variable;
  std::size_t begin = 0, stride = 0;
};
bool find_rows(const Tensor& matrix, Rows& rows) {
  const std::size_t columns = matrix.dim(1);
  std::size_t row = 0;
  for (const poplar::VariableInterval& piece : matrix.flatten().getVarRegions()) {
    if (piece.interval.size() % columns != 0) return false;
    for (std::size_t at = piece.interval.begin(); at < piece.interval.end(); at += columns, ++row) {
      if (row == 0) rows = {piece.var, at, columns};
      if (row == 1 && at < rows.begin + columns) return false;
      if (row == 1) rows.stride = at - rows.begin;
      if (piece.var != rows.variable || at != rows.begin + row * rows.stride) return false;
    }
  }
  return row == matrix.dim(0);
}

bool is_mapped(const Graph& graph, const Tensor& variable) {
  std::size_t elements = 0;
  for (const auto& tile : graph.getTileMapping(variable))
    for (const poplar::Interval& i : tile) elements += i.size();
  return elements == variable.numElements();
}

// Rows that lie apart from each other are read where they are: no groups if they do not.
Operand strided(const Graph& graph, const Tensor& t, bool turned) {
  const std::size_t n = t.dim(1), columns = t.dim(2);
  Operand o{{}, 0, 0};
  Rows first, rows;
  Tensor variable;
  for (std::size_t g = 0; g < t.dim(0); ++g) {
    if (!find_rows(t[g], rows)) return {};
    if (g == 0) first = rows;
    if (rows.stride != first.stride) return {};
    if (!variable.valid() || rows.variable != first.variable) {
      variable = graph.getVariable(rows.variable).flatten();
      if (!is_mapped(graph, variable)) return {};
      // What a gather leaves are numbers in a variable of plain bits.
      if (variable.elementType() != t.elementType()) variable = variable.reinterpret(t.elementType());
      first.variable = rows.variable;
    }
    o.groups.push_back(variable.slice(rows.begin, rows.begin + (n - 1) * rows.stride + columns));
  }
  o.row = turned ? 1 : first.stride;
  o.column = turned ? first.stride : 1;
  return o;
}

// Of a tensor whose other elements lie alike.
constexpr std::size_t kFewElements = 4096;

// In how many pieces a part of the elements lies, of {groups, rows, columns}: all would take time per element.
std::size_t pieces_of(const Tensor& t) {
  return t[0].flatten().slice(0, std::min<std::size_t>(t.dim(1) * t.dim(2), kFewElements)).getContiguousRegions().size();
}

Operand operand_of(Graph& graph, const Problem& p, const Tensor& t, poplar::program::Sequence& prog, const poplar::DebugContext& debug) {
  if (t.isContiguous()) return in_one_piece(t, t.dim(2), 1);
  const Tensor turned = t.dimShuffle({0, 2, 1});
  if (turned.isContiguous()) return in_one_piece(turned, 1, t.dim(1));
  // Rows and columns change places in the copy where that lets longer pieces be copied.
  const bool turns = pieces_of(turned) < pieces_of(t);
  const Tensor& from = turns ? turned : t;
  if (p.options.rows_apart)
    if (Operand o = strided(graph, from, turns); !o.groups.empty()) return o;
  const Tensor copy = graph.addVariable(t.elementType(), from.shape(), debug);
  graph.setTileMapping(copy, 0);
  prog.add(poplar::program::Copy(from, copy, false, debug));
  return in_one_piece(copy, turns ? 1 : t.dim(2), turns ? t.dim(1) : 1);
}

struct Part {
  std::size_t group, m, m_end, n, n_end, k, k_end;
};

template <class Visit>  // visit(part, index of the part of k)
void for_each_part(const Problem& p, const CpuCut& cut, Visit visit) {
  for (std::size_t g = 0; g < p.groups; ++g)
    for (std::size_t k = 0; k < cut.k; ++k)
      for (std::size_t n = 0; n < p.n; n += cut.n_block)
        for (std::size_t m = 0; m < p.m; m += cut.m_block)
          visit(Part{g, m, std::min(p.m, m + cut.m_block), n, std::min(p.n, n + cut.n_block), k * cut.k_block,
                     std::min(p.k, (k + 1) * cut.k_block)},
                k);
}

void set_operands(Graph& graph, const poplar::VertexRef& v, const Part& part, const Operand& a, const Operand& b) {
  graph.connect(v["a"], a.groups[part.group]);
  graph.connect(v["b"], b.groups[part.group]);
  const auto set_value = [&](const char* field, std::size_t value) { graph.setInitialValue(v[field], static_cast<unsigned>(value)); };
  set_value("rows", part.m_end - part.m);
  set_value("k", part.k_end - part.k);
  set_value("a_begin", part.m * a.row + part.k * a.column);
  set_value("a_row", a.row);
  set_value("a_column", a.column);
  set_value("b_begin", part.k * b.row + part.n * b.column);
  set_value("b_row", b.row);
  set_value("b_column", b.column);
}

// From so many parts of n on, which would each turn A's rows anew, and products of so many numbers.
constexpr std::size_t kTurnsForParts = 3, kTurnsForWork = std::size_t{1} << 25;
// A vector's floats, of which the kernel turns as many rows at once.
constexpr std::size_t kTurnedAtOnce = 16;

bool is_worth_turning(const Problem& p, const Operand& a) {
  if (!p.options.turns_operands || a.column == 1 || p.input != poplar::FLOAT || p.m * p.n * p.k < kTurnsForWork) return false;
  return cut_for_cpu(p, true).n >= kTurnsForParts;
}

// A whose rows lie one after the other: a copy, if its columns do.
Operand with_whole_rows(Graph& graph, const Problem& p, const Operand& a, poplar::program::Sequence& prog,
                        const poplar::DebugContext& debug) {
  if (!is_worth_turning(p, a)) return a;
  const Tensor copy = graph.addVariable(poplar::FLOAT, {p.groups, p.m, p.k}, debug);
  graph.setTileMapping(copy, 0);
  const std::size_t block = block_of(p.m, kParts, kTurnedAtOnce);
  const poplar::ComputeSet set = graph.addComputeSet({debug, "turn"});
  for (std::size_t g = 0; g < p.groups; ++g)
    for (std::size_t m = 0; m < p.m; m += block) {
      const std::size_t end = std::min(p.m, m + block);
      const poplar::VertexRef v = graph.addVertex(set, "poplin::TurnedOperand");
      graph.setTileMapping(v, 0);
      graph.connect(v["from"], a.groups[g].slice(m, (p.k - 1) * a.column + end));
      graph.connect(v["to"], copy[g].slice(m, end).flatten());
      graph.setInitialValue(v["k"], static_cast<unsigned>(p.k));
      graph.setInitialValue(v["column"], static_cast<unsigned>(a.column));
    }
  prog.add(poplar::program::Execute(set, debug));
  return in_one_piece(copy, p.k, 1);
}

// C's rows of this part, joined if they follow each other. `c` is {groups, m, n}, its rows whole.
std::vector<Tensor> rows_of(const Tensor& c, const Part& part) {
  const Tensor block = c[part.group].slice({part.m, part.n}, {part.m_end, part.n_end});
  if (block.isContiguous()) return {block.flatten()};
  std::vector<Tensor> rows;
  for (std::size_t i = 0; i < part.m_end - part.m; ++i) rows.push_back(block[i]);
  return rows;
}

bool has_whole_rows(const Tensor& c) {
  const auto are_whole = [&](const Tensor& flat) {
    const auto pieces = flat.getContiguousRegions();
    return std::all_of(pieces.begin(), pieces.end(), [&](const poplar::Interval& i) { return i.begin() % c.dim(2) == 0; });
  };
  // Where rows are broken, the first ones tell it.
  const Tensor flat = c.flatten();
  return are_whole(flat.slice(0, std::min<std::size_t>(flat.numElements(), kFewElements))) && are_whole(flat);
}

// Whether the product's result lies turned, and is computed so: transpose(B) * transpose(A), whose sums are taken in the same order.
bool lies_turned(const Problem& p, const Tensor& out) {
  return p.m > 1 && p.k < 2 * kDepth && !has_whole_rows(out) && has_whole_rows(out.dimShuffle({0, 2, 1}));
}

Tensor result_on_cpu(Graph& graph, const Problem& p, const poplar::DebugContext& debug) {
  return variable_on_cpu(graph, poplar::FLOAT, {p.groups, p.m, p.n}, debug);
}

// Writes c[i], {groups, m, n}, for part i of k; or adds to it, if a scale is given.
void multiply_to(Graph& graph, const Problem& p, const CpuCut& cut, const Operand& a, const Operand& b, const std::vector<Tensor>& c,
                 const Tensor& scale, poplar::program::Sequence& prog, const poplar::DebugContext& debug) {
  const poplar::ComputeSet set = graph.addComputeSet({debug, "multiply"});
  const std::string vertex = "poplin::ViewProduct<" + p.input.toString() + (scale.valid() ? ",true>" : ",false>");
  const Tensor factor = scale.valid() ? scale : graph.addConstant<float>(poplar::FLOAT, {}, 1.0f, {debug, "one"});
  if (!scale.valid()) graph.setTileMapping(factor, 0);
  for_each_part(p, cut, [&](const Part& part, std::size_t at) {
    const poplar::VertexRef v = graph.addVertex(set, vertex);
    graph.setTileMapping(v, 0);
    set_operands(graph, v, part, a, b);
    graph.connect(v["c"], rows_of(c[at], part));
    graph.connect(v["scale"], factor);
  });
  prog.add(poplar::program::Execute(set, debug));
}

// The flat products of the parts of k.
std::vector<Tensor> multiply_in_parts(Graph& graph, const Problem& p, const CpuCut& cut, const Operand& a, const Operand& b,
                                      poplar::program::Sequence& prog, const poplar::DebugContext& debug) {
  std::vector<Tensor> c(cut.k);
  for (Tensor& part : c) part = result_on_cpu(graph, p, {debug, "partials"});
  multiply_to(graph, p, cut, a, b, c, Tensor(), prog, debug);
  for (Tensor& part : c) part = part.flatten();
  return c;
}

}  // namespace

namespace {

// Each part of n reads all of A, strip by strip beside its products; each part of m packs all of B before them, which costs as much more.
// A part packs an A that lies turned, too.
constexpr std::size_t kPackingOfB = 5, kBesidePackingOfA = 1;

// Parts of m and n, about `parts` in all. To bring an element of B near costs so many times what one of A does.
std::pair<std::size_t, std::size_t> grid_of(const Problem& p, std::size_t parts, std::size_t cost_of_b) {
  const std::size_t most_m = up(p.m, kRows), most_n = up(p.n, kColumns);
  std::pair<std::size_t, std::size_t> best{1, 1};
  std::size_t least = 0;
  for (std::size_t m = 1; m <= std::min(parts, most_m); ++m) {
    const std::size_t n = std::min(up(parts, m), most_n), cost = n * p.m + cost_of_b * m * p.n;
    const std::size_t reached = best.first * best.second;
    // Too few parts come first only where there can be no more.
    const bool more = m * n * 4 >= parts * 3, had_more = reached * 4 >= parts * 3;
    if (m == 1 || (more && !had_more) || (more == had_more && (more ? cost < least : m * n > reached))) {
      best = {m, n};
      least = cost;
    }
  }
  return best;
}

}  // namespace

namespace {

// A part reads rows of B that lie one after the other, as whole as can be.
void cut_one_row(const Problem& p, std::size_t parts, CpuCut& cut) {
  cut.n_block = block_of(p.n, std::min(parts, std::max<std::size_t>(p.n / kRowColumns, 1)), kColumns);
  cut.n = up(p.n, cut.n_block);
  cut.k_block = block_of(p.k, std::min(parts / cut.n, std::max<std::size_t>(p.k / kRowDepth, 1)), 4);
  cut.k = up(p.k, cut.k_block);
}

}  // namespace

CpuCut cut_for_cpu(const Problem& p, bool turned) {
  CpuCut cut{1, 1, 1, p.m, p.n, p.k};
  const std::size_t work = p.groups * p.m * p.n * p.k;
  const std::size_t wanted = std::max(std::min(kFewParts, up(work, kLeastWork)), std::min(kParts, up(work, kMuchWork)));
  const std::size_t parts = up(wanted, p.groups);
  if (parts == 1) return cut;
  if (p.m == 1) {
    cut_one_row(p, std::min(parts, kRowParts), cut);
    return cut;
  }
  const auto [m, n] = grid_of(p, parts, turned ? kBesidePackingOfA : kPackingOfB);
  cut.m_block = block_of(p.m, m, m == 1 ? 1 : 4);
  cut.n_block = block_of(p.n, n, kColumns);
  cut.m = up(p.m, cut.m_block);
  cut.n = up(p.n, cut.n_block);
  if (cut.m * cut.n * 2 > parts) return cut;
  cut.k_block = block_of(p.k, std::min(parts / (cut.m * cut.n), std::max<std::size_t>(p.k / kDepth, 1)), 64);
  cut.k = up(p.k, cut.k_block);
  return cut;
}

Tensor variable_on_cpu(Graph& graph, const poplar::Type& type, const std::vector<std::size_t>& shape, const poplar::DebugContext& debug) {
  const Tensor t = graph.addVariable(type, shape, debug);
  graph.setTileMapping(t, 0);
  return t;
}

void multiply_on_cpu(Graph& graph, const Problem& p, const Tensor& a, const Tensor& b, const Tensor& out, const Tensor& scale,
                     poplar::program::Sequence& prog, const poplar::DebugContext& debug) {
  if (!scale.valid() && lies_turned(p, out)) {
    Problem turned = p;
    std::swap(turned.m, turned.n);
    multiply_on_cpu(graph, turned, b.dimShuffle({0, 2, 1}), a.dimShuffle({0, 2, 1}), out.dimShuffle({0, 2, 1}), scale, prog, debug);
    return;
  }
  const Operand x = with_whole_rows(graph, p, operand_of(graph, p, a, prog, {debug, "A"}), prog, {debug, "A"});
  const Operand y = operand_of(graph, p, b, prog, {debug, "B"});
  const CpuCut cut = cut_for_cpu(p, x.column != 1);
  const bool scales = !scale.valid() || scale.elementType() == poplar::FLOAT;
  const bool direct =
      cut.k == 1 && scales && out.elementType() == poplar::FLOAT && has_whole_rows(out) && !x.intersects(out) && !y.intersects(out);
  if (direct) {
    multiply_to(graph, p, cut, x, y, {out}, scale, prog, debug);
  } else if (cut.k == 1 && !scale.valid() && out.elementType() == poplar::FLOAT) {
    const Tensor product = result_on_cpu(graph, p, {debug, "product"});
    multiply_to(graph, p, cut, x, y, {product}, scale, prog, debug);
    prog.add(poplar::program::Copy(product, out, false, debug));
  } else {
    add_up(graph, multiply_in_parts(graph, p, cut, x, y, prog, debug), out.flatten(), scale, prog, debug);
  }
}

namespace {

// The epilogue's matrices as they lie; false if their rows are not whole and evenly apart.
bool find_matrices(const Graph& graph, const Finish& finish, std::vector<Operand>& matrices) {
  for (const FinishOperand& o : finish.operands) {
    if (!o.is_matrix)
      matrices.push_back({{}, o.stride, 1});
    else
      matrices.push_back(o.tensor.isContiguous() ? in_one_piece(o.tensor, o.tensor.dim(2), 1) : strided(graph, o.tensor, false));
    if (o.is_matrix && (matrices.back().groups.empty() || matrices.back().row >= kOneNumber)) return false;
  }
  return true;
}

// What a part reads of the epilogue's operands.
std::vector<Tensor> operands_of_part(const Finish& finish, const std::vector<Operand>& matrices, const Part& part) {
  std::vector<Tensor> out;
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const FinishOperand& o = finish.operands[i];
    const std::size_t row = matrices[i].row;
    if (o.is_matrix)
      out.push_back(matrices[i].groups[part.group].slice(part.m * row + part.n, (part.m_end - 1) * row + part.n_end));
    else
      out.push_back(o.stride == kOneRow ? o.tensor.slice(part.n, part.n_end) : o.tensor);
  }
  return out;
}

// The rows of all results, or one entry for each if these are whole.
std::vector<Tensor> rows_of_all(const std::vector<Tensor>& outs, const Part& part) {
  std::vector<std::vector<Tensor>> rows;
  for (const Tensor& t : outs) rows.push_back(rows_of(t, part));
  const bool whole = std::all_of(rows.begin(), rows.end(), [](const auto& r) { return r.size() == 1; });
  std::vector<Tensor> out;
  for (std::size_t r = 0; r < outs.size(); ++r) {
    const std::size_t n = part.m_end - part.m;
    if (whole || rows[r].size() == n)
      out.insert(out.end(), rows[r].begin(), rows[r].end());
    else
      for (std::size_t i = 0; i < n; ++i) out.push_back(rows[r][0].slice(i * (part.n_end - part.n), (i + 1) * (part.n_end - part.n)));
  }
  return out;
}

void add_finishing_vertices(Graph& graph, const Problem& p, const CpuCut& cut, const Operand& a, const Operand& b, const Finish& finish,
                            const std::vector<Operand>& matrices, const std::vector<Tensor>& outs, poplar::ComputeSet set) {
  std::vector<unsigned> strides;
  for (const Operand& m : matrices) strides.push_back(static_cast<unsigned>(m.row));
  for_each_part(p, cut, [&](const Part& part, std::size_t) {
    const poplar::VertexRef v = graph.addVertex(set, "poplin::FinishedProduct");
    graph.setTileMapping(v, 0);
    set_operands(graph, v, part, a, b);
    graph.connect(v["results"], rows_of_all(outs, part));
    graph.connect(v["operands"], operands_of_part(finish, matrices, part));
    const auto set_list = [&](const char* field, const std::vector<unsigned>& values) {
      graph.setFieldSize(v[field], values.size());
      if (!values.empty()) graph.setInitialValue(v[field], values);
    };
    set_list("strides", strides);
    set_list("code", finish.words);
    graph.setInitialValue(v["count"], static_cast<unsigned>(outs.size()));
  });
}

// outs[0] = the sum of products of parts of k, finished; outs that are not valid are made.
void finish_sums(Graph& graph, const Problem& p, const CpuCut& cut, const Operand& a, const Operand& b, const Finish& finish,
                 std::vector<Tensor>& outs, poplar::program::Sequence& prog, const poplar::DebugContext& debug) {
  const Layout row_major{p.groups, {p.m, p.m, p.m}, {p.n, p.n, p.n}};
  std::vector<Tensor> partials = multiply_in_parts(graph, p, cut, a, b, prog, debug), results;
  for (Tensor& t : outs) {
    if (!t.valid()) t = result_on_cpu(graph, p, {debug, "out"});
    results.push_back(to_flat(row_major, t));
  }
  add_up_and_finish(graph, partials, row_major, flat_finish(finish, row_major, results), prog, debug);
}

// Each part of C is finished by what multiplies it.
void finish_products(Graph& graph, const Problem& p, const CpuCut& cut, const Operand& a, const Operand& b, const Finish& finish,
                     const std::vector<Operand>& matrices, std::vector<Tensor>& outs, poplar::program::Sequence& prog,
                     const poplar::DebugContext& debug) {
  std::vector<Tensor> written;
  for (Tensor& t : outs) {
    const bool apart = !t.valid() || a.intersects(t) || b.intersects(t);
    written.push_back(apart ? result_on_cpu(graph, p, {debug, "out"}) : t);
    if (!t.valid()) t = written.back();
  }
  const poplar::ComputeSet set = graph.addComputeSet({debug, "multiply"});
  add_finishing_vertices(graph, p, cut, a, b, finish, matrices, written, set);
  prog.add(poplar::program::Execute(set, debug));
  for (std::size_t i = 0; i < outs.size(); ++i)
    if (written[i] != outs[i]) prog.add(poplar::program::Copy(written[i], outs[i], false, debug));
}

}  // namespace

bool multiply_and_finish_on_cpu(Graph& graph, const Problem& p, const Tensor& a, const Tensor& b, const Finish& finish,
                                std::vector<Tensor>& outs, poplar::program::Sequence& prog, const poplar::DebugContext& debug) {
  if (p.input != poplar::FLOAT) return false;
  std::vector<Operand> matrices;
  if (interfere(outs, tensors_read(a, b, finish)) || !find_matrices(graph, finish, matrices)) return false;
  for (const Tensor& t : outs)
    if (t.valid() && !has_whole_rows(t)) return false;
  // Between rows that are read there may be elements of others.
  const auto in_between = [&](const Operand& o) {
    return std::any_of(outs.begin(), outs.end(), [&](const Tensor& t) { return t.valid() && o.intersects(t); });
  };
  if (std::any_of(matrices.begin(), matrices.end(), in_between)) return false;
  const Operand x = with_whole_rows(graph, p, operand_of(graph, p, a, prog, {debug, "A"}), prog, {debug, "A"});
  const Operand y = operand_of(graph, p, b, prog, {debug, "B"});
  const CpuCut cut = cut_for_cpu(p, x.column != 1);
  if (cut.k > 1)
    finish_sums(graph, p, cut, x, y, finish, outs, prog, debug);
  else
    finish_products(graph, p, cut, x, y, finish, matrices, outs, prog, debug);
  return true;
}

void print_on_cpu(std::ostream& out, const Problem& p) {
  const CpuCut cut = cut_for_cpu(p);
  out << "matrix product: " << p.groups << " x (" << p.m << " x " << p.k << ") * (" << p.k << " x " << p.n << "), " << p.input << " -> "
      << p.output << ", on the CPU device\n";
  out << "  parts of a group: m " << cut.m << ", n " << cut.n << ", k " << cut.k << "; block: m " << cut.m_block << ", n " << cut.n_block
      << ", k " << cut.k_block << '\n';
}

}  // namespace poplin::internal::matmul
