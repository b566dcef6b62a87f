// What is behind poplin::PlanningCache: one table for each kind of plan, default-constructed when first asked for.
#pragma once

#include <poplin/PlanningCache.hpp>

#include <memory>
#include <typeindex>
#include <unordered_map>

namespace poplin {

class PlanningCacheImpl {
 public:
  // The table of type T.
  template <class T>
  T& table() {
    std::shared_ptr<void>& slot = tables_[std::type_index(typeid(T))];
    if (slot == nullptr) slot = std::make_shared<T>();
    return *static_cast<T*>(slot.get());
  }

 private:
  std::unordered_map<std::type_index, std::shared_ptr<void>> tables_;
};

}  // namespace poplin
