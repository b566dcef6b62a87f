#ifndef pando_in_place_hpp
#define pando_in_place_hpp

// Streams without a block beside the tensor.

#include <poplar/Export.hpp>
#include <poplar/StreamCallback.hpp>

#include <functional>

namespace pando {

/// A stream's end whose block may be the tensor itself: where that lies in one piece, nothing is copied. The function fills the whole
/// block (to the device) without reading it, or takes it (to the host) without writing to it, and keeps no pointer to it.
/// Throws poplar::stream_connection_error for an empty function.
class POPLAR_EXPORT InPlaceCallback : public poplar::LegacyStreamCallback {
 public:
  explicit InPlaceCallback(std::function<void(void* block)> f);
  void fetch(void* block) override;

 private:
  std::function<void(void*)> f_;
};

}  // namespace pando

#endif
