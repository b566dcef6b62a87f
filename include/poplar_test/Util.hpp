// Tests that compare tensors with arrays of the host: memory for a tensor, streams between the two, conversion of values. Header only.
#ifndef poplar_test_Util_hpp
#define poplar_test_Util_hpp

#include <algorithm>
#include <boost/none.hpp>
#include <boost/optional.hpp>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Target.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/TypeConversion.hpp>
#include <poplar/exceptions.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace poplar_test {

/// Host memory that a stream reads or writes. Somebody else owns it, or it is part of `owner`.
class HostMemory {
 public:
  HostMemory() = default;
  HostMemory(char* data, std::size_t bytes, std::shared_ptr<void> owner = nullptr) : data_(data), bytes_(bytes), owner_(std::move(owner)) {}
  char* get() const { return data_; }
  char* begin() const { return data_; }
  char* end() const { return data_ + bytes_; }
  std::size_t size() const { return bytes_; }

 private:
  char* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::shared_ptr<void> owner_;
};

/// Streams by handle. The memory must live as long as engines that are attached to it.
using StreamMap = std::vector<std::pair<std::string, HostMemory>>;

/// Zeros for all elements of all replicas, as the device has them. `bytes` becomes their number; throws poplar::overflow_error if that is
/// beyond a std::size_t.
inline std::unique_ptr<char[]> allocateHostMemoryForTensor(const poplar::Target& target, const poplar::Tensor& t,
                                                           unsigned replicationFactor, std::size_t& bytes) {
  const std::size_t elementBytes = target.getTypeSize(t.elementType()), elements = t.numElements();
  if (elements != 0 && replicationFactor != 0 && elementBytes > static_cast<std::size_t>(-1) / elements / replicationFactor)
    throw poplar::overflow_error("allocateHostMemoryForTensor: " + std::to_string(elements) + " elements of " +
                                 std::to_string(elementBytes) + " bytes, " + std::to_string(replicationFactor) +
                                 " times, have more bytes than a size_t counts");
  bytes = elementBytes * elements * replicationFactor;
  return std::unique_ptr<char[]>(new char[bytes]());
}
inline std::unique_ptr<char[]> allocateHostMemoryForTensor(const poplar::Target& target, const poplar::Tensor& t,
                                                           unsigned replicationFactor) {
  std::size_t bytes = 0;
  return allocateHostMemoryForTensor(target, t, replicationFactor, bytes);
}

namespace pando_detail {

// Metadata of memory that was made for QUARTER tensors, one for each replica. They live as long as the streams that move them.
struct MetadataTable {
  using Metadata = std::vector<poplar::QuarterMetadata>;
  std::mutex mutex;
  std::map<const void*, std::weak_ptr<Metadata>> ofMemory;

  std::shared_ptr<Metadata> make(const void* memory, unsigned replicationFactor) {
    const std::lock_guard<std::mutex> lock(mutex);
    for (auto i = ofMemory.begin(); i != ofMemory.end();) i = i->second.expired() ? ofMemory.erase(i) : std::next(i);
    auto metadata = std::make_shared<Metadata>(replicationFactor);
    ofMemory[memory] = metadata;
    return metadata;
  }
  void set(const void* memory, const poplar::QuarterMetadata& value) {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = ofMemory.find(memory);
    if (found == ofMemory.end()) return;
    if (const auto metadata = found->second.lock()) std::fill(metadata->begin(), metadata->end(), value);
  }
  // Of the first replica.
  void get(const void* memory, poplar::QuarterMetadata& value) {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = ofMemory.find(memory);
    if (found == ofMemory.end()) return;
    if (const auto metadata = found->second.lock()) value = metadata->front();
  }
};
inline MetadataTable& metadataTable() {
  static MetadataTable table;
  return table;
}

}  // namespace pando_detail

/// The memory, and its streams: `upload` copies it to the tensor, `download` the tensor to it; either may be none. The metadata of a
/// QUARTER tensor go with its elements, up only if they are no constant: those that `copy` was last given for the memory go up.
inline std::unique_ptr<char[]> allocateHostMemoryForTensor(const poplar::Tensor& t, const std::string& name, poplar::Graph& graph,
                                                           boost::optional<poplar::program::Sequence&> upload,
                                                           boost::optional<poplar::program::Sequence&> download, StreamMap& streams) {
  std::size_t bytes = 0;
  auto memory = allocateHostMemoryForTensor(graph.getTarget(), t, graph.getReplicationFactor(), bytes);
  const HostMemory whole(memory.get(), bytes);
  const bool quarter = t.elementType() == poplar::QUARTER;
  const auto table = quarter ? pando_detail::metadataTable().make(memory.get(), graph.getReplicationFactor()) : nullptr;
  const HostMemory metadata = quarter ? HostMemory(reinterpret_cast<char*>(table->data()), table->size(), table) : HostMemory();
  const auto up = [&](const std::string& handle, const poplar::Tensor& to, const HostMemory& from) {
    upload->add(poplar::program::Copy(graph.addHostToDeviceFIFO(handle, to.elementType(), to.numElements()), to));
    streams.emplace_back(handle, from);
  };
  const auto down = [&](const std::string& handle, const poplar::Tensor& from, const HostMemory& to) {
    download->add(poplar::program::Copy(from, graph.addDeviceToHostFIFO(handle, from.elementType(), from.numElements())));
    streams.emplace_back(handle, to);
  };
  if (upload) up(name + "-upload", t, whole);
  if (upload && quarter && !t.getMetadata().containsConstant()) up(name + "-metadata-upload", t.getMetadata(), metadata);
  if (download) down(name + "-download", t, whole);
  if (download && quarter) down(name + "-metadata-download", t.getMetadata(), metadata);
  return memory;
}

inline void attachStreams(poplar::Engine& engine, const StreamMap& streams) {
  for (const auto& s : streams) engine.connectStream(s.first, s.second.begin(), s.second.end());
}

namespace pando_detail {

// The type that holds the same numbers and that the API knows as an element type.
template <class T>
using Known = typename std::conditional<std::is_same<T, unsigned long>::value, unsigned long long,
                                        typename std::conditional<std::is_same<T, long>::value, long long, T>::type>::type;

template <class T>
const Known<T>* known(const T* p) {
  return reinterpret_cast<const Known<T>*>(p);
}
template <class T>
Known<T>* known(T* p) {
  return reinterpret_cast<Known<T>*>(p);
}

template <class Container>
auto count(const Container& c, int) -> decltype(c.num_elements()) {
  return c.num_elements();
}
template <class Container>
std::size_t count(const Container& c, long) {
  return c.size();
}

template <class Container>
using IfContainer = decltype(std::declval<Container&>().data(), std::declval<Container&>().size(), 0);

}  // namespace pando_detail

/// Values of the host to elements of type `type` at `dst`, and back. Floats are rounded to nearest even. QUARTER needs its metadata.
template <class T>
void copy(const poplar::Target&, const T* src, std::size_t n, const poplar::Type& type, const poplar::QuarterMetadata& metadata,
          void* dst) {
  pando_detail::metadataTable().set(dst, metadata);
  poplar::convertToDeviceType(type, metadata, poplar::ArrayRef<pando_detail::Known<T>>(pando_detail::known(src), n), dst);
}
template <class T>
void copy(const poplar::Target&, const T* src, std::size_t n, const poplar::Type& type, void* dst) {
  poplar::convertToDeviceType(type, poplar::ArrayRef<pando_detail::Known<T>>(pando_detail::known(src), n), dst);
}
template <class T>
void copy(const poplar::Target&, const poplar::Type& type, const poplar::QuarterMetadata& metadata, const void* src, T* dst,
          std::size_t n) {
  poplar::convertFromDeviceType(type, metadata, src, pando_detail::known(dst), n);
}
/// For memory that was made for a QUARTER tensor `metadata` becomes what is known of it: what `copy` was given last, or what came down.
template <class T>
void copy(const poplar::Target& target, const poplar::Type& type, poplar::QuarterMetadata& metadata, const void* src, T* dst,
          std::size_t n) {
  pando_detail::metadataTable().get(src, metadata);
  copy(target, type, static_cast<const poplar::QuarterMetadata&>(metadata), src, dst, n);
}
template <class T>
void copy(const poplar::Target&, const poplar::Type& type, const void* src, T* dst, std::size_t n) {
  poplar::convertFromDeviceType(type, src, pando_detail::known(dst), n);
}

/// The same for vectors, and for arrays of several dimensions whose elements lie in a row (boost::multi_array).
template <class Container, pando_detail::IfContainer<const Container> = 0>
void copy(const poplar::Target& target, const Container& src, const poplar::Type& type, void* dst) {
  copy(target, src.data(), pando_detail::count(src, 0), type, dst);
}
template <class Container, pando_detail::IfContainer<const Container> = 0>
void copy(const poplar::Target& target, const Container& src, const poplar::Type& type, const poplar::QuarterMetadata& metadata,
          void* dst) {
  copy(target, src.data(), pando_detail::count(src, 0), type, metadata, dst);
}
template <class Container, pando_detail::IfContainer<Container> = 0>
void copy(const poplar::Target& target, const poplar::Type& type, const void* src, Container& dst) {
  copy(target, type, src, dst.data(), pando_detail::count(dst, 0));
}
template <class Container, pando_detail::IfContainer<Container> = 0>
void copy(const poplar::Target& target, const poplar::Type& type, const poplar::QuarterMetadata& metadata, const void* src,
          Container& dst) {
  copy(target, type, metadata, src, dst.data(), pando_detail::count(dst, 0));
}

template <class Container, pando_detail::IfContainer<Container> = 0>
void copy(const poplar::Target& target, const poplar::Type& type, poplar::QuarterMetadata& metadata, const void* src, Container& dst) {
  copy(target, type, metadata, src, dst.data(), pando_detail::count(dst, 0));
}

/// The same for several arrays with a memory each. Programs name the elements' type and the arrays' number of dimensions: copy<double, 3>.
template <class T, unsigned long N, class Array, pando_detail::IfContainer<const Array> = 0>
void copy(const poplar::Target& target, const poplar::Type& type, const std::vector<Array>& src,
          const std::vector<std::unique_ptr<char[]>>& dst) {
  static_assert(std::is_same<decltype(std::declval<const Array&>().data()), const T*>::value, "elements of another type");
  for (std::size_t i = 0; i < src.size(); ++i) copy(target, src[i], type, dst.at(i).get());
}
template <class T, unsigned long N, class Array, pando_detail::IfContainer<Array> = 0>
void copy(const poplar::Target& target, const poplar::Type& type, const std::vector<std::unique_ptr<char[]>>& src,
          std::vector<Array>& dst) {
  static_assert(std::is_same<decltype(std::declval<Array&>().data()), T*>::value, "elements of another type");
  for (std::size_t i = 0; i < dst.size(); ++i) copy(target, type, src.at(i).get(), dst[i]);
}

}  // namespace poplar_test

#endif
