// Headers that codelets and hosts share: a host file may include both halves, in any order.
#include <gtest/gtest.h>
#include <poplar/InOutTypes.hpp>
#include <poplar/QuarterFloat.hpp>
#include <poplar/VectorLayout.hpp>
#include <poplar/Vertex.hpp>
#include <poplar/VertexIntrospector.hpp>

namespace {

TEST(Layouts, OneDefinition) {
  EXPECT_EQ(static_cast<int>(poplar::VectorLayout::ONE_PTR), 0);
  EXPECT_NE(static_cast<int>(poplar::layout::Vector::Span), static_cast<int>(poplar::layout::Vector::NotAVector));
}

}  // namespace
