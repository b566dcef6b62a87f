// Alignment of regions: bins against the definition in double, gradients against differences of a loss.
#include <gtest/gtest.h>

#include <popnn/codelets.hpp>
#include <popnn/experimental/ROIAlign.hpp>
#include <popops/codelets.hpp>
#include <poputil/exceptions.hpp>

#include <algorithm>

#include "oplib.h"
#include "recurrent_reference.h"

namespace oplib {
namespace {

using namespace poplar;
using popnn::experimental::roiAlignParams;
using program::Sequence;
using Tensors = std::vector<Tensor>;

constexpr std::size_t kImages = 3, kChannels = 4, kHeight = 9, kWidth = 7;

// Inside, beyond each edge, far outside, turned round, a point, and a region of an image that there is not.
const std::vector<std::vector<double>> kRois = {{1, 1, 5, 6}, {-3, -2, 2.5, 3},   {4, 3, 12, 14},      {30, 30, 40, 40},
                                                {5, 6, 1, 1}, {2.25, 3, 2.25, 3}, {0.5, 0, 6.5, 8.75}, {1, 1, 5, 6}};
const std::vector<double> kImageOf = {0, 1, 2, 0, 1, 2, 1, 3};

double pixel_at(const Numbers& images, std::size_t n, std::size_t c, double y, double x) {
  if (!(y >= -1 && y <= kHeight && x >= -1 && x <= kWidth)) return 0;
  y = std::clamp<double>(y, 0, kHeight - 1);
  x = std::clamp<double>(x, 0, kWidth - 1);
  double sum = 0;
  for (std::size_t i = 0; i < kHeight; ++i)
    for (std::size_t j = 0; j < kWidth; ++j)
      sum += std::max(0.0, 1 - std::abs(y - double(i))) * std::max(0.0, 1 - std::abs(x - double(j))) *
             images[((n * kChannels + c) * kHeight + i) * kWidth + j];
  return sum;
}

Numbers aligned(const roiAlignParams& p, const Numbers& images) {
  Numbers out;
  for (std::size_t r = 0; r < kRois.size(); ++r)
    for (std::size_t c = 0; c < kChannels; ++c)
      for (std::size_t by = 0; by < p.alignedHeight_; ++by)
        for (std::size_t bx = 0; bx < p.alignedWidth_; ++bx) {
          const double shift = p.aligned_ ? 0.5 : 0;
          double from[2], size[2];
          std::size_t points[2];
          for (const int d : {0, 1}) {
            from[d] = kRois[r][d] * double(p.spatialScale_) - shift;
            size[d] = kRois[r][d + 2] * double(p.spatialScale_) - shift - from[d];
            if (!p.aligned_) size[d] = std::max(size[d], 1.0);
            size[d] /= double(d == 0 ? p.alignedWidth_ : p.alignedHeight_);
            points[d] = p.samplingRatio_ != 0 ? p.samplingRatio_ : std::max<std::size_t>(1, std::size_t(std::ceil(std::max(0.0, size[d]))));
          }
          double sum = 0;
          for (std::size_t i = 0; i < points[1]; ++i)
            for (std::size_t j = 0; j < points[0]; ++j)
              if (kImageOf[r] < kImages)
                sum += pixel_at(images, std::size_t(kImageOf[r]), c,
                                from[1] + double(by) * size[1] + (double(i) + 0.5) * size[1] / double(points[1]),
                                from[0] + double(bx) * size[0] + (double(j) + 0.5) * size[0] / double(points[0]));
          out.push_back(sum / double(points[0] * points[1]));
        }
  return out;
}

TEST(RoiAlign, BinsAndGradients) {
  for (const Machine machine : kMachines)
    for (const Type& type : {FLOAT, HALF})
      for (const roiAlignParams& params :
           {roiAlignParams(2, 3, 2, true, 1), roiAlignParams(0, 2, 4, false, 0.5f), roiAlignParams(3, 1, 1, false, 1)}) {
        const std::size_t number = kRois.size();
        const std::vector<Operand> all = {
            operand("images", type, {kImages, kChannels, kHeight, kWidth}, uniform(-1, 1, 1),
                    machine == Machine::ipu1 ? Mapping::views : Mapping::linear),
            operand("rois", type, {number, 4}, [](std::size_t i) { return kRois[i / 4][i % 4]; }),
            operand("index", type == FLOAT ? INT : UNSIGNED_INT, {number}, [](std::size_t i) { return kImageOf[i]; }),
            operand("grad", type, {number, kChannels, params.alignedHeight_, params.alignedWidth_}, uniform(-1, 1, 2))};
        const auto out = run(machine, all, [&](Graph& g, Tensors& in, Sequence& prog) {
          return Tensors{popnn::experimental::roiAlignFwd(g, prog, in[0], in[1], in[2], params),
                         popnn::experimental::roiAlignInputGradient(g, prog, in[0], in[1], in[2], in[3], params)};
        });
        const std::string name = name_of(machine) + " " + type.toString() + " " + std::to_string(params.samplingRatio_);
        EXPECT_EQ(out[0].shape, all[3].shape);
        EXPECT_EQ(out[1].shape, all[0].shape);
        const Tolerance tolerance = type == HALF ? Tolerance{2e-3, 2e-3} : Tolerance{1e-5, 1e-5};
        expect_close(out[0], aligned(params, all[0].values), tolerance, name);
        expect_close(out[1],
                     differences([&](const std::vector<Numbers>& v) { return aligned(params, v[0]); }, {all[0].values}, 0, all[3].values),
                     tolerance, name + " gradient");
      }
}

TEST(RoiAlign, Rejections) {
  Graph g(device_of(Machine::ipu1));
  popops::addCodelets(g);
  popnn::addCodelets(g);
  Sequence prog;
  const roiAlignParams good(2, 3, 2, true, 1);
  Tensor images = linear(g, FLOAT, {1, 2, 5, 5}), rois = linear(g, FLOAT, {3, 4}), index = linear(g, INT, {3}),
         halfs = linear(g, HALF, {3, 4}), floats = linear(g, FLOAT, {3}), grad = linear(g, FLOAT, {3, 2, 3, 2}), none;
  const auto forward = [&](Tensor& i, Tensor& r, Tensor& n, const roiAlignParams& p) {
    popnn::experimental::roiAlignFwd(g, prog, i, r, n, p);
  };
  EXPECT_NO_THROW(forward(images, rois, index, good));
  EXPECT_THROW(forward(rois, rois, index, good), poputil::poplibs_error);
  EXPECT_THROW(forward(none, rois, index, good), poputil::poplibs_error);
  EXPECT_THROW(forward(images, halfs, index, good), poputil::poplibs_error);
  EXPECT_THROW(forward(images, images, index, good), poputil::poplibs_error);
  EXPECT_THROW(forward(images, rois, floats, good), poputil::poplibs_error);
  EXPECT_THROW(forward(images, rois, none, good), poputil::poplibs_error);
  EXPECT_THROW(forward(images, rois, index, roiAlignParams(2, 0, 2, true, 1)), poputil::poplibs_error);
  EXPECT_THROW(forward(images, rois, index, roiAlignParams(1ul << 40, 2, 2, true, 1)), poputil::poplibs_error);
  EXPECT_THROW(forward(images, rois, index, roiAlignParams(2, 2, 2, true, NAN)), poputil::poplibs_error);
  EXPECT_NO_THROW(popnn::experimental::roiAlignInputGradient(g, prog, images, rois, index, grad, good));
  EXPECT_THROW(popnn::experimental::roiAlignInputGradient(g, prog, images, rois, index, rois, good), poputil::poplibs_error);
}

}  // namespace
}  // namespace oplib
