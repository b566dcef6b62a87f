#include "simulate/costs/mlp_oracle_test.h"

#include <array>
#include <map>
#include <optional>

namespace pando::simulate {

namespace {

// One rank's values of one microbatch.
struct Values {
  std::vector<SlotId> in, before, after;  // per layer of the stage: operand of the product, product, activation
  SlotId gradient = 0;
};

class MlpWriter {
 public:
  MlpWriter(const MlpShape& s, const ReferenceCosts& costs) : s_(s), costs_(costs), body_(program_.bodies.emplace_back()), w_(body_) {
    rows_ = s.batch / s.data / s.microbatches;
    const std::int64_t ranks = s.data * s.tensor * s.pipeline;
    for (std::int64_t r = 0; r < ranks; ++r) body_.device({static_cast<std::int32_t>(r + 1), false});
  }

  Program write() {
    give_inputs();
    for (const auto& now : timesteps()) {
      std::vector<std::pair<std::int64_t, std::int64_t>> forward, backward;
      for (std::int64_t k = 0; k < s_.pipeline; ++k) {
        const auto& [stage, m] = now[static_cast<std::size_t>(k)];
        if (m < 0) continue;
        if (stage == 0)
          run_forward(k, m), forward.emplace_back(k, m);
        else
          run_backward(k, m), backward.emplace_back(k, m);
      }
      for (const auto& [k, m] : forward) send_forward(k, m);
      for (const auto& [k, m] : backward) send_backward(k, m);
    }
    reduce_and_update();
    for (Slot& s : body_.slots) s.kept |= s.uses == 0;
    return std::move(program_);
  }

 private:
  std::int64_t layers() const { return s_.layers / s_.pipeline; }
  std::uint32_t rank(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return static_cast<std::uint32_t>(i * s_.tensor * s_.pipeline + j * s_.pipeline + k);
  }
  template <class F>
  void each_rank(std::int64_t k, F f) {
    for (std::int64_t i = 0; i < s_.data; ++i) {
      for (std::int64_t j = 0; j < s_.tensor; ++j) f(rank(i, j, k));
    }
  }
  // Width of what a product reads and gives, on one rank.
  std::int64_t in_width(std::int64_t layer) const { return layer % 2 == 0 ? s_.dim : s_.dim / s_.tensor; }
  std::int64_t out_width(std::int64_t layer) const { return layer % 2 == 0 ? s_.dim / s_.tensor : s_.dim; }

  void give_inputs() {
    const auto ranks = static_cast<std::size_t>(s_.data * s_.tensor * s_.pipeline);
    weights_.resize(ranks);
    gradients_.assign(ranks, std::vector<SlotId>(static_cast<std::size_t>(layers())));
    values_.resize(ranks, std::vector<Values>(static_cast<std::size_t>(s_.microbatches)));
    target_.resize(ranks), scalar_.resize(ranks), loss_.resize(ranks), d_input_.resize(ranks);
    const std::int64_t bytes = rows_ * s_.dim * s_.element_bytes;
    for (std::int64_t k = 0; k < s_.pipeline; ++k) {
      each_rank(k, [&](std::uint32_t r) {
        for (std::int64_t m = 0; m < s_.microbatches; ++m) {
          values_[r][static_cast<std::size_t>(m)].in.push_back(k == 0 ? w_.input(bytes, r, MemoryKind::buffers) : 0);
          if (k + 1 == s_.pipeline) target_[r].push_back(w_.input(bytes, r, MemoryKind::buffers));
        }
        if (k + 1 == s_.pipeline) scalar_[r] = w_.input(4, r, MemoryKind::buffers);
        for (std::int64_t l = 0; l < layers(); ++l) {
          const std::int64_t layer = k * layers() + l;
          weights_[r].push_back(w_.input(in_width(layer) * out_width(layer) * s_.element_bytes, r, MemoryKind::weights));
        }
      });
    }
  }

  // Eager 1F1B: each stage alternates, forward first, and takes what is ready, lowest microbatch first.
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> timesteps() const {
    const auto p = static_cast<std::size_t>(s_.pipeline);
    std::vector<std::int64_t> forward_ready(p, 0), backward_ready(p, 0), forward_done(p, 0), backward_done(p, 0);
    std::vector<bool> wants_forward(p, true);
    forward_ready[0] = s_.microbatches;
    std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> all;
    while (backward_done[0] < s_.microbatches) {
      std::vector<std::pair<std::int64_t, std::int64_t>> now(p, {0, -1});
      for (std::size_t k = 0; k < p; ++k) {
        const bool f = forward_done[k] < forward_ready[k], b = backward_done[k] < backward_ready[k];
        if (!f && !b) continue;
        const bool go = wants_forward[k] ? f : !b;
        now[k].first = go ? 0 : 1;
        now[k].second = go ? forward_done[k]++ : backward_done[k]++;
        wants_forward[k] = !go;
      }
      for (std::size_t k = 0; k < p; ++k) {
        if (now[k].second < 0) continue;
        if (now[k].first == 0)
          (k + 1 < p ? forward_ready[k + 1] : backward_ready[k])++;
        else if (k > 0)
          backward_ready[k - 1]++;
      }
      all.push_back(std::move(now));
    }
    return all;
  }

  SlotId op(const char* name, double seconds, std::initializer_list<SlotId> operands, std::int64_t bytes, std::uint32_t r) {
    const SlotId out = w_.slot(bytes, r);
    w_.step(StepKind::compute, program_.label(name), seconds, operands, std::array{out});
    return out;
  }

  void all_reduce(std::vector<SlotId*> parts, std::int64_t bytes) {
    std::vector<SlotId> in, out;
    for (SlotId* p : parts) {
      in.push_back(*p);
      out.push_back(w_.slot(bytes, body_.slots[*p].device));
    }
    w_.step(StepKind::transfer, program_.label("MPIAllreduce"), costs_.all_reduce(bytes, static_cast<std::int64_t>(parts.size())), in, out);
    for (std::size_t i = 0; i < parts.size(); ++i) *parts[i] = out[i];
  }

  // Over the tensor-parallel ranks of each replica.
  template <class F>
  void reduce_over_tensor(std::int64_t k, F of_rank, std::int64_t bytes) {
    if (s_.tensor == 1) return;
    for (std::int64_t i = 0; i < s_.data; ++i) {
      std::vector<SlotId*> parts;
      for (std::int64_t j = 0; j < s_.tensor; ++j) parts.push_back(of_rank(rank(i, j, k)));
      all_reduce(parts, bytes);
    }
  }

  // What a microbatch adds to a result of the whole batch.
  void accumulate(std::optional<SlotId>& sum, SlotId part, std::int64_t m, bool concat, std::int64_t elements, std::uint32_t r) {
    if (s_.microbatches == 1) {
      sum = part;
      return;
    }
    const std::int64_t bytes = elements * s_.element_bytes;
    if (m == 0)
      sum = op("Identity", 0, {part}, bytes, r);
    else if (concat)
      sum = op("Concat", costs_.launch(), {*sum, part}, bytes * (m + 1), r);
    else
      sum = op("Add", costs_.elementwise(elements, s_.element_bytes, 2), {*sum, part}, bytes, r);
  }

  void run_forward(std::int64_t k, std::int64_t m) {
    for (std::int64_t l = 0; l < layers(); ++l) {
      const std::int64_t layer = k * layers() + l, out = rows_ * out_width(layer);
      each_rank(k, [&](std::uint32_t r) {
        Values& v = values_[r][static_cast<std::size_t>(m)];
        v.before.push_back(op("MatMul", costs_.matmul(rows_, in_width(layer), out_width(layer), s_.element_bytes),
                              {v.in.back(), weights_[r][static_cast<std::size_t>(l)]}, out * s_.element_bytes, r));
      });
      if (layer % 2 == 1) {
        reduce_over_tensor(
            k, [&](std::uint32_t r) { return &values_[r][static_cast<std::size_t>(m)].before.back(); }, out * s_.element_bytes);
      }
      each_rank(k, [&](std::uint32_t r) {
        Values& v = values_[r][static_cast<std::size_t>(m)];
        v.after.push_back(op("Relu", costs_.elementwise(out, s_.element_bytes, 1), {v.before.back()}, out * s_.element_bytes, r));
        v.in.push_back(v.after.back());
      });
    }
    if (k + 1 < s_.pipeline) return;
    const std::int64_t out = rows_ * s_.dim;
    each_rank(k, [&](std::uint32_t r) {
      Values& v = values_[r][static_cast<std::size_t>(m)];
      const SlotId target = target_[r][static_cast<std::size_t>(m)];
      const SlotId l =
          op("Loss", costs_.elementwise(out, s_.element_bytes, 1), {v.after.back(), target, scalar_[r]}, out * s_.element_bytes, r);
      accumulate(loss_[r], l, m, true, out, r);
      v.gradient =
          op("LossGrad", costs_.elementwise(out, s_.element_bytes, 1), {v.after.back(), target, scalar_[r]}, out * s_.element_bytes, r);
    });
  }

  void run_backward(std::int64_t k, std::int64_t m) {
    for (std::int64_t l = layers(); l-- > 0;) {
      const std::int64_t layer = k * layers() + l, in = rows_ * in_width(layer), out = rows_ * out_width(layer);
      each_rank(k, [&](std::uint32_t r) {
        Values& v = values_[r][static_cast<std::size_t>(m)];
        v.gradient = op("ReluGrad", costs_.elementwise(out, s_.element_bytes, 2), {v.before[static_cast<std::size_t>(l)], v.gradient},
                        out * s_.element_bytes, r);
      });
      std::map<std::uint32_t, SlotId> parts;
      each_rank(k, [&](std::uint32_t r) {
        Values& v = values_[r][static_cast<std::size_t>(m)];
        const SlotId dx = w_.slot(in * s_.element_bytes, r), dw = w_.slot(in_width(layer) * out_width(layer) * s_.element_bytes, r);
        w_.step(StepKind::compute, program_.label("MatMulGrad"),
                costs_.matmul_gradients(rows_, in_width(layer), out_width(layer), s_.element_bytes),
                std::array{v.in[static_cast<std::size_t>(l)], weights_[r][static_cast<std::size_t>(l)], v.gradient}, std::array{dx, dw});
        v.gradient = dx;
        parts[r] = dw;
      });
      if (layer % 2 == 0) {
        reduce_over_tensor(k, [&](std::uint32_t r) { return &values_[r][static_cast<std::size_t>(m)].gradient; }, in * s_.element_bytes);
      }
      each_rank(k, [&](std::uint32_t r) {
        if (layer == 0) accumulate(d_input_[r], values_[r][static_cast<std::size_t>(m)].gradient, m, true, in, r);
        std::optional<SlotId> sum = gradients_[r][static_cast<std::size_t>(l)];
        accumulate(sum, parts[r], m, false, in_width(layer) * out_width(layer), r);
        gradients_[r][static_cast<std::size_t>(l)] = *sum;
      });
    }
  }

  void send_forward(std::int64_t k, std::int64_t m) {
    if (k + 1 == s_.pipeline) return;
    const std::int64_t bytes = rows_ * out_width(k * layers() + layers() - 1) * s_.element_bytes;
    each_rank(k, [&](std::uint32_t r) {
      values_[r + 1][static_cast<std::size_t>(m)].in[0] = send(values_[r][static_cast<std::size_t>(m)].after.back(), bytes, r + 1);
    });
  }
  void send_backward(std::int64_t k, std::int64_t m) {
    if (k == 0) return;
    const std::int64_t bytes = rows_ * in_width(k * layers()) * s_.element_bytes;
    each_rank(k, [&](std::uint32_t r) {
      values_[r - 1][static_cast<std::size_t>(m)].gradient = send(values_[r][static_cast<std::size_t>(m)].gradient, bytes, r - 1);
    });
  }
  SlotId send(SlotId what, std::int64_t bytes, std::uint32_t to) {
    const SlotId there = w_.slot(bytes, to);
    w_.step(StepKind::transfer, program_.label("Send"), costs_.send(bytes), std::array{what}, std::array{there});
    return there;
  }

  void reduce_and_update() {
    for (std::int64_t k = s_.pipeline; k-- > 0 && s_.data > 1;) {
      for (std::int64_t l = layers(); l-- > 0;) {
        const std::int64_t layer = k * layers() + l, bytes = in_width(layer) * out_width(layer) * s_.element_bytes;
        for (std::int64_t j = 0; j < s_.tensor; ++j) {
          std::vector<SlotId*> parts;
          for (std::int64_t i = 0; i < s_.data; ++i) parts.push_back(&gradients_[rank(i, j, k)][static_cast<std::size_t>(l)]);
          all_reduce(parts, bytes);
        }
      }
    }
    for (std::size_t r = 0; r < weights_.size(); ++r) {
      std::vector<SlotId> operands = weights_[r];
      operands.insert(operands.end(), gradients_[r].begin(), gradients_[r].end());
      const std::int64_t last = body_.slots[weights_[r].back()].bytes / s_.element_bytes;
      Step& s =
          w_.step(StepKind::compute, program_.label("SGDOptimizer"), costs_.elementwise(last, s_.element_bytes, 2), operands, weights_[r]);
      s.in_place = true;
    }
  }

  MlpShape s_;
  const ReferenceCosts& costs_;
  Program program_;
  Body& body_;
  BodyWriter w_;
  std::int64_t rows_ = 0;
  std::vector<std::vector<SlotId>> weights_, gradients_;
  std::vector<std::vector<Values>> values_;
  std::vector<std::vector<SlotId>> target_;
  std::vector<SlotId> scalar_;
  std::vector<std::optional<SlotId>> loss_, d_input_;
};

}  // namespace

Program reference_mlp(const MlpShape& shape, const ReferenceCosts& costs) { return MlpWriter(shape, costs).write(); }

}  // namespace pando::simulate
