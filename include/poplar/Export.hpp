#ifndef poplar_Export_hpp
#define poplar_Export_hpp

/// Marks what libpoplar exports; everything else in it is hidden.
#define POPLAR_EXPORT __attribute__((visibility("default")))

namespace pando {
namespace facade {
/// The library's own door into the classes of this API; programs do not use it.
struct Access;
}  // namespace facade
}  // namespace pando

#endif
