#ifndef popnn_CTCPlan_hpp
#define popnn_CTCPlan_hpp

#include <poplar/Export.hpp>
#include <poputil/DebugInfo.hpp>

#include <memory>
#include <ostream>

namespace popnn {
namespace ctc {

/// Over which tiles the loss of each sequence is spread, or its decoding. A value: copies are equal to what they were copied from.
class POPLAR_EXPORT Plan {
 public:
  Plan();
  ~Plan();
  Plan(const Plan& other);
  Plan(Plan&& other);
  Plan& operator=(const Plan& other);
  Plan& operator=(Plan&& other);

  class Impl;
  explicit Plan(std::unique_ptr<Impl> impl);
  /// Throws poputil::poplibs_error for a plan that was default-constructed.
  Impl& getImpl() const;

  friend POPLAR_EXPORT bool operator<(const Plan& a, const Plan& b) noexcept;
  friend POPLAR_EXPORT bool operator==(const Plan& a, const Plan& b) noexcept;
  friend POPLAR_EXPORT std::ostream& operator<<(std::ostream& out, const Plan& plan);

 private:
  std::unique_ptr<Impl> impl_;
};

POPLAR_EXPORT bool operator<(const Plan& a, const Plan& b) noexcept;
POPLAR_EXPORT bool operator==(const Plan& a, const Plan& b) noexcept;
POPLAR_EXPORT bool operator!=(const Plan& a, const Plan& b) noexcept;
POPLAR_EXPORT std::ostream& operator<<(std::ostream& out, const Plan& plan);

}  // namespace ctc
}  // namespace popnn

namespace poputil {
template <> POPLAR_EXPORT poplar::ProfileValue toProfileValue(const popnn::ctc::Plan& p);
}  // namespace poputil

#endif
