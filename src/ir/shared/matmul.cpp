#include "ir/shared/matmul.h"

#include "ir/error.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace pando::ir {

namespace {

// The matrices that a matmul multiplies: batches of (m, k) and (k, n).
struct MatrixProduct {
  Shape lhs_batch, rhs_batch, batch;
  std::int64_t m = 1, k = 1, n = 1;
};

std::optional<MatrixProduct> product_of(const Shape& lhs, const Shape& rhs) {
  if (lhs.empty() || rhs.empty()) return std::nullopt;
  MatrixProduct p;
  p.k = lhs.back();
  if (lhs.size() > 1) p.m = lhs[lhs.size() - 2];
  if (rhs.size() > 1) p.n = rhs.back();
  if (p.k != (rhs.size() > 1 ? rhs[rhs.size() - 2] : rhs[0])) return std::nullopt;
  if (lhs.size() > 2) p.lhs_batch.assign(lhs.begin(), lhs.end() - 2);
  if (rhs.size() > 2) p.rhs_batch.assign(rhs.begin(), rhs.end() - 2);
  p.batch.resize(std::max(p.lhs_batch.size(), p.rhs_batch.size()));
  for (std::size_t d = 0; d < p.batch.size(); ++d) {
    const auto extent = [&](const Shape& s) { return d + s.size() < p.batch.size() ? 1 : s[d + s.size() - p.batch.size()]; };
    const std::int64_t a = extent(p.lhs_batch), b = extent(p.rhs_batch);
    if (a != b && a != 1 && b != 1) return std::nullopt;
    p.batch[d] = a == 1 ? b : a;
  }
  return p;
}

// All elements as numbers: each is converted once, not once a product.
std::vector<double> numbers_of(const HostTensor& t) {
  std::vector<double> all(static_cast<std::size_t>(t.elements()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = t.number(static_cast<std::int64_t>(i));
  return all;
}

}  // namespace

std::optional<Shape> matmul_shape(const Shape& lhs, const Shape& rhs) {
  const auto p = product_of(lhs, rhs);
  if (!p) return std::nullopt;
  Shape shape = p->batch;
  if (lhs.size() > 1) shape.push_back(p->m);
  if (rhs.size() > 1) shape.push_back(p->n);
  return shape;
}

void check_matmul_operands(const Inference& in) {
  if (!is_float8(in.dtype(0)) && in.dtype(0) != in.dtype(1)) {
    in.reject("different-types", "operands of {} and {}; cast one of them", name_of(in.dtype(0)), name_of(in.dtype(1)));
  }
  const Shape &lhs = in.shape(0), &rhs = in.shape(1);
  if (lhs.empty() || rhs.empty())
    in.reject("matmul-scalar", "a scalar has no product with {}; use mul", lhs.empty() ? to_string(rhs) : to_string(lhs));
  const std::int64_t rows = rhs.size() > 1 ? rhs[rhs.size() - 2] : rhs[0];
  if (lhs.back() != rows) {
    in.reject("matmul-inner", "{} x {}: the last dimension of the left ({}) is not the rows of the right ({})", to_string(lhs),
              to_string(rhs), lhs.back(), rows);
  }
  if (!matmul_shape(lhs, rhs))
    in.reject("matmul-batch", "{} x {}: the dimensions before the last two do not broadcast", to_string(lhs), to_string(rhs));
}

// Each element is a sum in double, over ascending k.
HostTensor matmul_product(const Evaluation& e, double factor) {
  const std::vector<double> lhs = numbers_of(e.operand(0)), rhs = numbers_of(e.operand(1));
  const MatrixProduct p = *product_of(e.operand(0).shape(), e.operand(1).shape());
  HostTensor out = e.fresh();
  std::vector<double> row(static_cast<std::size_t>(p.n));
  for (std::int64_t b = 0; b < elements_of(p.batch); ++b) {
    const double* left = lhs.data() + broadcast_index(p.lhs_batch, p.batch, b) * p.m * p.k;
    const double* right = rhs.data() + broadcast_index(p.rhs_batch, p.batch, b) * p.k * p.n;
    for (std::int64_t i = 0; i < p.m; ++i) {
      std::fill(row.begin(), row.end(), 0.0);
      for (std::int64_t k = 0; k < p.k; ++k) {
        const double factor_of_row = left[i * p.k + k];
        for (std::int64_t j = 0; j < p.n; ++j) row[static_cast<std::size_t>(j)] += factor_of_row * right[k * p.n + j];
      }
      for (std::int64_t j = 0; j < p.n; ++j) out.set((b * p.m + i) * p.n + j, row[static_cast<std::size_t>(j)] * factor);
    }
  }
  return out;
}

Cost matmul_cost(const Inference& in) {
  const MatrixProduct p = *product_of(in.shape(0), in.shape(1));
  Cost c;
  c.operations =
      2.0 * static_cast<double>(elements_of(p.batch)) * static_cast<double>(p.m) * static_cast<double>(p.k) * static_cast<double>(p.n);
  for (std::size_t i = 0; i < 2; ++i)
    c.bytes_read += static_cast<double>(elements_of(in.shape(i))) * static_cast<double>(size_of(in.dtype(i)));
  c.bytes_written = static_cast<double>(elements_of(p.batch)) * static_cast<double>(p.m) * static_cast<double>(p.n) *
                    static_cast<double>(size_of(in.attributes().dtype("output_type", in.dtype(0))));
  return c;
}

void check_log2_scale(const Inference& in, std::size_t operand) {
  if (in.shape(operand) != Shape{}) in.reject("log2-scale-shape", "log2_scale has shape {}; it is a scalar", to_string(in.shape(operand)));
}

void check_cast_scale(const Inference& in) {
  if (in.dtype(1) != DType::int32) {
    reject(ErrorClass::type, "log2-scale-type", "{}: `log2_scale` must be of type popxl.int32, not {}", in.row().name,
           name_of(in.dtype(1)));
  }
  if (elements_of(in.shape(1)) != 1) {
    reject(ErrorClass::value, "log2-scale-shape", "{}: `log2_scale` must be a scalar tensor; its shape is {}", in.row().name,
           to_string(in.shape(1)));
  }
}

double log2_scale_of(const Evaluation& e, std::size_t operand) {
  const std::int64_t scale = e.operand(operand).integer(0);
  if (scale < -32 || scale >= 32) reject(ErrorClass::runtime, "log2-scale-range", "log2_scale is {}; it must be -32 to 31", scale);
  return std::ldexp(1.0, static_cast<int>(scale));
}

Subscripts matmul_subscripts(const SubscriptsOf& o) {
  constexpr std::size_t kM = 0, kK = 1, kN = 2, kBatch = 3;
  const Shape &a = o.operand(0), &b = o.operand(1), &out = o.result();
  Subscripts s = o.blank();
  s.sums = Subscripts::Sums::any_one;
  const std::size_t matrix = (a.size() >= 2) + (b.size() >= 2);  // dimensions of the result that are no batches
  put(s.operands[0], a.size() - 1, kK);
  put(s.operands[1], b.size() >= 2 ? b.size() - 2 : 0, kK);
  if (a.size() >= 2) {
    put(s.operands[0], a.size() - 2, kM);
    put(s.results[0], out.size() - matrix, kM);
  }
  if (b.size() >= 2) {
    put(s.operands[1], b.size() - 1, kN);
    put(s.results[0], out.size() - 1, kN);
  }
  for (std::size_t back = 1; back + matrix <= out.size(); ++back) {
    const std::size_t at = out.size() - matrix - back;
    const auto lead = [&](const Shape& shape, std::vector<Subscripts::At>& list) {
      if (shape.size() >= 2 + back && shape[shape.size() - 2 - back] == out[at]) put(list, shape.size() - 2 - back, kBatch + back);
    };
    lead(a, s.operands[0]);
    lead(b, s.operands[1]);
    put(s.results[0], at, kBatch + back);
  }
  return s;
}

}  // namespace pando::ir
