/* Names of a tile's registers and constants, as device code and assembly use them. The numbers of the control and status registers are the
 * operands of `get` and `put`; those that `uget` and `uput` reach lie above CSR_UPPER_MASK, whose lower bits are the operand. On a host
 * __builtin_ipu_get reads WSR, COUNT_L and COUNT_U. */
#ifndef ARCH_GC_TILE_DEFINES_H
#define ARCH_GC_TILE_DEFINES_H

/* Registers of workers. */
#define CSR_W_PC__INDEX 0
#define CSR_W_WSR__INDEX 1
#define CSR_W_WSR__CTXTID_M1__SHIFT 0
#define CSR_W_WSR__CTXTID_M1__MASK 0x7
#define CSR_W_VERTEX_BASE__INDEX 2
#define CSR_W_WORKER_BASE__INDEX 3
#define CSR_W_REPEAT_COUNT__INDEX 4
#define CSR_W_REPEAT_COUNT__VALUE__MASK 0xffff
#define CSR_W_REPEAT_FIRST__INDEX 5
#define CSR_W_REPEAT_END__INDEX 6
#define CSR_W_COUNT_L__INDEX 96
#define CSR_W_COUNT_U__INDEX 97
#define CSR_W_DBG_DATA__INDEX 112
#define CSR_W_DBG_BRK_ID__INDEX 113

/* Those of uget and uput. */
#define CSR_UPPER_MASK 0x7f
#define CSR_W_FP_STS__INDEX 128
#define CSR_W_FP_CLR__INDEX 129
#define CSR_W_FP_CLR__ZAACC__SHIFT 3
#define CSR_W_FP_CLR__ZAACC__MASK 0x1
#define CSR_W_FP_CTL__INDEX 130
#define CSR_W_PRNG_0_0__INDEX 131
#define CSR_W_PRNG_0_1__INDEX 132
#define CSR_W_PRNG_1_0__INDEX 133
#define CSR_W_PRNG_1_1__INDEX 134
#define CSR_W_PRNG_SEED__INDEX 135
#define CSR_W_TAS__INDEX 136
#define CSR_W_FP_NFMT__INDEX 137
#define CSR_W_FP_SCL__INDEX 138

/* Registers of the supervisor. */
#define CSR_S_TILE_ID__INDEX 3
#define CSR_S_FP_ICTL__INDEX 32
#define CSR_S_FP_INFMT__INDEX 49
#define CSR_S_FP_ISCL__INDEX 51
#define CSR_S_CCCSLOAD__INDEX 80
#define CSR_S_SCOUNT_L__INDEX 96
#define CSR_S_SCOUNT_U__INDEX 97
#define CSR_S_CTXT_STS__INDEX 114

/* The memory of a tile: bytes of an element, and the width of an address of a byte. */
#define TMEM_ELEMSIZE 0x4000
#define TMEM_BYTE_MAX_ADDRESS_WIDTH 21
#define TMEM_FULL_ADDRESS_MASK 0x1fffff

/* Results of comparisons, and a mode of rounding. */
#define TFPU_FP32_TRUE 0xffffffff
#define TFPU_FP16_TRUE 0xffff
#define TFPU_ROUND_ZERO 3

/* Contexts of a tile: as in <poplar/TileConstants.hpp>. */
#ifndef CTXT_WORKERS
#define CTXT_WORKERS 6
#define CTXT_SUPERVISOR 6
#endif

#endif
