#ifndef poplar_StreamCallback_hpp
#define poplar_StreamCallback_hpp

#include <poplar/Export.hpp>

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace poplar {

/// The host's end of a stream. The members are called one at a time; those of one stream in this order, for a stream to the device:
///   fetch, complete,   prefetch (fetch, if it was NotAvailable), complete,   prefetch ...
/// from the beginning in each run, and for a stream to the host: fetch, complete, fetch, complete ... Across streams they come in program
/// order: a block is asked for when the program needs it, never earlier, so a prefetch or fetch may wait for what the host learns from
/// results that the program sends before. The first block of a run is fetched.
class POPLAR_EXPORT StreamCallback {
 public:
  enum class Result { Success, NotAvailable };
  virtual ~StreamCallback() = default;
  /// May fill block `p`. NotAvailable: fetch() is called.
  virtual Result prefetch(void* p);
  /// Fills block `p` (to the device) or takes it (to the host).
  virtual void fetch(void* p) = 0;
  /// The block of the last fetch or successful prefetch has been used.
  virtual void complete();
  /// Blocks that were prefetched and not used are thrown away. Never happens here.
  virtual void invalidatePrefetched();
};

/// A callback that is asked for a block only when the program needs it.
class POPLAR_EXPORT LegacyStreamCallback : public StreamCallback {
 public:
  Result prefetch(void*) final { return Result::NotAvailable; }
  void complete() final {}
  void invalidatePrefetched() final {}
};

/// A StreamCallback, or anything that can be called with `void *`.
class StreamCallbackHandle {
  template <class F> class Callable final : public StreamCallback {
   public:
    explicit Callable(F f) : function_(std::move(f)) {}
    void fetch(void* p) override { function_(p); }

   private:
    F function_;
  };

 public:
  StreamCallbackHandle() = default;
  template <class T, class = typename std::enable_if<std::is_base_of<StreamCallback, T>::value>::type>
  StreamCallbackHandle(std::unique_ptr<T> callback) : callback_(std::move(callback)) {}
  template <class F, class = decltype(std::declval<typename std::decay<F>::type&>()(static_cast<void*>(nullptr)))>
  StreamCallbackHandle(F&& f) : callback_(new Callable<typename std::decay<F>::type>(std::forward<F>(f))) {}
  StreamCallbackHandle(StreamCallbackHandle&&) = default;
  StreamCallbackHandle& operator=(StreamCallbackHandle&&) = default;

  StreamCallback* get() const { return callback_.get(); }
  StreamCallback* operator->() const { return callback_.get(); }
  StreamCallback& operator*() const { return *callback_; }
  explicit operator bool() const { return callback_ != nullptr; }
  std::unique_ptr<StreamCallback> release() { return std::move(callback_); }

 private:
  std::unique_ptr<StreamCallback> callback_;
};

}  // namespace poplar

#endif
