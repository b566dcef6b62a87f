#include "profile/picture/svg_canvas.h"

#include <fmt/format.h>

namespace pando::profile {

namespace {

std::string escaped(std::string_view s) {
  std::string out;
  for (char c : s) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;  // XML has no control characters
    }
  }
  return out;
}

// Two decimals and no "-0.00": the same picture on every machine.
std::string number(double v) {
  std::string s = fmt::format("{:.2f}", v);
  while (s.back() == '0') s.pop_back();
  if (s.back() == '.') s.pop_back();
  return s == "-0" ? "0" : s;
}

}  // namespace

void SvgCanvas::rectangle(double x, double y, double width, double height, std::string_view fill, const std::string& tip) {
  body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"", number(x), number(y), number(width),
                       number(height), fill);
  body_ += tip.empty() ? "/>\n" : fmt::format("><title>{}</title></rect>\n", escaped(tip));
}

void SvgCanvas::line(double x1, double y1, double x2, double y2, std::string_view colour, bool dashed) {
  body_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\"{}/>\n", number(x1), number(y1), number(x2), number(y2),
                       colour, dashed ? " stroke-dasharray=\"4 3\"" : "");
}

void SvgCanvas::polygon(const std::vector<std::pair<double, double>>& points, std::string_view fill) {
  body_ += "<polygon points=\"";
  for (std::size_t i = 0; i < points.size(); ++i) body_ += (i == 0 ? "" : " ") + number(points[i].first) + "," + number(points[i].second);
  body_ += fmt::format("\" fill=\"{}\"/>\n", fill);
}

void SvgCanvas::text(double x, double y, std::string_view words, double size, Anchor anchor, std::string_view colour) {
  constexpr const char* kAnchors[] = {"start", "middle", "end"};
  body_ += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" text-anchor=\"{}\" fill=\"{}\">{}</text>\n", number(x), number(y),
                       number(size), kAnchors[static_cast<int>(anchor)], colour, escaped(words));
}

std::string SvgCanvas::document(double width, double height) const {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
             "font-family=\"Helvetica,Arial,sans-serif\" shape-rendering=\"crispEdges\">\n"
             "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
             number(width), number(height)) +
         body_ + "</svg>\n";
}

}  // namespace pando::profile
