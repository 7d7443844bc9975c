// Convolutions by cuDNN on one stream, and the proof that they are right.
#pragma once

#include <memory>
#include <string_view>

#include "calibrate/micro/gpu/cudnn.hpp"
#include "calibrate/micro/gpu/read_back.hpp"
#include "calibrate/micro/plan/verify.hpp"

#ifdef FORETRAIN_HAS_CUDNN_HEADER
namespace foretrain::micro {

/// Input, weights and output of a convolution, or their gradients.
struct ConvOperands {
  ConvOperands(const ConvShape& shape, Element element);
  DeviceBuffer x, w, y;
};

class Convolutions {
 public:
  /// One pass of one shape, with the algorithm that cuDNN's heuristics put first.
  struct Prepared;
  using Plan = std::shared_ptr<const Prepared>;

  /// On the current GPU. Requires a library.
  Convolutions(std::shared_ptr<const Cudnn> api, const Stream& stream);

  /// Throws PointSkipped where cuDNN has no algorithm for it.
  Plan prepare(const ConvShape& shape, std::string_view precision, bool channels_last, ConvPass pass);
  /// Enqueues it: forward writes y, data x, weights w.
  void run(const Plan& plan, void* x, void* w, void* y) const;

  /// Small convolutions of one pass against the host's (channels first); throws WrongResult.
  void expect_right_small(std::string_view precision, ConvPass pass);
  /// Ones in the operands' memory: the sum of the results is known. Leaves patterns in the operands.
  void expect_right_sum(const ConvShape& shape, const Plan& plan, Element element,
                        const ConvOperands& operands) const;

  const Stream& stream() const { return stream_; }

 private:
  std::shared_ptr<const Cudnn> api_;
  Stream stream_;
  std::shared_ptr<cudnnContext> handle_;
  DeviceBuffer workspace_;
};

ConvPass pass_of(std::string_view what);

}  // namespace foretrain::micro
#endif
