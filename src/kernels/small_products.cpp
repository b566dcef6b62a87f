#include "kernels/small_products.h"

#ifdef PANDO_HAS_XSMM
#include <libxsmm.h>
#endif

namespace pando::kernels {

#ifdef PANDO_HAS_XSMM

namespace {

int flags_of(const SmallShape& s) { return s.b_transposed ? LIBXSMM_GEMM_FLAG_TRANS_B : LIBXSMM_GEMM_FLAG_NONE; }

}  // namespace

SmallProduct small_product(const SmallShape& s) {
  const libxsmm_blasint lda = s.lda, ldb = s.ldb, ldc = s.ldc;
  const float alpha = 1, beta = s.accumulate ? 1 : 0;
  const int flags = flags_of(s);
  return libxsmm_smmdispatch(s.rows, s.columns, s.depth, &lda, &ldb, &ldc, &alpha, &beta, &flags, nullptr);
}

// Of the batched kernels, those by offsets: the ones by address read past their operands in 1.17.
SmallProductByOffsets small_product_by_offsets(const SmallShape& s) {
  const libxsmm_blasint lda = s.lda, ldb = s.ldb, ldc = s.ldc;
  const float alpha = 1, beta = s.accumulate ? 1 : 0;
  const int flags = flags_of(s), prefetch = LIBXSMM_GEMM_PREFETCH_NONE;
  return libxsmm_smmdispatch_reducebatch_offs(s.rows, s.columns, s.depth, &lda, &ldb, &ldc, &alpha, &beta, &flags, &prefetch);
}

#else

SmallProduct small_product(const SmallShape&) { return nullptr; }

SmallProductByOffsets small_product_by_offsets(const SmallShape&) { return nullptr; }

#endif

}  // namespace pando::kernels
