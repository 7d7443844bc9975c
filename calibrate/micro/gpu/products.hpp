// Matrix products by cuBLAS on one stream, and the proof that they are right.
#pragma once

#include <memory>
#include <string>

#include "calibrate/micro/gpu/cublas.hpp"
#include "calibrate/micro/gpu/read_back.hpp"
#include "calibrate/micro/plan/shapes.hpp"

namespace foretrain::micro {

/// Operands of one product, column-major.
struct ProductOperands {
  ProductOperands(const GemmShape& shape, Element element);
  DeviceBuffer a, b, c;
};

class Products {
 public:
  /// On the current GPU. Requires a library.
  Products(std::shared_ptr<const Cublas> api, const Stream& stream);

  /// Enqueues C = A B. Throws PointSkipped where cuBLAS does not support the precision.
  void multiply(const GemmShape& shape, std::string_view precision, const void* a, const void* b,
                void* c) const;

  /// A small product against the host's; throws WrongResult.
  void expect_right_small(std::string_view precision) const;
  /// Ones times ones in the operands' memory: every element is k. Leaves the pattern in A and B.
  void expect_right_ones(const GemmShape& shape, std::string_view precision,
                         const ProductOperands& operands) const;

  const Stream& stream() const { return stream_; }

 private:
  std::shared_ptr<const Cublas> api_;
  Stream stream_;
  std::shared_ptr<cublasContext> handle_;
};

}  // namespace foretrain::micro
