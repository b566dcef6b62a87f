#include "onnx/rules/attention.h"

#include <cmath>
#include <limits>

namespace pando::onnx {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

// (batch, length, heads * size) as (batch, heads, length, size).
ValueId heads_apart(Context& c, ValueId v, std::int64_t heads) {
  const Shape s = c.shape(v);
  if (heads < 1 || s[2] % heads != 0) c.reject(fmt::format("{} elements for {} heads", s[2], heads));
  return c.transpose(c.reshape(v, {s[0], s[1], heads, s[2] / heads}), {0, 2, 1, 3});
}

ValueId heads_together(Context& c, ValueId v) {
  const Shape s = c.shape(v);
  return c.reshape(c.transpose(v, {0, 2, 1, 3}), {s[0], s[2], s[1] * s[3]});
}

ValueId counted(Context& c, std::int64_t n) {
  Ints all;
  for (std::int64_t i = 0; i < n; ++i) all.push_back(i);
  return c.integers(all);
}

// What is added to the scores, and where keys may be seen: both broadcast to (batch, heads, queries, keys), or are invalid.
struct Masks {
  ValueId bias, visible;

  void both(Context& c, ValueId more) { visible = visible.valid() ? c.op("logical_and", {visible, more}) : more; }
};

void add_given_mask(Context& c, Masks& m, std::int64_t keys) {
  ValueId mask = c.operand(3);
  const bool truth = c.dtype(mask) == DType::boolean;
  const Shape s = c.shape(mask);
  if (s.empty() || s.back() > keys) c.reject(fmt::format("a mask of shape {} for {} keys", ir::to_string(s), keys));
  if (s.back() < keys && s.back() != 1) {
    Ints pads(2 * s.size(), 0);
    pads.back() = keys - s.back();
    mask = c.composition("pad", {mask, c.scalar(c.dtype(mask), truth ? 0 : kNever)}, {{"pads", pads}});
  }
  if (truth) {
    m.both(c, mask);
  } else {
    m.bias = mask;
  }
}

// Bounds of which keys a query sees, by the distance of both: how many keys stand before a query's block, and their number, may be
// different in each entry of the batch.
void add_positions(Context& c, Masks& m, std::int64_t queries, std::int64_t keys) {
  const bool causal = c.flag("is_causal", false);
  const std::int64_t left = c.ranged("left_window_size", -1, -1, 1 << 30), right = c.ranged("right_window_size", -1, -1, 1 << 30);
  const ValueId key = c.reshape(counted(c, keys), {1, 1, 1, keys});
  ValueId count;
  if (c.has(6)) {
    count = c.reshape(c.cast(c.operand(6), DType::int32), {ir::elements_of(c.shape_of(6)), 1, 1, 1});
    m.both(c, c.op("less", {key, count}));
  }
  if (!causal && left < 0 && right < 0) return;
  ValueId query = c.reshape(counted(c, queries), {1, 1, queries, 1});
  const auto number = [&](std::int64_t n) { return c.scalar(DType::int32, static_cast<double>(n)); };
  if (c.has(4)) query = c.op("add", {query, number(c.shape_of(4)[2])});
  if (c.has(6)) query = c.op("add", {query, c.op("sub", {count, number(queries)})});
  const ValueId behind = c.op("sub", {query, key});
  if (causal) m.both(c, c.composition("greater_equal", {behind, number(0)}));
  if (left >= 0) m.both(c, c.composition("less_equal", {behind, number(left)}));
  if (right >= 0) m.both(c, c.composition("greater_equal", {behind, number(-right)}));
}

// With the past in front.
ValueId continued(Context& c, ValueId now, std::size_t past) {
  if (!c.has(past)) return now;
  const Shape p = c.shape_of(past), s = c.shape(now);
  if (p.size() != 4 || p[0] != s[0] || p[1] != s[1] || p[3] != s[3])
    c.reject(fmt::format("a past of shape {} for {}", ir::to_string(p), ir::to_string(s)));
  return c.concat({c.operand(past), now}, 2);
}

// Softmax over the keys; 0 for queries that see none.
ValueId shares_of(Context& c, ValueId scores, const Masks& m, DType wide) {
  ValueId shares = c.op("softmax", {c.cast(scores, wide)}, {{"axis", std::int64_t{3}}});
  const ValueId zero = c.scalar(wide, 0);
  if (m.visible.valid()) {
    ValueId seen = c.cast(m.visible, DType::int32);
    seen = c.reduce("max", seen, {c.rank(seen) - 1}, true);
    shares = c.where(c.op("greater", {seen, c.scalar(DType::int32, 0)}), shares, zero);
  }
  if (m.bias.valid()) {
    const ValueId most = c.reduce("max", m.bias, {c.rank(m.bias) - 1}, true);
    shares = c.where(c.op("equal", {most, c.scalar(c.dtype(most), kNever)}), zero, shares);
  }
  return shares;
}

}  // namespace

ValueId for_each_query_head(Context& c, ValueId v, std::int64_t heads) {
  const Shape s = c.shape(v);
  if (s[1] == heads) return v;
  if (s[1] == 0 || heads % s[1] != 0) c.reject(fmt::format("{} heads of keys and values for {} of queries", s[1], heads));
  const ValueId wide = c.expand(c.reshape(v, {s[0], s[1], 1, s[2], s[3]}), {s[0], s[1], heads / s[1], s[2], s[3]});
  return c.reshape(wide, {s[0], heads, s[2], s[3]});
}

void attend(Context& c) {
  const std::size_t rank = c.rank_of(0);
  if ((rank != 3 && rank != 4) || c.rank_of(1) != rank || c.rank_of(2) != rank)
    c.reject("queries, keys and values have 3 dimensions, or 4");
  if (c.has(4) != c.has(5)) c.reject("one of 'past_key' and 'past_value' is given");
  if (c.has(6) && c.has(4)) c.reject("'nonpad_kv_seqlen' and a past are both given");
  const auto apart = [&](std::size_t i, const char* heads) {
    if (rank == 4) {
      if (c.has(heads) && c.integer(heads, 0) != c.shape_of(i)[1]) c.reject(fmt::format("attribute '{}' is not the data's", heads));
      return c.operand(i);
    }
    return heads_apart(c, c.operand(i), c.ranged(heads, 0, 1, 1 << 20));
  };
  const ValueId q = apart(0, "q_num_heads"), k = continued(c, apart(1, "kv_num_heads"), 4), v = continued(c, apart(2, "kv_num_heads"), 5);
  const Shape sq = c.shape(q), sk = c.shape(k), sv = c.shape(v);
  if (sq[3] != sk[3] || sk[2] != sv[2] || sk[1] != sv[1] || sq[0] != sk[0])
    c.reject(fmt::format("queries {}, keys {} and values {} do not fit", ir::to_string(sq), ir::to_string(sk), ir::to_string(sv)));
  const DType dtype = c.dtype(q);
  const double scale = std::sqrt(c.real("scale", 1 / std::sqrt(static_cast<double>(sq[3]))));
  const auto scaled = [&](ValueId x) { return c.op("mul", {x, c.scalar(dtype, scale)}); };
  ValueId scores = c.op("matmul", {scaled(q), c.transpose(scaled(for_each_query_head(c, k, sq[1])), {0, 1, 3, 2})});
  const std::int64_t mode = c.ranged("qk_matmul_output_mode", 0, 0, 3);
  ValueId shown = scores;
  if (const double cap = c.real("softcap", 0); cap != 0) {
    const ValueId most = c.scalar(dtype, cap);
    scores = c.op("mul", {c.op("tanh", {c.op("div", {scores, most})}), most});
    // Version 23 puts the cap behind the mask in mode 2; the first value that shows it is this one.
    if (mode >= 1) shown = scores;
  }
  Masks m;
  if (c.has(3)) add_given_mask(c, m, sk[2]);
  add_positions(c, m, sq[2], sk[2]);
  if (m.bias.valid()) scores = c.op("add", {scores, c.cast(m.bias, dtype)});
  if (m.visible.valid()) scores = c.where(m.visible, scores, c.scalar(dtype, kNever));
  if (mode == 2) shown = scores;
  const ValueId shares = c.cast(shares_of(c, scores, m, c.dtype_attribute("softmax_precision", dtype)), dtype);
  if (mode == 3) shown = shares;
  const ValueId y = c.op("matmul", {shares, for_each_query_head(c, v, sq[1])});
  c.results = {rank == 3 ? heads_together(c, y) : y, k, v, shown};
}

namespace {

// One step of a state (batch, heads, keys, values): decayed, then what the key finds is replaced or the outer product added.
ValueId next_state(Context& c, ValueId state, ValueId key, ValueId value, ValueId decay, ValueId beta, bool delta) {
  if (decay.valid()) state = c.op("mul", {state, c.op("exp", {decay})});
  ValueId change = value;
  if (delta) change = c.op("sub", {value, c.reduce("sum", c.op("mul", {state, key}), {2}, true)});
  if (delta && beta.valid()) change = c.op("mul", {change, beta});
  return c.op("add", {state, c.op("mul", {key, change})});
}

// Operand i, (batch, time, heads * size), at one time as (batch, heads, size). One number may be that of all heads.
ValueId at_time(Context& c, std::size_t i, std::int64_t t, std::int64_t heads) {
  const Shape s = c.shape_of(i);
  if (s.size() == 3 && s[2] == 1)
    return c.expand(c.reshape(c.cast(c.slice(c.operand(i), 1, t, 1), DType::float32), {s[0], 1, 1}), {s[0], heads, 1});
  if (s.size() != 3 || s[2] % heads != 0) c.reject(fmt::format("operand {} has shape {} for {} heads", i, ir::to_string(s), heads));
  return c.reshape(c.cast(c.slice(c.operand(i), 1, t, 1), DType::float32), {s[0], heads, s[2] / heads});
}

}  // namespace

void attend_linearly(Context& c) {
  const std::int64_t queries = c.ranged("q_num_heads", 0, 1, 1 << 20), heads = c.ranged("kv_num_heads", 0, 1, 1 << 20);
  const std::string update = c.word("update_rule", "gated_delta", {"linear", "gated", "delta", "gated_delta"});
  c.integer("chunk_size", 64);
  const Shape sq = c.shape_of(0), sk = c.shape_of(1), sv = c.shape_of(2);
  if (sq.size() != 3 || sk.size() != 3 || sv.size() != 3 || queries % heads != 0 || sk[2] % heads != 0 || sv[2] % heads != 0 ||
      sq[2] % queries != 0)
    c.reject(fmt::format("queries {}, keys {} and values {} for {} and {} heads", ir::to_string(sq), ir::to_string(sk), ir::to_string(sv),
                         queries, heads));
  const bool gated = update.starts_with("gated"), delta = update.ends_with("delta");
  if (gated && !c.has(4)) c.reject("'decay' is missing");
  if (delta && !c.has(5)) c.reject("'beta' is missing");
  if (sq[1] > 512) c.reject(fmt::format("{} steps; 512 are the most", sq[1]));
  const DType dtype = c.dtype_of(0);
  const std::int64_t batch = sq[0], keys = sk[2] / heads, values = sv[2] / heads, group = queries / heads;
  const double scale = c.has("scale") && c.real("scale", 0) != 0 ? c.real("scale", 0) : 1 / std::sqrt(static_cast<double>(keys));
  ValueId state = c.has(3) ? c.cast(c.operand(3), DType::float32) : c.full(DType::float32, {batch, heads, keys, values}, 0);
  Values outs;
  for (std::int64_t t = 0; t < sq[1]; ++t) {
    const auto column = [&](ValueId v) { return c.reshape(v, {batch, heads, c.shape(v)[2], 1}); };
    const auto row_of = [&](ValueId v) { return c.reshape(v, {batch, heads, 1, c.shape(v)[2]}); };
    const ValueId decay = gated ? column(at_time(c, 4, t, heads)) : ValueId(), beta = delta ? row_of(at_time(c, 5, t, heads)) : ValueId();
    state = next_state(c, state, column(at_time(c, 1, t, heads)), row_of(at_time(c, 2, t, heads)), decay, beta, delta);
    const ValueId q = c.reshape(at_time(c, 0, t, queries), {batch, heads, group, keys});
    outs.push_back(c.reshape(c.op("mul", {c.op("matmul", {q, state}), c.scalar(DType::float32, scale)}), {batch, 1, queries * values}));
  }
  c.give(c.cast(c.concat(outs, 1), dtype));
  if (c.wants(1)) c.give(c.cast(state, c.has(3) ? c.dtype_of(3) : dtype));
}

}  // namespace pando::onnx
