#ifndef popops_OperationDef_hpp
#define popops_OperationDef_hpp

namespace popops {

/// What a reduction (or another operation that collects many values in one) does with two values.
enum class Operation {
  ADD,
  MUL,
  MIN,
  MAX,
  /// BOOL only.
  LOGICAL_AND,
  /// BOOL only.
  LOGICAL_OR,
  /// Adds the squares.
  SQUARE_ADD,
  /// log(exp(a) + exp(b)): adds numbers that are given by their logarithms.
  LOG_ADD,
};

}  // namespace popops

#endif
