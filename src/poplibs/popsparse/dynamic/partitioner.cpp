#include <popsparse/SparsePartitioner.hpp>

#include "poplibs/popsparse/dynamic/buckets.h"
#include "poplibs/popsparse/dynamic/problem.h"

namespace popsparse::dynamic {

constexpr auto kPartitioner = "popsparse::dynamic::Partitioner";

class PartitionerImpl {
 public:
  template <class Params>
  PartitionerImpl(const Params& params, const poplar::Type& type, const poplar::Target& target, const poplar::OptionFlags& options)
      : plan(make_plan(target, problem_of(kPartitioner, params, type), dynamic_options(options))) {}
  SparsePlan plan;
};

template <typename T>
Partitioner<T>::Partitioner(const FullyConnectedParams& params, const poplar::Type& type, const poplar::Target& target,
                            const poplar::OptionFlags& options, PlanningCache*, std::string name_)
    : name(std::move(name_)), impl(std::make_unique<PartitionerImpl>(params, type, target, options)) {}
template <typename T>
Partitioner<T>::Partitioner(const MatMulParams& params, const poplar::Type& type, const poplar::Target& target,
                            const poplar::OptionFlags& options, PlanningCache*, std::string name_)
    : name(std::move(name_)), impl(std::make_unique<PartitionerImpl>(params, type, target, options)) {}
template <typename T>
Partitioner<T>::~Partitioner() = default;

template <class T, class Matrix>
static SparsityDataImpl<T> data_of(const SparsePlan& plan, const Matrix& matrix) {
  constexpr auto kName = "popsparse::dynamic::Partitioner::createSparsityDataImpl";
  Buckets<T> buckets = fill(kName, plan, blocks_of(kName, plan.problem.shape, matrix));
  return {std::move(buckets.words), std::move(buckets.values)};
}
template <typename T>
SparsityDataImpl<T> Partitioner<T>::createSparsityDataImpl(const CSCMatrix<T>& matrix) const {
  return data_of<T>(impl->plan, matrix);
}
template <typename T>
SparsityDataImpl<T> Partitioner<T>::createSparsityDataImpl(const CSRMatrix<T>& matrix) const {
  return data_of<T>(impl->plan, matrix);
}
template <typename T>
SparsityDataImpl<T> Partitioner<T>::createSparsityDataImpl(const COOMatrix<T>& matrix) const {
  return data_of<T>(impl->plan, matrix);
}

template <class T>
static Blocks<T> blocks_in(const char* function, const SparsePlan& plan, const SparsityDataImpl<T>& data) {
  return empty(function, plan, data.metaInfo, data.nzValues);
}
template <typename T>
COOMatrix<T> Partitioner<T>::sparsityDataImplToCOOMatrix(const SparsityDataImpl<T>& data) const {
  return to_coo(impl->plan.problem.shape, blocks_in("popsparse::dynamic::Partitioner::sparsityDataImplToCOOMatrix", impl->plan, data));
}
template <typename T>
CSRMatrix<T> Partitioner<T>::sparsityDataImplToCSRMatrix(const SparsityDataImpl<T>& data) const {
  return to_csr(impl->plan.problem.shape, blocks_in("popsparse::dynamic::Partitioner::sparsityDataImplToCSRMatrix", impl->plan, data));
}
template <typename T>
CSCMatrix<T> Partitioner<T>::sparsityDataImplToCSCMatrix(const SparsityDataImpl<T>& data) const {
  return to_csc(impl->plan.problem.shape, blocks_in("popsparse::dynamic::Partitioner::sparsityDataImplToCSCMatrix", impl->plan, data));
}

template <typename T>
std::array<std::vector<std::size_t>, 3> Partitioner<T>::getPlanPartitions() const {
  const SparsePlan& plan = impl->plan;
  std::array<std::vector<std::size_t>, 3> begins;
  for (std::size_t i = 0; i < plan.row_parts; ++i) begins[0].push_back(plan.rows_of(i).begin());
  for (std::size_t i = 0; i < plan.column_parts; ++i) begins[1].push_back(plan.columns_of(i).begin());
  for (std::size_t i = 0; i < plan.width_parts; ++i) begins[2].push_back(plan.width_of(i).begin());
  return begins;
}
template <typename T>
std::size_t Partitioner<T>::getmetaInfoBucketElements() const {
  return impl->plan.bucket_words;
}

template class Partitioner<float>;
template class Partitioner<double>;

}  // namespace popsparse::dynamic
