#include "kernels/conv/conv.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/half_vectors.h"
#include "kernels/small_products.h"
#include "kernels/transpose.h"

namespace {

using Offsets = std::vector<unsigned long long>;

// The outputs that one kernel element reaches along a line: out_begin, out_begin + out_step ..., of `count`, and their inputs.
struct Reach {
  long out_begin = 0, out_step = 1, in_begin = 0, in_step = 1, count = 0;
};

Reach reach_of(const ConvLine& line, int tap) {
  Reach r;
  const long g = std::gcd(line.dilation, line.stride), start = line.offset + static_cast<long>(line.step) * tap;
  r.out_step = line.dilation / g;
  r.in_step = line.stride / g;
  if (start % g != 0) return r;
  // The first output whose position is a multiple of the dilation and not negative.
  long o = start < 0 ? (-start + line.stride - 1) / line.stride : 0;
  for (long tries = 0; tries < r.out_step && (line.stride * o + start) % line.dilation != 0; ++tries) ++o;
  const long i = (line.stride * o + start) / line.dilation;
  if (o >= line.out || i >= line.in) return r;
  r.out_begin = o;
  r.in_begin = i;
  r.count = std::min((line.out - 1 - o) / r.out_step, (line.in - 1 - i) / r.in_step) + 1;
  return r;
}

// C[columns x m] (+)= sum over the batch of B_i[columns x k] * A_i[k x m], row-major; or with B given as [k x columns] if `transposed`.
// A_i and B_i lie at byte offsets from a and b.
struct Product {
  int m, columns, k, lda, ldb, ldc;
  bool transposed;
};

void multiply_plainly(const Product& p, const float* a, const float* b, float* c, const Offsets& a_at, const Offsets& b_at,
                      bool accumulate) {
  for (int j = 0; j < p.columns; ++j)
    for (int i = 0; i < p.m; ++i) {
      float sum = accumulate ? c[static_cast<std::size_t>(j) * p.ldc + i] : 0;
      for (std::size_t r = 0; r < a_at.size(); ++r) {
        const float* ar = reinterpret_cast<const float*>(reinterpret_cast<std::uintptr_t>(a) + a_at[r]);
        const float* br = reinterpret_cast<const float*>(reinterpret_cast<std::uintptr_t>(b) + b_at[r]);
        for (int l = 0; l < p.k; ++l)
          sum += ar[static_cast<std::size_t>(l) * p.lda + i] *
                 (p.transposed ? br[static_cast<std::size_t>(l) * p.ldb + j] : br[static_cast<std::size_t>(j) * p.ldb + l]);
      }
      c[static_cast<std::size_t>(j) * p.ldc + i] = sum;
    }
}

// A product, prepared when first wanted: code of its shape where there is some.
class Multiplier {
 public:
  Multiplier(const Product& p, bool accumulate) : product_(p), accumulate_(accumulate) {}
  void operator()(const float* a, const float* b, float* c, const Offsets& a_at, const Offsets& b_at) {
    if (!prepared_) prepare();
    const unsigned long long n = a_at.size();
    if (code_ != nullptr)
      code_(a, b, c, &n, a_at.data(), b_at.data());
    else
      multiply_plainly(product_, a, b, c, a_at, b_at, accumulate_);
  }

 private:
  void prepare() {
    code_ = pando::kernels::small_product_by_offsets(
        {product_.m, product_.columns, product_.k, product_.lda, product_.ldb, product_.ldc, product_.transposed, accumulate_});
    prepared_ = true;
  }

  Product product_;
  bool accumulate_, prepared_ = false;
  pando::kernels::SmallProductByOffsets code_ = nullptr;
};

// Elements of the output channels that one product computes: enough for the registers, few enough that the weights stay near.
constexpr int kChannelsAtATime = 64;

// Taps of the last dimension that reach the same outputs.
struct Family {
  Reach reach;
  std::vector<int> taps;
  std::vector<long> in_begins;
};

std::vector<Family> families_of(const ConvLine& line) {
  std::vector<Family> families;
  for (int t = 0; t < line.taps; ++t) {
    const Reach r = reach_of(line, t);
    if (r.count == 0) continue;
    const auto same = std::find_if(families.begin(), families.end(),
                                   [&](const Family& f) { return f.reach.out_begin == r.out_begin && f.reach.count == r.count; });
    Family& f = same != families.end() ? *same : families.emplace_back(Family{r, {}, {}});
    f.taps.push_back(t);
    f.in_begins.push_back(r.in_begin);
  }
  // The widest first: it may write what the others add to.
  std::sort(families.begin(), families.end(), [](const Family& a, const Family& b) {
    return std::pair(-a.reach.count, a.reach.out_begin) < std::pair(-b.reach.count, b.reach.out_begin);
  });
  return families;
}

// A step of the outer dimensions: an input row, an output row, and the kernel row that joins them.
struct Row {
  long in, out, tap;  // counted in rows
};

// The outer coordinates of output row `row`.
void coordinates(const ConvBlock& b, long row, long* at) {
  for (int d = b.dims - 2; d >= 0; --d) {
    at[d] = row % b.lines[d].out;
    row /= b.lines[d].out;
  }
}

// The rows that meet output row `out`, whose coordinates are `at`.
void rows_of(const ConvBlock& b, const long* at, int dim, long in, long tap, long out, std::vector<Row>& rows) {
  if (dim == b.dims - 1) {
    rows.push_back({in, out, tap});
    return;
  }
  const ConvLine& line = b.lines[dim];
  for (int t = 0; t < line.taps; ++t) {
    const long position = line.stride * at[dim] + line.offset + static_cast<long>(line.step) * t;
    if (position < 0 || position % line.dilation != 0 || position / line.dilation >= line.in) continue;
    rows_of(b, at, dim + 1, in * line.in + position / line.dilation, tap * line.taps + t, out, rows);
  }
}

// All rows that meet, of one batch element, by output row: those of output row r are [begins[r], begins[r + 1]).
std::vector<Row> all_rows(const ConvBlock& b, std::vector<std::size_t>& begins) {
  long n = 1;
  for (int d = 0; d + 1 < b.dims; ++d) n *= b.lines[d].out;
  std::vector<Row> rows;
  long at[kConvDims] = {};
  for (long r = 0; r < n; ++r) {
    begins.push_back(rows.size());
    coordinates(b, r, at);
    rows_of(b, at, 0, 0, 0, r, rows);
  }
  begins.push_back(rows.size());
  return rows;
}

long product_of(const ConvBlock& b, int ConvLine::* member, int n) {
  long p = 1;
  for (int d = 0; d < n; ++d) p *= b.lines[d].*member;
  return p;
}

unsigned long long bytes(long elements) { return static_cast<unsigned long long>(elements) * sizeof(float); }

// One piece of the input, one block of output channels.
class Forward {
 public:
  Forward(const ConvBlock& b, int channels, int out_channels)
      : b_(b), last_(b.lines[b.dims - 1]), families_(families_of(last_)), channels_(channels), out_channels_(out_channels) {
    for (const Family& f : families_)
      for (const bool accumulate : {false, true})
        multipliers_.emplace_back(
            Product{out_channels, static_cast<int>(f.reach.count), channels, b.out_channels, static_cast<int>(f.reach.in_step * channels),
                    static_cast<int>(f.reach.out_step * b.out_channels), false},
            accumulate);
  }

  bool first_covers_row() const { return !families_.empty() && families_[0].reach.count == last_.out; }

  // All kernel rows that meet one output row. Input rows and kernel elements lie at byte offsets from `in` and `weights`.
  void row(const Row* rows, std::size_t n, const float* in, const unsigned long long* in_at, const float* weights, const Offsets& taps_at,
           float* out, bool accumulate) {
    if (!accumulate && (n == 0 || !first_covers_row())) {
      for (int o = 0; o < last_.out; ++o) std::fill_n(out + static_cast<long>(o) * b_.out_channels, out_channels_, 0.0f);
      accumulate = true;
    }
    if (n == 0) return;
    for (std::size_t f = 0; f < families_.size(); ++f) {
      const Family& family = families_[f];
      a_at_.clear();
      b_at_.clear();
      for (std::size_t r = 0; r < n; ++r)
        for (std::size_t t = 0; t < family.taps.size(); ++t) {
          a_at_.push_back(taps_at[static_cast<std::size_t>(rows[r].tap * last_.taps + family.taps[t])]);
          b_at_.push_back(in_at[rows[r].in] + bytes(family.in_begins[t] * channels_));
        }
      multipliers_[2 * f + accumulate](weights, in, out + family.reach.out_begin * b_.out_channels, a_at_, b_at_);
      accumulate = true;
    }
  }

 private:
  const ConvBlock& b_;
  const ConvLine& last_;
  std::vector<Family> families_;
  int channels_, out_channels_;
  std::vector<Multiplier> multipliers_;
  Offsets a_at_, b_at_;
};

// to[c][r] = from[r][c], of rows x columns; rows of `to` are `stride` apart.
void transpose(const float* from, long rows, long columns, float* to, long stride) {
  pando::kernels::transpose(from, static_cast<std::size_t>(columns), static_cast<std::size_t>(rows), static_cast<std::size_t>(columns), to,
                            static_cast<std::size_t>(stride));
}

using Buffers = std::vector<std::vector<float>>;

float* buffer(Buffers& buffers, long n) { return buffers.emplace_back(static_cast<std::size_t>(n)).data(); }

// Rows lie at byte offsets from `data`: of each batch element, all of the outer dimensions.
struct FloatPiece {
  const float* data;
  int channels;
  Offsets rows;
};

// Offsets of `n` parts of `elements` that follow each other.
Offsets in_order(long n, long elements) {
  Offsets at;
  for (long i = 0; i < n; ++i) at.push_back(bytes(i * elements));
  return at;
}

unsigned long long offset_of(const void* at, const float* from) {
  return reinterpret_cast<std::uintptr_t>(at) - reinterpret_cast<std::uintptr_t>(from);
}

const float* as_float(const ConvPiece& piece, long n, bool half, Buffers& buffers) {
  if (!half) return static_cast<const float*>(piece.data);
  float* to = buffer(buffers, n);
  pando::kernels::widen(piece.data, to, static_cast<std::size_t>(n));
  return to;
}

// The pieces of an operand by row, each of `elements`: where they are, or as floats in a buffer.
std::pair<const float*, Offsets> by_row(const ConvOperand& operand, long elements, bool half, Buffers& buffers) {
  Offsets at;
  if (!half) {
    const float* const first = static_cast<const float*>(operand.pieces[0].data);
    for (int p = 0; p < operand.n_pieces; ++p) at.push_back(offset_of(operand.pieces[p].data, first));
    return {first, at};
  }
  float* const to = buffer(buffers, operand.n_pieces * elements);
  for (int p = 0; p < operand.n_pieces; ++p)
    pando::kernels::widen(operand.pieces[p].data, to + p * elements, static_cast<std::size_t>(elements));
  return {to, in_order(operand.n_pieces, elements)};
}

// Activations as float pieces [b][field][channels]; `size`: of the field.
std::vector<FloatPiece> activations(const ConvBlock& b, const ConvOperand& operand, int ConvLine::* size, Buffers& buffers) {
  const long outer = product_of(b, size, b.dims - 1), row = b.lines[b.dims - 1].*size, field = outer * row;
  std::vector<FloatPiece> out;
  if (operand.order == kByRow) {
    const int channels = operand.pieces[0].channels;
    const long rows = outer / b.lines[0].*size;  // of a piece
    const auto [data, at] = by_row(operand, rows * row * channels, b.half_operands, buffers);
    FloatPiece& piece = out.emplace_back(FloatPiece{data, channels, {}});
    for (const unsigned long long first : at)
      for (long r = 0; r < rows; ++r) piece.rows.push_back(first + bytes(r * row * channels));
    return out;
  }
  for (int p = 0; p < operand.n_pieces; ++p) {
    const int channels = operand.pieces[p].channels;
    const float* data = as_float(operand.pieces[p], b.batch * field * channels, b.half_operands, buffers);
    if (operand.order == kChannelsFirst) {
      float* to = buffer(buffers, b.batch * field * channels);
      for (int n = 0; n < b.batch; ++n) transpose(data + n * field * channels, channels, field, to + n * field * channels, channels);
      data = to;
    }
    out.push_back({data, channels, in_order(b.batch * outer, row * channels)});
  }
  return out;
}

// Weights as floats [taps][in][out], but for those by row.
const float* weights_in_order(const ConvBlock& b, const ConvOperand& operand, long taps, Buffers& buffers) {
  const long in = b.in_channels, out = b.out_channels;
  if (operand.order == kChannelsLast) return as_float(operand.pieces[0], taps * in * out, b.half_operands, buffers);
  float* to = buffer(buffers, taps * in * out);
  long before = 0;
  for (int p = 0; p < operand.n_pieces; ++p) {
    const long channels = operand.pieces[p].channels;
    const float* from = as_float(operand.pieces[p], taps * channels * out, b.half_operands, buffers);
    float* first = to + before * out;
    if (operand.order == kTransposed)
      for (long t = 0; t < taps; ++t) transpose(from + t * out * channels, out, channels, first + t * in * out, out);
    else if (operand.order == kChannelsFirst)
      transpose(from, channels * out, taps, first, in * out);
    else
      for (long i = 0; i < channels; ++i)
        for (long o = 0; o < out; ++o)
          for (long t = 0; t < taps; ++t) first[(t * in + i) * out + o] = from[(o * channels + i) * taps + t];
    before += channels;
  }
  return to;
}

struct FloatWeights {
  const float* data;
  Offsets taps;  // where each of them is, in bytes from `data`
};

FloatWeights weights_of(const ConvBlock& b, const ConvOperand& operand, long taps, Buffers& buffers) {
  const long elements = static_cast<long>(b.in_channels) * b.out_channels;
  if (operand.order != kByRow) return {weights_in_order(b, operand, taps, buffers), in_order(taps, elements)};
  auto [data, at] = by_row(operand, elements, b.half_operands, buffers);
  return {data, std::move(at)};
}

// The result's memory, or a buffer whose contents narrow into it.
class Result {
 public:
  Result(void* to, long n, bool half) : to_(to), n_(n), half_(half), buffer_(half ? static_cast<std::size_t>(n) : 0) {}
  float* data() { return half_ ? buffer_.data() : static_cast<float*>(to_); }
  void finish() {
    if (half_) pando::kernels::narrow(buffer_.data(), to_, static_cast<std::size_t>(n_));
  }

 private:
  void* to_;
  long n_;
  bool half_;
  std::vector<float> buffer_;
};

void forward(const ConvBlock& b, const std::vector<FloatPiece>& pieces, const FloatWeights& weights, float* output) {
  std::vector<std::size_t> begins;
  const std::vector<Row> rows = all_rows(b, begins);
  const long in_rows = product_of(b, &ConvLine::in, b.dims - 1), out_rows = product_of(b, &ConvLine::out, b.dims - 1);
  const long row_elements = static_cast<long>(b.lines[b.dims - 1].out) * b.out_channels;
  for (int c = 0; c < b.out_channels; c += kChannelsAtATime) {
    const int out_channels = std::min(kChannelsAtATime, b.out_channels - c);
    long before = 0;  // input channels of the pieces before
    for (const FloatPiece& piece : pieces) {
      Forward block(b, piece.channels, out_channels);
      const float* w = weights.data + before * b.out_channels + c;
      for (int n = 0; n < b.batch; ++n)
        for (long r = 0; r < out_rows; ++r)
          block.row(rows.data() + begins[r], begins[r + 1] - begins[r], piece.data, piece.rows.data() + n * in_rows, w, weights.taps,
                    output + (n * out_rows + r) * row_elements + c, before > 0);
      before += piece.channels;
    }
  }
}

// Rows of one kernel row, all batch elements: the gradient of its taps.
struct Gradient {
  const ConvBlock& b;
  const FloatPiece &input, &output;
  float* weights;  // of the first in and out channel of these pieces
  Offsets a_at, b_at;

  void add(const Row* rows, std::size_t n_rows) {
    const ConvLine& last = b.lines[b.dims - 1];
    const long in_rows = product_of(b, &ConvLine::in, b.dims - 1), out_rows = product_of(b, &ConvLine::out, b.dims - 1);
    for (int t = 0; t < last.taps; ++t) {
      const Reach reach = reach_of(last, t);
      if (reach.count == 0) continue;
      a_at.clear();
      b_at.clear();
      for (long n = 0; n < b.batch; ++n)
        for (std::size_t r = 0; r < n_rows; ++r) {
          a_at.push_back(output.rows[static_cast<std::size_t>(n * out_rows + rows[r].out)] + bytes(reach.out_begin * output.channels));
          b_at.push_back(input.rows[static_cast<std::size_t>(n * in_rows + rows[r].in)] + bytes(reach.in_begin * input.channels));
        }
      float* to = weights + (rows[0].tap * last.taps + t) * static_cast<long>(b.in_channels) * b.out_channels;
      for (int c = 0; c < output.channels; c += kChannelsAtATime)
        Multiplier(Product{std::min(kChannelsAtATime, output.channels - c), input.channels, static_cast<int>(reach.count),
                           static_cast<int>(reach.out_step * output.channels), static_cast<int>(reach.in_step * input.channels),
                           b.out_channels, true},
                   false)(output.data + c, input.data, to + c, a_at, b_at);
    }
  }
};

// Kernel elements that nothing reaches.
void zero_the_rest(const ConvBlock& b, const std::vector<Row>& rows, float* weights) {
  const ConvLine& last = b.lines[b.dims - 1];
  const long elements = static_cast<long>(b.in_channels) * b.out_channels;
  std::vector<bool> met(static_cast<std::size_t>(product_of(b, &ConvLine::taps, b.dims - 1)));
  for (const Row& r : rows) met[static_cast<std::size_t>(r.tap)] = true;
  for (std::size_t tap = 0; tap < met.size(); ++tap)
    for (int t = 0; t < last.taps; ++t)
      if (!met[tap] || reach_of(last, t).count == 0)
        std::fill_n(weights + (static_cast<long>(tap) * last.taps + t) * elements, elements, 0.0f);
}

void weight_gradient(const ConvBlock& b, const std::vector<FloatPiece>& inputs, const std::vector<FloatPiece>& outputs, float* weights) {
  std::vector<std::size_t> begins;
  std::vector<Row> rows = all_rows(b, begins);
  std::sort(rows.begin(), rows.end(), [](const Row& x, const Row& y) { return std::pair(x.tap, x.out) < std::pair(y.tap, y.out); });
  zero_the_rest(b, rows, weights);
  long in_before = 0;
  for (const FloatPiece& in : inputs) {
    long out_before = 0;
    for (const FloatPiece& out : outputs) {
      Gradient gradient{b, in, out, weights + in_before * b.out_channels + out_before, {}, {}};
      for (std::size_t begin = 0, end; begin < rows.size(); begin = end) {
        for (end = begin; end < rows.size() && rows[end].tap == rows[begin].tap;) ++end;
        gradient.add(&rows[begin], end - begin);
      }
      out_before += out.channels;
    }
    in_before += in.channels;
  }
}

}  // namespace

void pando_conv_forward(const ConvBlock* block, const ConvOperand* input, const ConvOperand* weights, void* result) {
  const ConvBlock& b = *block;
  const long in = product_of(b, &ConvLine::in, b.dims), taps = product_of(b, &ConvLine::taps, b.dims);
  const long n = product_of(b, &ConvLine::out, b.dims) * b.batch * b.out_channels;
  if (n == 0) return;
  Buffers buffers;
  Result to(result, n, b.half_result);
  if (b.in_channels == 0 || in == 0 || taps == 0)
    std::fill_n(to.data(), n, 0.0f);
  else
    forward(b, activations(b, *input, &ConvLine::in, buffers), weights_of(b, *weights, taps, buffers), to.data());
  to.finish();
}

void pando_conv_weight_gradient(const ConvBlock* block, const ConvOperand* input, const ConvOperand* output_gradient, void* result) {
  const ConvBlock& b = *block;
  const long n = product_of(b, &ConvLine::taps, b.dims) * b.in_channels * b.out_channels;
  Buffers buffers;
  Result to(result, n, b.half_result);
  const bool empty = b.batch == 0 || input->n_pieces == 0 || output_gradient->n_pieces == 0;
  if (empty)
    std::fill_n(to.data(), n, 0.0f);
  else if (n > 0)
    weight_gradient(b, activations(b, *input, &ConvLine::in, buffers), activations(b, *output_gradient, &ConvLine::out, buffers),
                    to.data());
  to.finish();
}
