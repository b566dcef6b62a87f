#ifndef poplar_HostFunctionCallback_hpp
#define poplar_HostFunctionCallback_hpp

#include <poplar/ArrayRef.hpp>
#include <poplar/Export.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace poplar {

/// A function of the host that a program calls: one pointer per input and per output.
class POPLAR_EXPORT HostCallback {
 public:
  virtual ~HostCallback() = default;
  virtual void operator()(ArrayRef<const void*> inputs, ArrayRef<void*> outputs) = 0;
};

/// A HostCallback, or anything that can be called like one.
class HostCallbackHandle {
  template <class F> class Callable final : public HostCallback {
   public:
    explicit Callable(F f) : function_(std::move(f)) {}
    void operator()(ArrayRef<const void*> inputs, ArrayRef<void*> outputs) override { function_(inputs, outputs); }

   private:
    F function_;
  };

 public:
  HostCallbackHandle() = default;
  template <class T, class = typename std::enable_if<std::is_base_of<HostCallback, T>::value>::type>
  HostCallbackHandle(std::unique_ptr<T> callback) : callback_(std::move(callback)) {}
  template <class F, class = decltype(std::declval<typename std::decay<F>::type&>()(ArrayRef<const void*>(), ArrayRef<void*>()))>
  HostCallbackHandle(F&& f) : callback_(new Callable<typename std::decay<F>::type>(std::forward<F>(f))) {}
  HostCallbackHandle(HostCallbackHandle&&) = default;
  HostCallbackHandle& operator=(HostCallbackHandle&&) = default;

  HostCallback* get() const { return callback_.get(); }
  explicit operator bool() const { return callback_ != nullptr; }
  std::unique_ptr<HostCallback> release() { return std::move(callback_); }

 private:
  std::unique_ptr<HostCallback> callback_;
};

}  // namespace poplar

#endif
