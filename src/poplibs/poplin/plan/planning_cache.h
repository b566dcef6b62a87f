// What is behind poplin::PlanningCache: one table for each kind of plan, default-constructed when first asked for.
#pragma once

#include <poplin/PlanningCache.hpp>

#include <cstddef>
#include <memory>
#include <typeindex>
#include <unordered_map>

namespace poplin {

class PlanningCacheImpl {
 public:
  // The table of type T.
  template <class T>
  T& table() {
    Slot& slot = tables_[std::type_index(typeid(T))];
    if (slot.table == nullptr)
      slot = {std::make_shared<T>(), [](const void* table) -> std::size_t { return static_cast<const T*>(table)->size(); }};
    return *static_cast<T*>(slot.table.get());
  }

  // Plans in all tables.
  std::size_t size() const {
    std::size_t n = 0;
    for (const auto& [type, slot] : tables_) n += slot.size(slot.table.get());
    return n;
  }

 private:
  struct Slot {
    std::shared_ptr<void> table;
    std::size_t (*size)(const void*) = nullptr;
  };
  std::unordered_map<std::type_index, Slot> tables_;
};

}  // namespace poplin
