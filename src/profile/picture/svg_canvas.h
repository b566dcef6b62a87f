// Shapes of an SVG picture, in pixels from the top left corner.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pando::profile {

enum class Anchor { start, middle, end };

class SvgCanvas {
 public:
  void rectangle(double x, double y, double width, double height, std::string_view fill, const std::string& tip = {});
  void line(double x1, double y1, double x2, double y2, std::string_view colour, bool dashed = false);
  void polygon(const std::vector<std::pair<double, double>>& points, std::string_view fill);
  void text(double x, double y, std::string_view words, double size = 12, Anchor anchor = Anchor::start, std::string_view colour = "#333");
  std::string document(double width, double height) const;

 private:
  std::string body_;
};

}  // namespace pando::profile
