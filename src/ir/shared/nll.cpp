#include "ir/shared/nll.h"

namespace pando::ir {

double nll_epsilon(DType t) { return t == DType::float16 ? 6.103515625e-05 : 1e-7; }

void check_nll(const Inference& in) {
  const Shape &probs = in.shape(0), &labels = in.shape(1);
  if (probs.empty()) in.reject("nll-scalar", "the probabilities are a scalar; their last dimension counts the classes");
  // Public programs give labels of further dimensions of 1, too: a label for each row is what counts.
  const Shape rows(probs.begin(), probs.end() - 1);
  if (elements_of(labels) != elements_of(rows)) {
    in.reject("nll-labels", "labels of shape {} for probabilities of shape {}; they need {}", to_string(labels), to_string(probs),
              to_string(rows));
  }
  const std::string& reduction = in.attributes().text("reduction");
  if (reduction != "mean" && reduction != "sum" && reduction != "none") {
    in.reject("nll-reduction", "the reduction '{}'; mean, sum and none are possible", reduction);
  }
}

Shape nll_shape(const Inference& in) { return in.attributes().text("reduction") == "none" ? in.shape(1) : Shape(); }

void for_each_label(const Evaluation& e, const std::function<void(std::int64_t, std::int64_t)>& f) {
  const HostTensor& labels = e.operand(1);
  const std::int64_t classes = e.operand(0).shape().back();
  const AttributeValue* ignored = e.attributes().find("ignore_index");
  for (std::int64_t row = 0; row < labels.elements(); ++row) {
    const std::int64_t label = labels.integer(row);
    if (label < 0 || label >= classes || (ignored && std::get<std::int64_t>(*ignored) == label)) continue;
    f(row, row * classes + label);
  }
}

double nll_divisor(const Evaluation& e) {
  if (e.attributes().text("reduction") != "mean") return 1;
  const HostTensor& labels = e.operand(1);
  const AttributeValue* ignored = e.attributes().find("ignore_index");
  std::int64_t n = 0;
  for (std::int64_t row = 0; row < labels.elements(); ++row) n += !ignored || std::get<std::int64_t>(*ignored) != labels.integer(row);
  return static_cast<double>(std::max<std::int64_t>(n, 1));
}

HostTensor nll_loss_of(const Evaluation& e, const std::function<double(double)>& term) {
  HostTensor loss = e.fresh();
  double sum = 0;
  const bool each = e.attributes().text("reduction") == "none";
  for_each_label(e, [&](std::int64_t row, std::int64_t at) {
    const double t = term(e.operand(0).number(at));
    if (each) loss.set(row, t);
    sum += t;
  });
  if (!each) loss.set(0, sum / nll_divisor(e));
  return loss;
}

std::vector<Sample> nll_samples(bool with_gradient, std::initializer_list<std::string_view> allowed) {
  std::vector<Sample> all;
  for (const char* reduction : {"mean", "sum", "none"}) {
    for (const bool ignores : {false, true}) {
      Sample s;
      s.operands = {{DType::float32, {5, 4}, 0.05, 1, {}}, {DType::int32, {5}, 0, 3, {0, 3, 1, 2, 1}}};
      if (with_gradient) s.operands.push_back({DType::float32, std::string(reduction) == "none" ? Shape{5} : Shape{}, 0.5, 1.5, {}});
      s.attributes = {{"reduction", std::string(reduction)}};
      for (std::string_view name : allowed) s.attributes.set(name, false);
      if (ignores) s.attributes.set("ignore_index", std::int64_t{1});
      all.push_back(s);
      if (std::string(reduction) == "mean") all.push_back(s), all.back().operands[1].shape = {5, 1};
    }
  }
  return all;
}

Subscripts nll_subscripts(const SubscriptsOf& o) {
  if (o.attributes().text("reduction") == "mean") return {.whole = "it takes a mean over all rows"};
  Subscripts s = o.blank();
  const std::size_t rank = o.operand(1).size();
  for (std::size_t d = 0; d < rank; ++d) {
    for (std::size_t i = 0; i < o.operands(); ++i) {
      if (o.operand(i).size() > d) put(s.operands[i], d, d);
    }
    for (std::size_t i = 0; i < o.results(); ++i) {
      if (o.result(i).size() > d) put(s.results[i], d, d);
    }
  }
  return s;
}

namespace {

bool takes_mean(const Expansion& x) { return x.attributes().text("reduction") == "mean"; }

Attributes with_sum(const Expansion& x) {
  Attributes a = x.attributes();
  a.set("reduction", std::string("sum"));
  return a;
}

// 1 / (rows that count).
ValueId share_of_rows(MeanExpansion& x) {
  const Attributes& a = x.attributes();
  const ValueId labels = x.operand(1);
  const DType dtype = x.type_of(x.operand(0)).dtype;
  if (a.has("ignore_index")) return x.share_of_counted(labels, a.integer("ignore_index"), dtype);
  return x.scalar(dtype, 1 / static_cast<double>(elements_of(x.type_of(labels).shape)));
}

}  // namespace

bool nll_loss_as_sums(MeanExpansion& x) {
  if (!takes_mean(x)) return false;
  const ValueId share = share_of_rows(x);
  x.result(x.op("mul", {x.op("nll_loss", {x.operand(0), x.operand(1)}, with_sum(x)), share}));
  return true;
}

bool nll_grad_as_sums(MeanExpansion& x) {
  if (!takes_mean(x)) return false;
  const ValueId share = share_of_rows(x), dy = x.op("mul", {x.operand(2), share});
  x.result(x.op("nll_grad", {x.operand(0), x.operand(1), dy}, with_sum(x)));
  return true;
}

bool nll_loss_with_softmax_grad_as_sums(MeanExpansion& x) {
  if (!takes_mean(x)) return false;
  const ValueId share = share_of_rows(x);
  std::vector<ValueId> operands;
  for (std::size_t i = 0; i < x.operands(); ++i) operands.push_back(x.operand(i));
  for (const ValueId sum : x.ops("nll_loss_with_softmax_grad", operands, with_sum(x))) x.result(x.op("mul", {sum, share}));
  return true;
}

}  // namespace pando::ir
