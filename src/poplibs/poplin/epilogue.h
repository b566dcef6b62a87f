// Epilogues as popops has them, in this library's names.
#pragma once

#include <poplin/Epilogue.hpp>

#include "poplibs/popops/elementwise/finish.h"

namespace poplin::internal {

using popops::internal::check_outs;
using popops::internal::Finish;
using popops::internal::finish_of;
using popops::internal::FinishOperand;
using popops::internal::interfere;
using popops::internal::kOneNumber;
using popops::internal::kOneRow;
using popops::internal::set_words;
using popops::internal::words_for;

}  // namespace poplin::internal
