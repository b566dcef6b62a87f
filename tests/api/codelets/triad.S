// a = b + scale * c, two elements in a round of three bundles.
#define PTR_B m0
#define PTR_C m1
#define PTR_A m2
#define PAIRS m3
.section .text.triad
.globl __runCodelet_Triad
.type __runCodelet_Triad, @function
.align 8
__runCodelet_Triad:
  ld32 $PTR_B, $mvertex_base, $mzero, 0
  ld32 $PTR_C, $mvertex_base, $mzero, 1
  ld32 $PTR_A, $mvertex_base, $mzero, 2
  ld32 $PAIRS, $mvertex_base, $mzero, 3
  ld32 $a6, $mvertex_base, $mzero, 4
  ld64step $a0:1, $mzero, $PTR_C+=, 1
  nop
  rpt $PAIRS, (2f - 1f) / 8 - 1
1:
  { ld64step $a2:3, $mzero, $PTR_B+=, 1 ; f32v2mul $a0:1, $a6:B, $a0:1 }
  { ld64step $a0:1, $mzero, $PTR_C+=, 1 ; f32v2add $a4:5, $a0:1, $a2:3 }
  { st64step $a4:5, $mzero, $PTR_A+=, 1 ; fnop }
2:
  exitz $mzero
