// Rules of upsampling and of sampling at points: FLOPs by the number of neighbours that a result is blended
// from.
#include "sim/workload/recorded/operator_rules.hpp"

namespace foretrain {
namespace {

/// Counts k products and k - 1 sums for k neighbours.
std::vector<RecordedWork> blended(const RecordedCall& call, const OperatorRule& rule) {
  return {{(2 * rule.each - 1) * call.out(0).elements(), call.in_bytes() + call.out_bytes()}};
}
/// Counts the same for each element of the gradient, which is the first operand.
std::vector<RecordedWork> blended_backward(const RecordedCall& call, const OperatorRule& rule) {
  return {{(2 * rule.each - 1) * call.in(0).elements(), call.in_bytes() + call.out_bytes()}};
}

// Every result is the mean of 2 x 2 points, each blended from four neighbours, as in the layer `roi_align`.
std::vector<RecordedWork> aligned(const RecordedCall& call, const OperatorRule&) {
  return {{32 * call.out(0).elements(), 5 * call.out(0).bytes()}};
}
std::vector<RecordedWork> aligned_backward(const RecordedCall& call, const OperatorRule&) {
  return {{32 * call.in(0).elements(), 9 * call.in(0).bytes() + call.out(0).bytes(), 2}};
}

/// Returns a row whose results are blended from this number of neighbours.
OperatorRule blend_row(std::string_view name, bool backward, double neighbours) {
  return {name,
          OperatorClass::pooling,
          HostCall::pooling,
          backward ? "(2 k - 1) in" : "(2 k - 1) out",
          "operands + results",
          backward ? blended_backward : blended,
          neighbours};
}

/// Returns a row of RoI align, which samples features at points between the pixels.
OperatorRule align_row(std::string_view name, bool backward) {
  return {name,
          OperatorClass::pooling,
          HostCall::pooling,
          backward ? "32 in" : "32 out",
          backward ? "9 in + out" : "5 out",
          backward ? aligned_backward : aligned};
}

}  // namespace

// Backward counts the elements of the gradient, which is its operand.
std::vector<OperatorRule> resize_rules() {
  std::vector<OperatorRule> rows;
  // Forward and backward names with the neighbours of each method.
  struct Resizing {
    std::string_view forward, backward;
    double neighbours;
  };
  static constexpr std::array<Resizing, 9> kResizings{
      {{"upsample_nearest1d", "upsample_nearest1d_backward", 1},
       {"upsample_nearest2d", "upsample_nearest2d_backward", 1},
       {"upsample_nearest3d", "upsample_nearest3d_backward", 1},
       {"upsample_linear1d", "upsample_linear1d_backward", 2},
       {"upsample_bilinear2d", "upsample_bilinear2d_backward", 4},
       {"_upsample_bilinear2d_aa", "_upsample_bilinear2d_aa_backward", 4},
       {"upsample_trilinear3d", "upsample_trilinear3d_backward", 8},
       {"upsample_bicubic2d", "upsample_bicubic2d_backward", 16},
       {"grid_sampler_2d", "grid_sampler_2d_backward", 4}}};
  for (const Resizing& resizing : kResizings) {
    rows.push_back(blend_row(resizing.forward, false, resizing.neighbours));
    rows.push_back(blend_row(resizing.backward, true, resizing.neighbours));
  }
  rows.push_back(align_row("torchvision::roi_align", false));
  rows.push_back(align_row("torchvision::_roi_align_backward", true));
  return rows;
}

}  // namespace foretrain
