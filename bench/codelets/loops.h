// The loops of programs_bench: the codelets and the OpenMP programs call the same ones.
#pragma once

#include <stddef.h>

#include <algorithm>

// One row of a 7-point stencil from five: its own, and those above, below, before and behind it.
inline void stencil_row(const float* own, const float* up, const float* down, const float* near, const float* far, float* out, size_t n) {
  const auto cell = [&](size_t i, size_t left, size_t right) {
    out[i] = 0.4f * own[i] + 0.1f * (up[i] + down[i] + near[i] + far[i] + own[left] + own[right]);
  };
  cell(0, n - 1, 1);
  for (size_t i = 1; i + 1 < n; ++i) cell(i, i - 1, i + 1);
  cell(n - 1, n - 2, 0);
}

// A row of a D2Q9 lattice: pulls nine directions and relaxes. f[q]: direction q of the row that it comes from.
inline void lattice_row(const float* const* f, float* const* g, size_t n, float omega) {
  const float *f0 = f[0], *f1 = f[1], *f2 = f[2], *f3 = f[3], *f4 = f[4], *f5 = f[5], *f6 = f[6], *f7 = f[7], *f8 = f[8];
  float* __restrict g0 = g[0];
  float* __restrict g1 = g[1];
  float* __restrict g2 = g[2];
  float* __restrict g3 = g[3];
  float* __restrict g4 = g[4];
  float* __restrict g5 = g[5];
  float* __restrict g6 = g[6];
  float* __restrict g7 = g[7];
  float* __restrict g8 = g[8];
  const auto cell = [=](size_t i, size_t left, size_t right) {
    const float a = f0[i], b = f1[left], c = f2[i], d = f3[right], e = f4[i], p = f5[left], q = f6[right], r = f7[right], s = f8[left];
    const float rho = a + b + c + d + e + p + q + r + s, inverse = 1.0f / rho;
    const float x = (b - d + p - q - r + s) * inverse, y = (c - e + p + q - r - s) * inverse, speed = 1.0f - 1.5f * (x * x + y * y);
    const float w0 = rho * (4.0f / 9.0f), w1 = rho * (1.0f / 9.0f), w2 = rho * (1.0f / 36.0f);
    const auto relaxed = [=](float old, float w, float u) { return old + omega * (w * (speed + 3.0f * u + 4.5f * u * u) - old); };
    g0[i] = relaxed(a, w0, 0.0f);
    g1[i] = relaxed(b, w1, x);
    g2[i] = relaxed(c, w1, y);
    g3[i] = relaxed(d, w1, -x);
    g4[i] = relaxed(e, w1, -y);
    g5[i] = relaxed(p, w2, x + y);
    g6[i] = relaxed(q, w2, y - x);
    g7[i] = relaxed(r, w2, -x - y);
    g8[i] = relaxed(s, w2, x - y);
  };
  cell(0, n - 1, 1);
  for (size_t i = 1; i + 1 < n; ++i) cell(i, i - 1, i + 1);
  cell(n - 1, n - 2, 0);
}

// A row times every `step`th element of `column`.
inline float dot(const float* row, const float* column, size_t step, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; ++i) sum += row[i] * column[i * step];
  return sum;
}

// How often each byte occurs. Four tables: neighbours that are equal do not wait for each other.
inline void count_bytes(const unsigned char* in, size_t n, unsigned* counts) {
  unsigned more[3][256] = {};
  for (size_t i = 0; i < 256; ++i) counts[i] = 0;
  size_t i = 0;
  for (; i + 4 <= n; i += 4) ++counts[in[i]], ++more[0][in[i + 1]], ++more[1][in[i + 2]], ++more[2][in[i + 3]];
  for (; i < n; ++i) ++counts[in[i]];
  for (size_t k = 0; k < 256; ++k) counts[k] += more[0][k] + more[1][k] + more[2][k];
}

// A row of a sparse matrix times a vector.
inline float sparse_row(const unsigned* columns, const float* values, size_t n, const float* x) {
  float sum = 0;
  for (size_t i = 0; i < n; ++i) sum += values[i] * x[columns[i]];
  return sum;
}

inline void sort_numbers(unsigned* v, size_t n) { std::sort(v, v + n); }

// Sorts the samples; every so manieth is a splitter.
inline void pick_splitters(unsigned* samples, size_t n, unsigned* splitters, size_t count) {
  sort_numbers(samples, n);
  for (size_t i = 0; i < count; ++i) splitters[i] = samples[(i + 1) * n / (count + 1)];
}

// How many splitters are not above the number: the bucket that it belongs to.
inline size_t bucket_of(unsigned number, const unsigned* splitters, size_t count) {
  const unsigned* base = splitters;
  for (size_t left = count; left > 0;) {
    const size_t half = (left + 1) / 2;
    base = base[half - 1] <= number ? base + half : base;
    left -= half;
  }
  return static_cast<size_t>(base - splitters);
}

// Buckets of `capacity` words one after the other; the first word of each is the count of the others. One that says it has `capacity` or
// more was too small.
inline void empty_buckets(unsigned* buckets, size_t count, size_t capacity) {
  for (size_t b = 0; b < count; ++b) buckets[b * capacity] = 0;
}
inline void into_buckets(const unsigned* in, size_t n, const unsigned* splitters, size_t count, unsigned* buckets, size_t capacity) {
  for (size_t i = 0; i < n; ++i) {
    unsigned* const bucket = buckets + bucket_of(in[i], splitters, count) * capacity;
    const unsigned place = ++bucket[0];
    if (place < capacity) bucket[place] = in[i];
  }
}
