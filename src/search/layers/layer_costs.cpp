// The ops of one layer: products by their shapes, everything else by what it reads and writes, transfers by the network.
#include "search/layers/price_memo.h"
#include "search/placement.h"
#include "search/strategy.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <utility>
#include <vector>

namespace pando::search {

namespace {

using simulate::Cluster;
using simulate::Collective;

}  // namespace

class LayerWriter {
 public:
  LayerWriter(const Transformer& model, const Cluster& cluster, const Strategy& s, bool with_experts, const MeasuredShapes* shapes,
              PriceMemo* prices)
      : m_(model), c_(cluster), s_(s), with_experts_(with_experts), shapes_(shapes), prices_(prices), levels_(levels_of(cluster, s)) {
    t_ = static_cast<double>(s.tensor);
    tokens_ = static_cast<double>(s.microbatch) * static_cast<double>(model.seq) / static_cast<double>(s.context);
    width_ = tokens_ * static_cast<double>(model.hidden);
    split_ = s.sequence_parallel;
    norm_share_ = split_ ? 1 / t_ : 1;
  }

  LayerCosts write() {
    for (std::vector<LayerOp>* ops : {&out_.forward, &out_.input_gradient}) ops->reserve(32);
    if (m_.parallel)
      side_by_side();
    else
      one_after_the_other();
    finish();
    return std::move(out_);
  }

 private:
  // Attention and dense layers read the layer's input; their results are added to it.
  void side_by_side() {
    norm("norm");
    if (m_.norms > 1) norm_behind("norm 2");
    join(true);
    attention();
    wide();
    join(false);
    residual("residual");
    residual("residual 2");
  }

  void one_after_the_other() {
    norm("norm");
    join(true);
    if (m_.latent())
      latent_attention();
    else
      attention();
    join(false);
    if (m_.norms == 4) norm_behind("norm behind attention");
    residual("residual");
    norm("norm 2");
    join(true);
    wide();
    join(false);
    if (m_.norms == 4) norm_behind("norm behind dense layers");
    residual("residual 2");
  }

  void wide() {
    if (with_experts_)
      experts();
    else
      dense(static_cast<double>(m_.ffn));
  }

  // --- single ops -----------------------------------------------------------------------------------------------------------------------

  double memory(double bytes) const { return c_.launch + bytes / (c_.memory_bytes_per_second * c_.memory_efficiency.at(bytes)); }

  const simulate::Unfused* unfused(std::string_view op) const {
    const auto u = std::ranges::find(c_.unfused, op, &simulate::Unfused::op);
    return u == c_.unfused.end() ? nullptr : &*u;
  }

  // As measured, with the launch of the machine as it is used; or by the machine's curve.
  double bytewise(std::string_view op, bool backward, double bytes) const {
    if (const simulate::Unfused* u = unfused(op)) return memory((backward ? u->backward : u->forward) * bytes);
    const auto seconds = prices_ != nullptr ? prices_->bytewise(c_.measured, op, backward, bytes)
                                            : simulate::bytewise_seconds(c_.measured, op, backward, bytes);
    if (!seconds) return memory(bytes);
    basis_ = simulate::Basis::measured;
    return c_.launch + simulate::without_launch(*seconds, c_.measured.launch);
  }

  std::optional<simulate::MeasuredShare> share_of(double m, double k, double n, char layout, simulate::ProductType type) const {
    return prices_ != nullptr ? prices_->product(*shapes_, m, k, n, layout, type)
                              : simulate::product_share(*shapes_, m, k, n, layout, type);
  }

  // Heads lie beside each other: where their rows are multiples of 8 elements, all begin at multiples of 16 bytes.
  static bool aligned(double m, double k, double n) {
    const auto whole = [](double size) { return std::fmod(size, 8) == 0; };
    return whole(m) && whole(k) && whole(n);
  }

  double product_seconds(double m, double k, double n, double count, char layout) const {
    const double operations = 2 * m * k * n;
    if (shapes_ != nullptr && count == 1) {
      if (const auto share = share_of(m, k, n, layout, simulate::ProductType::bf16)) {
        basis_ = share->basis;
        return c_.launch + operations / (c_.half_operations * share->efficiency);
      }
    }
    const double bytes = 2 * count * (m * k + k * n + m * n);
    const double share = c_.matmul_efficiency.at(count * operations) * (count > 1 && !aligned(m, k, n) ? c_.unaligned : 1);
    return c_.launch + std::max(count * operations / (c_.half_operations * share),
                                bytes / (c_.memory_bytes_per_second * c_.memory_efficiency.at(bytes)));
  }

  void add(std::vector<LayerOp>& phase, std::string_view name, double seconds, LayerTransfer transfer = LayerTransfer::none) {
    // The basis of the number that was just made.
    phase.push_back({name, seconds, transfer, std::exchange(basis_, simulate::Basis::assumed)});
  }

  // `op`: the name of measured rows.
  void memory_op(std::string_view name, std::string_view op, double forward_bytes, double backward_bytes) {
    add(out_.forward, name, bytewise(op, false, forward_bytes));
    add(out_.input_gradient, name, bytewise(op, true, backward_bytes));
  }

  // In 8-bit floats: both operands are read in one byte an element, sums are written in two.
  double eight_bit_seconds(double m, double k, double n, char layout) const {
    const double operations = 2 * m * k * n;
    if (shapes_ != nullptr) {
      if (const auto share = share_of(m, k, n, layout, simulate::ProductType::fp8)) {
        basis_ = share->basis;
        return c_.launch + operations / (c_.eight_bit_operations * share->efficiency);
      }
    }
    const double bytes = m * k + k * n + 2 * m * n;
    return c_.launch + std::max(operations / (c_.eight_bit_operations * c_.matmul_efficiency.at(operations)),
                                bytes / (c_.memory_bytes_per_second * c_.memory_efficiency.at(bytes)));
  }

  // What a product with weights needs before it: its operands are read in two bytes an element and written in one, twice: the gradient of
  // the weights takes them the other way around. Weights are brought to 8 bits in the forward pass.
  void casts(double activations, double weights, double gradients) {
    const double operands = activations + weights;
    add(out_.forward, "casts to 8 bits", bytewise("casts", false, 4 * operands));
    add(out_.input_gradient, "casts to 8 bits", bytewise("casts", true, 4 * gradients));
    if (unfused("casts_again") != nullptr) add(out_.weight_gradient, "casts to 8 bits again", bytewise("casts_again", true, operands));
  }

  bool eight_bits() const { return s_.precision != Precision::bf16; }

  // (m, k) times (k, n). `count` of them at once have no weights: both gradients are of inputs.
  // `parts`: of a product that trainers call as several, the widths of the others.
  void product(std::string_view name, double m, double k, double n, double count = 1, std::initializer_list<double> parts = {}) {
    const std::size_t before = out_.forward.size();
    write_product(name, m, k, n, count);
    if (s_.recompute != Recompute::alternate || count > 1) return;
    // The results of the first, the third and so on are kept; the others are made again.
    double again = n;
    const auto call = [&](double width) {
      if (++calls_ % 2 == 0) return;
      again -= width;
      kept_products_ += 2 * m * width;
    };
    double rest = n;
    for (const double width : parts) call(width), rest -= width;
    call(rest);
    for (std::size_t i = before; i < out_.forward.size(); ++i) share_again_.emplace_back(i, again / n);
  }

  void write_product(std::string_view name, double m, double k, double n, double count) {
    if (eight_bits() && count == 1) {
      casts(m * k, k * n, m * n);
      add(out_.forward, name, eight_bit_seconds(m, k, n, 'f'));
      add(out_.input_gradient, name, eight_bit_seconds(m, n, k, 'i'));
      add(out_.weight_gradient, name, eight_bit_seconds(n, m, k, 'w'));
      return;
    }
    add(out_.forward, name, product_seconds(m, k, n, count, 'f'));
    add(out_.input_gradient, name, product_seconds(m, n, k, count, 'i'));
    add(count > 1 ? out_.input_gradient : out_.weight_gradient, name, product_seconds(n, m, k, count, 'w'));
  }

  std::string_view norm_op() const { return m_.gated ? "rms_norm" : "layer_norm"; }

  void keep(double bytes) { out_.activation_bytes += bytes; }

  // --- parts of a layer -----------------------------------------------------------------------------------------------------------------

  void norm(std::string_view name) {
    memory_op(name, norm_op(), 4 * width_ * norm_share_, 10 * width_ * norm_share_);
    keep(2 * width_ * norm_share_);                                           // its input
    keep(2 * width_ * (split_ && !s_.regather && t_ > 1 ? 1 : norm_share_));  // its result, the products' operand
  }

  // Of what a part of the layer gives, before it is added.
  void norm_behind(std::string_view name) {
    memory_op(name, norm_op(), 4 * width_ * norm_share_, 10 * width_ * norm_share_);
    keep(2 * width_ * norm_share_);
  }

  void residual(std::string_view name) {
    memory_op(name, m_.dropout ? "add_dropout" : "add", (m_.dropout ? 7 : 6) * width_ * norm_share_,
              (m_.dropout ? 5 : 4) * width_ * norm_share_);
    if (m_.dropout) keep(width_ * norm_share_);
  }

  // Before a region of split products (`opens`) and after it.
  void join(bool opens) {
    if (s_.tensor == 1) return;
    const double bytes = 2 * width_;
    const auto seconds = [&](Collective what) { return simulate::transfer_time(c_, what, bytes, levels_.tensor).seconds; };
    if (!s_.sequence_parallel && !s_.split_all_reduce) {
      // What opens a region going forward closes it on the way back.
      join_op(opens ? out_.input_gradient : out_.forward, "all-reduce", seconds(Collective::all_reduce), opens);
      return;
    }
    const double gather = seconds(Collective::all_gather), scatter = seconds(Collective::reduce_scatter);
    if (s_.split_all_reduce) {
      auto& phase = opens ? out_.input_gradient : out_.forward;
      join_op(phase, "reduce-scatter", scatter, opens);
      join_op(phase, "all-gather", gather, opens);
      return;
    }
    join_op(out_.forward, opens ? "all-gather" : "reduce-scatter", opens ? gather : scatter, opens);
    join_op(out_.input_gradient, opens ? "reduce-scatter" : "all-gather", opens ? scatter : gather, opens);
    // Beside the weights' gradients, which are long.
    if (opens && s_.regather) add(out_.weight_gradient, "all-gather again", 0, LayerTransfer::tensor);
  }

  void join_op(std::vector<LayerOp>& phase, std::string_view name, double seconds, bool opens) {
    joins_.push_back({&phase, phase.size(), opens});
    add(phase, name, seconds, LayerTransfer::tensor);
  }

  // What is seen of a transfer beside the product that it feeds, or that feeds it. A ring's first part, and half of two halves, stand
  // alone.
  void overlap() {
    if (s_.tensor_overlap == TensorOverlap::none) return;
    for (const Join& j : joins_) {
      const std::vector<LayerOp>& ops = *j.phase;
      std::size_t i = j.position;
      const auto moves = [&](std::size_t op) { return ops[op].transfer != LayerTransfer::none; };
      while (moves(i) && (j.opens ? i + 1 < ops.size() : i > 0)) i = j.opens ? i + 1 : i - 1;
      const double product = moves(i) ? 0 : ops[i].seconds, parts = s_.tensor_overlap == TensorOverlap::ring ? t_ : 2;
      double& seconds = (*j.phase)[j.position].seconds;
      seconds = std::max(seconds / parts, seconds - product * (parts - 1) / parts) + 2 * c_.launch;
    }
  }

  void attention() {
    const auto d = static_cast<double>(m_.size_of_head());
    // A device has one head of keys and values at least.
    const double q = static_cast<double>(m_.heads) * d / t_, kv = std::max(1.0, static_cast<double>(m_.keys()) / t_) * d;
    product("queries, keys, values", tokens_, static_cast<double>(m_.hidden), q + 2 * kv, 1, {q, kv});
    if (m_.norms_heads) {
      memory_op("norms of heads", norm_op(), 4 * tokens_ * (q + kv), 10 * tokens_ * (q + kv));
      keep(2 * tokens_ * (q + kv));
    }
    memory_op("positions", "rotary", 4 * tokens_ * (q + kv), 4 * tokens_ * (q + kv));
    keep(2 * tokens_ * (q + 2 * kv));
    core(d, d, 2 * tokens_ * 2 * kv);
    product("projection", tokens_, q, static_cast<double>(m_.hidden));
    keep(2 * tokens_ * q);
  }

  void latent_attention() {
    const auto h = static_cast<double>(m_.hidden), qr = static_cast<double>(m_.query_rank), kr = static_cast<double>(m_.kv_rank),
               d = static_cast<double>(m_.size_of_head()), pos = static_cast<double>(m_.position_size),
               value = static_cast<double>(m_.value_size), a = static_cast<double>(m_.heads) / t_;
    if (qr > 0) product("queries down", tokens_, h, qr);
    product("queries up", tokens_, qr > 0 ? qr : h, a * (d + pos));
    product("keys, values down", tokens_, h, kr + pos);
    product("keys, values up", tokens_, kr, a * (d + value));
    memory_op("norms of ranks", norm_op(), 4 * tokens_ * (qr + kr), 10 * tokens_ * (qr + kr));
    memory_op("positions", "rotary", 8 * tokens_ * a * (d + pos), 8 * tokens_ * a * (d + pos));
    keep(tokens_ * (4 * qr + 4 * kr + 2 * pos));
    keep(2 * tokens_ * a * (2 * (d + pos) + value));
    core(d + pos, value, 2 * tokens_ * a * (d + pos + value));
    product("projection", tokens_, a * value, h);
    keep(2 * tokens_ * a * value);
  }

  // Scores, softmax, and what they weigh.
  void core(double qk, double value, double kv_bytes) {
    const auto seq = static_cast<double>(m_.seq), here = seq / static_cast<double>(s_.context), b = static_cast<double>(s_.microbatch);
    const double a = static_cast<double>(m_.heads) / t_;
    if (s_.context > 1) {
      const double whole = kv_bytes * static_cast<double>(s_.context);
      const auto seconds = [&](Collective what, double bytes) { return simulate::transfer_time(c_, what, bytes, levels_.context).seconds; };
      add(out_.forward, "gather keys, values", seconds(Collective::all_gather, whole), LayerTransfer::context);
      add(out_.input_gradient, "gather keys, values", seconds(Collective::all_gather, whole), LayerTransfer::context);
      add(out_.input_gradient, "scatter their gradients", seconds(Collective::reduce_scatter, 2 * whole), LayerTransfer::context);
    }
    const std::size_t first = out_.forward.size();
    if (m_.keeps_scores) {
      const double scores = a * here * seq * b;
      product("scores", here, qk, seq, b * a);
      memory_op("softmax", "softmax", 4 * scores, 6 * scores);
      if (m_.dropout) memory_op("dropout", "dropout", 5 * scores, 5 * scores);
      product("weighted values", here, seq, value, b * a);
      const double bytes = (m_.dropout ? 5 : 2) * scores;
      keep(s_.recompute == Recompute::selective ? 0 : bytes);
      if (s_.recompute == Recompute::selective) out_.working_bytes += bytes;
    } else {
      const double operations = 2 * b * here * seq * a * (qk + value) * m_.attended;
      add(out_.forward, "attention", c_.launch + operations / (c_.half_operations * flash(qk, a, false)));
      add(out_.input_gradient, "attention", c_.launch + 2.5 * operations / (c_.half_operations * flash(qk, a, true)));
    }
    if (s_.recompute == Recompute::alternate) {
      // Attention is not made again: its result is kept.
      for (std::size_t i = first; i < out_.forward.size(); ++i) share_again_.emplace_back(i, 0);
      kept_products_ += 2 * tokens_ * a * value;
    }
    if (s_.recompute == Recompute::selective) {
      out_.again.assign(out_.forward.begin() + static_cast<std::ptrdiff_t>(first), out_.forward.end());
    }
  }

  double flash(double qk, double heads, bool backward) const {
    const double otherwise = backward ? c_.attention_backward : c_.attention_forward;
    if (shapes_ == nullptr) return otherwise;
    const double seq = static_cast<double>(m_.seq) / static_cast<double>(s_.context), rows = heads * static_cast<double>(s_.microbatch);
    const auto find = [&] { return nearest_attention(qk, seq, rows, backward); };
    const auto share = prices_ != nullptr ? prices_->attention(qk, seq, rows, backward, find) : find();
    if (!share) return otherwise;
    basis_ = share->basis;
    return share->efficiency;
  }
  // The nearest that was measured for this size of heads: by the length of a sequence, then by how many rows of heads there are at once.
  std::optional<simulate::MeasuredShare> nearest_attention(double qk, double seq, double rows, bool backward) const {
    std::optional<simulate::MeasuredShare> best;
    double nearest = std::numeric_limits<double>::infinity();
    for (const auto& a : shapes_->attentions) {
      if (a.backward != backward || static_cast<double>(a.head_size) != qk) continue;
      const double distance =
          2 * std::abs(std::log(static_cast<double>(a.seq) / seq)) + std::abs(std::log(static_cast<double>(a.heads * a.batch) / rows));
      if (distance < nearest) nearest = distance, best = {a.efficiency, simulate::Basis::interpolated};
    }
    if (nearest < 1e-9) best->basis = simulate::Basis::measured;
    return best;
  }

  void dense(double ffn) {
    const auto h = static_cast<double>(m_.hidden);
    const double f = ffn / t_;
    if (m_.gated)
      product("up", tokens_, h, 2 * f, 1, {f});
    else
      product("up", tokens_, h, f);
    memory_op("activation", m_.gated ? "gated" : "gelu", (m_.gated ? 6 : 4) * tokens_ * f, (m_.gated ? 10 : 8) * tokens_ * f);
    product("down", tokens_, f, h);
    keep((m_.gated ? 6 : 4) * tokens_ * f);
  }

  void experts() {
    const auto h = static_cast<double>(m_.hidden), f = static_cast<double>(m_.expert_ffn), each = static_cast<double>(m_.experts_each),
               e = static_cast<double>(m_.experts), ep = static_cast<double>(s_.expert_in_data);
    const double routed = tokens_ * each;  // tokens that a device gets, evenly spread
    product("router", tokens_, h, e);
    memory_op("permute", "permute", 8 * routed * h, 8 * routed * h);
    exchange(2 * routed * h);
    grouped("experts up", e / ep, routed * ep / e, (m_.gated ? 2 : 1) * f, h);
    memory_op("activation of experts", m_.gated ? "gated" : "gelu", 6 * routed * f, 10 * routed * f);
    grouped("experts down", e / ep, routed * ep / e, h, f);
    exchange(2 * routed * h);
    memory_op("unpermute", "unpermute", 6 * routed * h, 8 * routed * h);
    keep(routed * (4 * h + (m_.gated ? 6 : 4) * f));
    if (m_.shared_experts > 0) dense(static_cast<double>(m_.shared_experts) * f);
  }

  void exchange(double bytes) {
    if (s_.expert_in_data == 1) return;
    const double seconds = simulate::transfer_time(c_, Collective::all_to_all, bytes, levels_.expert).seconds;
    add(out_.forward, "all-to-all", seconds, LayerTransfer::experts);
    add(out_.input_gradient, "all-to-all", seconds, LayerTransfer::experts);
  }

  void grouped(std::string_view name, double groups, double m, double n, double k) {
    if (eight_bits()) {
      casts(groups * m * k, groups * k * n, groups * m * n);
      add(out_.forward, name, grouped_eight_bit(groups, m, n, k));
      add(out_.input_gradient, name, grouped_eight_bit(groups, m, k, n));
      add(out_.weight_gradient, name, grouped_eight_bit(groups, m, n, k));
      return;
    }
    add(out_.forward, name, grouped_seconds(groups, m, n, k, 'f'));
    add(out_.input_gradient, name, grouped_seconds(groups, m, k, n, 'i'));
    add(out_.weight_gradient, name, grouped_seconds(groups, m, n, k, 'w'));
  }

  double grouped_eight_bit(double groups, double m, double n, double k) const {
    const double one = 2 * m * n * k;
    return c_.launch + groups * one / (c_.eight_bit_operations * c_.matmul_efficiency.at(one));
  }

  double grouped_seconds(double groups, double m, double n, double k, char layout) const {
    const double operations = 2 * groups * m * n * k;
    if (shapes_ != nullptr) {
      const double wide = layout == 'i' ? k : n, deep = layout == 'i' ? n : k;  // measured under the shape of the forward product
      for (const auto& g : shapes_->grouped) {
        if (g.layout == layout && static_cast<double>(g.groups) == groups && static_cast<double>(g.n) == wide &&
            static_cast<double>(g.k) == deep && std::abs(static_cast<double>(g.m) - m) < 0.02 * m) {
          basis_ = simulate::Basis::measured;
          return c_.launch + operations / (c_.half_operations * g.efficiency);
        }
      }
    }
    return c_.launch + operations / (c_.half_operations * c_.matmul_efficiency.at(2 * m * n * k));
  }

  // The way back needs neither the result of the last product nor what comes after it.
  void stop_early() {
    if (!c_.stops_early || m_.norms == 4 || m_.parallel) return;
    std::vector<LayerOp>& ops = out_.again;
    const auto ends = [&](std::string_view name) {
      if (ops.empty() || ops.back().name != name) return;
      ops.pop_back();
      while (!ops.empty() && ops.back().transfer != LayerTransfer::none) ops.pop_back();
    };
    ends("residual 2");
    ends("down");
  }

  void finish() {
    overlap();
    if (s_.recompute == Recompute::alternate) {
      out_.again = out_.forward;
      for (const auto& [op, share] : share_again_) out_.again[op].seconds *= share;
      stop_early();
      out_.working_bytes += out_.activation_bytes;
      out_.activation_bytes = 2 * width_ * norm_share_ + kept_products_;
    }
    if (s_.recompute == Recompute::full) {
      out_.again = out_.forward;
      stop_early();
      out_.working_bytes += out_.activation_bytes;
      out_.activation_bytes = 2 * width_ * norm_share_;
    }
    const auto sum = [&](const std::vector<LayerOp>& ops, double& into, bool again) {
      for (const LayerOp& o : ops) {
        into += o.seconds;
        out_.basis_seconds[static_cast<std::size_t>(o.basis)] += o.seconds;
        if (o.transfer == LayerTransfer::none)
          out_.computing_seconds += o.seconds;
        else if (!again)
          out_.transfer_seconds[static_cast<std::size_t>(o.transfer)] += o.seconds;
      }
    };
    sum(out_.forward, out_.forward_seconds, false);
    sum(out_.input_gradient, out_.input_seconds, false);
    sum(out_.weight_gradient, out_.weight_seconds, false);
    sum(out_.again, out_.again_seconds, true);
  }

  const Transformer& m_;
  const Cluster& c_;
  const Strategy& s_;
  bool with_experts_;
  const MeasuredShapes* shapes_;
  PriceMemo* prices_;
  Groups levels_;
  // Of the op that is being priced.
  mutable simulate::Basis basis_ = simulate::Basis::assumed;
  double t_ = 1, tokens_ = 0, width_ = 0, norm_share_ = 1;
  bool split_ = false;
  struct Join {
    std::vector<LayerOp>* phase;
    std::size_t position;
    bool opens;
  };
  std::vector<Join> joins_;
  // Of recompute=alternate: products that were called, bytes of results that are kept, and which share of an op is made again.
  int calls_ = 0;
  double kept_products_ = 0;
  std::vector<std::pair<std::size_t, double>> share_again_;
  LayerCosts out_;

  friend double head_seconds(const Transformer&, const Cluster&, const Strategy&, const MeasuredShapes*, PriceMemo*);
};

LayerCosts layer_costs(const Transformer& model, const simulate::Cluster& cluster, const Strategy& s, bool with_experts,
                       const MeasuredShapes* shapes, PriceMemo* prices) {
  return LayerWriter(model, cluster, s, with_experts, shapes, prices).write();
}

double head_seconds(const Transformer& model, const simulate::Cluster& cluster, const Strategy& s, const MeasuredShapes* shapes,
                    PriceMemo* prices) {
  if (model.vocab == 0) return 0;
  LayerWriter w(model, cluster, s, false, shapes, prices);
  const auto h = static_cast<double>(model.hidden), v = static_cast<double>(model.vocab) / static_cast<double>(s.tensor);
  return w.product_seconds(w.tokens_, h, v, 1, 'f') + w.product_seconds(w.tokens_, v, h, 1, 'i') +
         w.product_seconds(v, w.tokens_, h, 1, 'w') + w.bytewise("cross_entropy", false, cluster.loss_bytes * w.tokens_ * v);
}

}  // namespace pando::search
