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

#define CSR_S_FP_ICTL__OFLO__SHIFT 2
#define CSR_S_FP_ICTL__OFLO__MASK 0x1
#define CSR_S_FP_ICTL__ESR__SHIFT 3
#define CSR_S_FP_ICTL__ESR__MASK 0x1
#define CSR_S_FP_ICTL__NANOO__SHIFT 4
#define CSR_S_FP_ICTL__NANOO__MASK 0x1

/* The memory of a tile: where it begins, bytes of an element, and the width of an address of a byte. */
#define TMEM_REGION0_BASE_ADDR 0x4c000
#define TMEM_ELEMSIZE 0x4000
#define TMEM_BYTE_MAX_ADDRESS_WIDTH 21
#define TMEM_FULL_ADDRESS_MASK 0x1fffff

/* Results of comparisons, and a mode of rounding. */
#define TFPU_FP32_TRUE 0xffffffff
#define TFPU_FP16_TRUE 0xffff
#define TFPU_FP32_FALSE 0
#define TFPU_FP16_FALSE 0
#define TFPU_ROUND_ZERO 3

/* Operands of amp (pairs of engines, phase), slic (taps, column of weights) and stacc. */
#define TAMP_F16V4_E1_P0 0x10
#define TAMP_F16V4_E2_P0 0x20
#define TAMP_F16V4_E2_P1 0x21
#define TAMP_F16V4_E4_P0 0x40
#define TAMP_F16V4_E4_P1 0x41
#define TAMP_F16V4_E4_P2 0x42
#define TAMP_F16V4_E4_P3 0x43
#define TAMP_F32_E1_P0 0x10
#define TAMP_F32_E1_P1 0x11
#define TAMP_F32_E2_P0 0x20
#define TAMP_F32_E2_P1 0x21
#define TAMP_F32_E2_P2 0x22
#define TAMP_F32_E2_P3 0x23
#define TAMP_F32_E4_P0 0x40
#define TAMP_F32_E4_P1 0x41
#define TAMP_F32_E4_P2 0x42
#define TAMP_F32_E4_P3 0x43
#define TAMP_F32_E4_P4 0x44
#define TAMP_F32_E4_P5 0x45
#define TAMP_F32_E4_P6 0x46
#define TAMP_F32_E4_P7 0x47
#define TSLIC_F16V4_1x4_W0 0
#define TSLIC_F16V4_1x4_W1 1
#define TSLIC_F16V4_1x4_W2 2
#define TSLIC_F16V4_1x4_W3 3
#define TSLIC_F16V4_1x3_W0 4
#define TSLIC_F16V4_1x3_W1 5
#define TSLIC_F16V4_1x3_W2 6
#define TSLIC_F16V4_1x3_W3 7
#define TSTACC_P0 0
#define TSTACC_P1 1
#define TISTACC_P0 0
#define TISTACC_P1 1

/* Common compute weights: of a unit, a column. */
#define CWEI_0_0 0
#define CWEI_0_1 1
#define CWEI_0_2 2
#define CWEI_0_3 3
#define CWEI_1_0 4
#define CWEI_1_1 5
#define CWEI_1_2 6
#define CWEI_1_3 7
#define CWEI_2_0 8
#define CWEI_2_1 9
#define CWEI_2_2 10
#define CWEI_2_3 11
#define CWEI_3_0 12
#define CWEI_3_1 13
#define CWEI_3_2 14
#define CWEI_3_3 15
#define CWEI_4_0 16
#define CWEI_4_1 17
#define CWEI_4_2 18
#define CWEI_4_3 19
#define CWEI_5_0 20
#define CWEI_5_1 21
#define CWEI_5_2 22
#define CWEI_5_3 23
#define CWEI_6_0 24
#define CWEI_6_1 25
#define CWEI_6_2 26
#define CWEI_6_3 27
#define CWEI_7_0 28
#define CWEI_7_1 29
#define CWEI_7_2 30
#define CWEI_7_3 31
#define CWEI_8_0 32
#define CWEI_8_1 33
#define CWEI_8_2 34
#define CWEI_8_3 35
#define CWEI_9_0 36
#define CWEI_9_1 37
#define CWEI_9_2 38
#define CWEI_9_3 39
#define CWEI_10_0 40
#define CWEI_10_1 41
#define CWEI_10_2 42
#define CWEI_10_3 43
#define CWEI_11_0 44
#define CWEI_11_1 45
#define CWEI_11_2 46
#define CWEI_11_3 47
#define CWEI_12_0 48
#define CWEI_12_1 49
#define CWEI_12_2 50
#define CWEI_12_3 51
#define CWEI_13_0 52
#define CWEI_13_1 53
#define CWEI_13_2 54
#define CWEI_13_3 55
#define CWEI_14_0 56
#define CWEI_14_1 57
#define CWEI_14_2 58
#define CWEI_14_3 59
#define CWEI_15_0 60
#define CWEI_15_1 61
#define CWEI_15_2 62
#define CWEI_15_3 63

/* Barriers: of the workers of a tile. */
#define TEXCH_SYNCZONE_LOCAL 0

/* Contexts of a tile: as in <poplar/TileConstants.hpp>. */
#ifndef CTXT_WORKERS
#define CTXT_WORKERS 6
#define CTXT_SUPERVISOR 6
#endif

#endif
