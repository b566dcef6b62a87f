#include <popsparse/MatMul.hpp>
#include <popsparse/MatMulParams.hpp>
#include <popsparse/SparsePartitioner.hpp>

#include "poplibs/popsparse/known/product.h"
#include "poplibs/poputil/reject.h"
#include "poplibs/poputil/tensor_meta_data.h"

namespace popsparse::static_ {
namespace {

using namespace poplar;
using namespace poplar::program;
using poputil::reject;

void check(const char* function, const MatMulParams& params, const Type& type, bool transposed) {
  check_groups_and_type(function, params.getNumGroups(), type);
  if (params.isTransposed() != transposed)
    reject("popsparse-side", "{}: parameters of a {} product; expected a {} one", function,
           params.isTransposed() ? "dense x sparse" : "sparse x dense", transposed ? "dense x sparse" : "sparse x dense");
}

// The sparse matrix of the product.
Shape shape_of(const MatMulParams& p, const Block& block) {
  return p.isTransposed() ? Shape{p.getK(), p.getM(), block.getBlockDimensions()} : Shape{p.getM(), p.getK(), block.getBlockDimensions()};
}

class Remembered final : public poputil::TensorMetaDataBase {
 public:
  explicit Remembered(Known matrix) : matrix(std::move(matrix)) {}
  std::unique_ptr<TensorMetaDataBase> clone() const override { return std::make_unique<Remembered>(*this); }
  Known matrix;
};

const Remembered& remembered(const char* function, const SparseTensor& t) {
  const auto* data = dynamic_cast<const Remembered*>(t.getOpMetaData().getData());
  if (data == nullptr) reject("popsparse-tensor", "{}: a sparse tensor that no function of popsparse::static_ created", function);
  return *data;
}

template <class T>
Known known(const char* function, const MatMulParams& params, const Type& type, const CSRMatrix<T>& matrix, bool transposed) {
  check(function, params, type, transposed);
  const Shape shape = shape_of(params, matrix);
  check_blocks(function, shape);
  return {shape, blocks_of(function, shape, matrix).places};
}

template <class T>
SparseTensor create_sparse(const char* function, Graph& graph, const Type& type, const MatMulParams& params, const CSRMatrix<T>& matrix,
                           bool transposed, const DebugContext& context, const OptionFlags& options) {
  Known m = known(function, params, type, matrix, transposed);
  const Tensor values = create_values(graph, type, m, params.getN(), transposed, known_options(options), {context, "nzValues"});
  return {values, poputil::TensorMetaData(std::make_unique<Remembered>(std::move(m)))};
}

template <class T>
Tensor create_dense(const char* function, Graph& graph, const Type& type, const MatMulParams& params, const CSRMatrix<T>& matrix,
                    bool transposed, const DebugContext& context, const OptionFlags& options) {
  return create_known_dense(graph, type, known(function, params, type, matrix, transposed), params.getN(), transposed,
                            known_options(options), {context, "dense"});
}

// The matrix, or its transpose, times x {1, lines, any}.
Tensor product(const char* function, Graph& graph, const SparseTensor& sparse, const Tensor& x, bool transposed, Sequence& prog,
               const DebugContext& context, const OptionFlags& options) {
  const Known& matrix = remembered(function, sparse).matrix;
  const Tensor& values = sparse.getNzValuesTensor();
  const std::size_t lines = transposed ? matrix.shape.rows : matrix.shape.columns;
  if (x.rank() != 3 || x.dim(0) != 1 || x.dim(1) != lines || x.dim(2) == 0 || x.elementType() != values.elementType())
    reject("popsparse-operand", "{}: the dense side is {{{}}} of type {}; expected one group, {} where the sides meet, and type {}",
           function, fmt::join(x.shape(), ", "), x.elementType().toString(), lines, values.elementType().toString());
  return multiply(graph, matrix, values.flatten(), x[0], transposed, known_options(options), x.elementType(), prog, context).expand({0});
}

Tensor swapped(const char* function, const Tensor& t) {
  if (t.rank() != 3)
    reject("popsparse-operand", "{}: the dense side has {} dimensions; expected 3: groups, rows, columns", function, t.rank());
  return t.dimRoll(1, 2);
}

}  // namespace

#define POPSPARSE_CREATE(T)                                                                                                           \
  template <>                                                                                                                         \
  SparseTensor createSparseDenseMatMulLHS<T>(Graph & graph, const Type& type, const MatMulParams& params, const CSRMatrix<T>& matrix, \
                                             const DebugContext& context, const OptionFlags& options, PlanningCache*) {               \
    return create_sparse("popsparse::static_::createSparseDenseMatMulLHS", graph, type, params, matrix, false, context, options);     \
  }                                                                                                                                   \
  template <>                                                                                                                         \
  SparseTensor createDenseSparseMatMulRHS<T>(Graph & graph, const Type& type, const MatMulParams& params, const CSRMatrix<T>& matrix, \
                                             const DebugContext& context, const OptionFlags& options, PlanningCache*) {               \
    return create_sparse("popsparse::static_::createDenseSparseMatMulRHS", graph, type, params, matrix, true, context, options);      \
  }                                                                                                                                   \
  template <>                                                                                                                         \
  Tensor createSparseDenseMatMulRHS<T>(Graph & graph, const Type& type, const MatMulParams& params, const CSRMatrix<T>& matrix,       \
                                       const DebugContext& context, const OptionFlags options, PlanningCache*) {                      \
    return create_dense("popsparse::static_::createSparseDenseMatMulRHS", graph, type, params, matrix, false, context, options)       \
        .expand({0});                                                                                                                 \
  }                                                                                                                                   \
  template <>                                                                                                                         \
  Tensor createDenseSparseMatMulLHS<T>(Graph & graph, const Type& type, const MatMulParams& params, const CSRMatrix<T>& matrix,       \
                                       const DebugContext& context, const OptionFlags options, PlanningCache*) {                      \
    return create_dense("popsparse::static_::createDenseSparseMatMulLHS", graph, type, params, matrix, true, context, options)        \
        .transpose()                                                                                                                  \
        .expand({0});                                                                                                                 \
  }
POPSPARSE_CREATE(float)
POPSPARSE_CREATE(double)
#undef POPSPARSE_CREATE

Tensor sparseDenseMatMul(Graph& graph, const SparseTensor& lhs, const Tensor& rhs, Sequence& prog, bool transpose_lhs, bool transpose_rhs,
                         const DebugContext& context, const OptionFlags& options, PlanningCache*) {
  constexpr auto kName = "popsparse::static_::sparseDenseMatMul";
  return product(kName, graph, lhs, transpose_rhs ? swapped(kName, rhs) : rhs, transpose_lhs, prog, context, options);
}

Tensor denseSparseMatMul(Graph& graph, const Tensor& lhs, const SparseTensor& rhs, Sequence& prog, bool transpose_lhs, bool transpose_rhs,
                         const DebugContext& context, const OptionFlags& options, PlanningCache*) {
  constexpr auto kName = "popsparse::static_::denseSparseMatMul";
  // (lhs * rhs)^T = rhs^T * lhs^T.
  return swapped(kName, product(kName, graph, rhs, transpose_lhs ? lhs : swapped(kName, lhs), !transpose_rhs, prog, context, options));
}

// --- Partitioner -------------------------------------------------------------------------------------------------------------------------

constexpr auto kPartitioner = "popsparse::static_::Partitioner";

class PartitionerImpl {
 public:
  PartitionerImpl(const MatMulParams& params, const Type& type, const OptionFlags& options) : params(params) {
    check(kPartitioner, params, type, params.isTransposed());
    known_options(options);
  }
  MatMulParams params;
  Known last;  // the last matrix
};

template <typename T>
Partitioner<T>::Partitioner(const MatMulParams& params, const Type& type, const Target&, const OptionFlags& options, PlanningCache*,
                            std::string name_)
    : name(std::move(name_)), impl(std::make_unique<PartitionerImpl>(params, type, options)) {}
template <typename T>
Partitioner<T>::~Partitioner() = default;

template <class T, class Matrix>
static SparsityDataImpl<T> data_of(PartitionerImpl& impl, const Matrix& matrix) {
  constexpr auto kName = "popsparse::static_::Partitioner::createSparsityDataImpl";
  const Shape shape = shape_of(impl.params, matrix);
  check_blocks(kName, shape);
  Blocks<T> blocks = blocks_of(kName, shape, matrix);
  impl.last = {shape, std::move(blocks.places)};
  return {std::move(blocks.values)};
}
template <typename T>
SparsityDataImpl<T> Partitioner<T>::createSparsityDataImpl(const CSCMatrix<T>& matrix) const {
  return data_of<T>(*impl, matrix);
}
template <typename T>
SparsityDataImpl<T> Partitioner<T>::createSparsityDataImpl(const CSRMatrix<T>& matrix) const {
  return data_of<T>(*impl, matrix);
}
template <typename T>
SparsityDataImpl<T> Partitioner<T>::createSparsityDataImpl(const COOMatrix<T>& matrix) const {
  return data_of<T>(*impl, matrix);
}

template <class T>
static Blocks<T> blocks_in(const char* function, const Known& last, const SparsityDataImpl<T>& data) {
  if (last.shape.rows == 0 || data.nzValues.size() != last.places.size() * last.shape.area())
    reject("popsparse-sizes", "{}: {} values; expected {}, those of the last createSparsityDataImpl", function, data.nzValues.size(),
           last.places.size() * last.shape.area());
  return {last.places, data.nzValues};
}
template <typename T>
COOMatrix<T> Partitioner<T>::sparsityDataImplToCOOMatrix(const SparsityDataImpl<T>& data) const {
  return to_coo(impl->last.shape, blocks_in("popsparse::static_::Partitioner::sparsityDataImplToCOOMatrix", impl->last, data));
}
template <typename T>
CSRMatrix<T> Partitioner<T>::sparsityDataImplToCSRMatrix(const SparsityDataImpl<T>& data) const {
  return to_csr(impl->last.shape, blocks_in("popsparse::static_::Partitioner::sparsityDataImplToCSRMatrix", impl->last, data));
}
template <typename T>
CSCMatrix<T> Partitioner<T>::sparsityDataImplToCSCMatrix(const SparsityDataImpl<T>& data) const {
  return to_csc(impl->last.shape, blocks_in("popsparse::static_::Partitioner::sparsityDataImplToCSCMatrix", impl->last, data));
}

template class Partitioner<float>;
template class Partitioner<double>;

}  // namespace popsparse::static_
