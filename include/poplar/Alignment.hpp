/* Alignment is declared by the fields (the third argument of Vector); public codelets include this file and use nothing of it. */
#ifndef POPLAR_ALIGNMENT_HPP
#define POPLAR_ALIGNMENT_HPP
#endif
