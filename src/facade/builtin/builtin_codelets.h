// Codelets that are part of this library: they need neither popc nor a file.
#pragma once

#include <string_view>
#include <vector>

#include "codelet/library.h"
#include "facade/state/state.h"

namespace pando::facade {

// Fields `begin` (Input) and `end` (InOut), both Vector<unsigned> of two words, the low one first: end -= begin.
inline constexpr const char* kCycleDifference = "pando::CycleDifference";
inline constexpr unsigned kCycleDifferenceCycles = 24;  // by hand: four loads, two subtractions with borrow, two stores, call
Codelet cycle_difference();

// Fields `in` (Input<signed char>) and `out` (Output<int>): the same number.
inline constexpr const char* kWiden = "pando::Widen";
inline constexpr unsigned kWidenCycles = 12;  // by hand: a load, a store, call
Codelet widen();

// Codelets that programs name without adding a file, as PopLibs sdk-release-3.4 does. Out of each matrix of rows x columns elements in
// row-major order they make its transpose; they copy bits. Those with one src and one dst count rows and columns in blocks of 8 (1-byte
// elements) or 4 (2-byte elements), in the fields numSrcRowsD4Or8 and numSrcColumnsD4Or8:
//
//   poplar_rt::Transpose1DSingleWorker<T>   numTranspositionsM1: the number of matrices but one
//
//   poplar_rt::Transpose1D<T>               by six workers: workerCount of them do numTranspositions matrices, the others one less
//
//   poplar_rt::SplitTranspose1D<T>          by six workers, each with four numbers of workList: where its part begins in src and in dst,
//                                           over the block's size, and its rows and columns in blocks
//
//   poplar_rt::Transpose2D<T>               src, dst: vectors of matrices; numSrcRows, numSrcColumns: elements
//
// T: unsigned char, half, short, unsigned short; of Transpose2D float, int and unsigned int, too.
inline constexpr std::string_view kRuntimeCodelets = "poplar_rt::";
struct EstimatedCodelet {
  Codelet codelet;
  poplar::PerfEstimateFunc cost;
};
std::vector<EstimatedCodelet> transposes();

// All of these; does nothing if the library has them.
void add_builtin_codelets(Library& library);

// Before a vertex type of this name is looked up: adds what users may name, with its estimates. An estimator that a user registered stays.
void provide_builtin_codelets(poplar::core::GraphShared& graph, std::string_view vertex_type);

}  // namespace pando::facade
