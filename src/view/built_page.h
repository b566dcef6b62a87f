// The page as viewer/make_page.py built it, in parts, for page.cpp.
#pragma once

#include <cstddef>
#include <string_view>

namespace pando::view {

extern const std::string_view kPageParts[];
extern const std::size_t kPagePartCount;  // 0: this build has none
extern const std::string_view kWhyNoPage;
// The report file viewer/demo.pando.
extern const std::string_view kDemoParts[];
extern const std::size_t kDemoPartCount;

}  // namespace pando::view
