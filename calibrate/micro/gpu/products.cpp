// fp32 computes in fp32, tf32 has fp32 operands, 16-bit ones are summed in fp32: as PyTorch calls cuBLAS.
#include "calibrate/micro/gpu/products.hpp"

#include <fmt/format.h>

#include "calibrate/micro/gpu/check.hpp"
#include "calibrate/micro/plan/outcome.hpp"
#include "calibrate/micro/plan/verify.hpp"

namespace foretrain::micro {

namespace {

struct TypeRow {
  std::string_view precision;
  cudaDataType operands;
  cublasComputeType_t compute;
};

TypeRow types_of(std::string_view precision) {
  constexpr TypeRow kRows[] = {{"fp32", CUDA_R_32F, CUBLAS_COMPUTE_32F},
                               {"tf32", CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
                               {"fp16", CUDA_R_16F, CUBLAS_COMPUTE_32F},
                               {"bf16", CUDA_R_16BF, CUBLAS_COMPUTE_32F},
                               {"fp64", CUDA_R_64F, CUBLAS_COMPUTE_64F}};
  for (const TypeRow& row : kRows) {
    if (row.precision == precision) return row;
  }
  throw PointSkipped(fmt::format("no products in {}", precision));
}

std::int64_t product_size(int a, int b, int count) { return std::int64_t{a} * b * count; }

/// Alpha or beta in the type cuBLAS reads it in.
struct Factor {
  explicit Factor(double value) : wide(value), narrow(static_cast<float>(value)) {}
  const void* in(cublasComputeType_t compute) const {
    return compute == CUBLAS_COMPUTE_64F ? static_cast<const void*>(&wide) : &narrow;
  }
  double wide;
  float narrow;
};

}  // namespace

ProductOperands::ProductOperands(const GemmShape& s, Element element) {
  const auto allocate = [&](std::int64_t count) {
    return DeviceBuffer(static_cast<std::size_t>(count * bytes_of(element)));
  };
  a = allocate(product_size(s.m, s.k, s.count));
  b = allocate(product_size(s.k, s.n, s.count));
  c = allocate(product_size(s.m, s.n, s.count));
}

Products::Products(std::shared_ptr<const Cublas> api, const Stream& stream)
    : api_(std::move(api)), stream_(stream) {
  cublasHandle_t handle = nullptr;
  FORETRAIN_CUBLAS(*api_, create(&handle));
  handle_ = std::shared_ptr<cublasContext>(handle,
                                           [destroy = api_->destroy](cublasHandle_t h) { (void)destroy(h); });
  FORETRAIN_CUBLAS(*api_, set_stream(handle, stream_.get()));
}

void Products::multiply(const GemmShape& s, std::string_view precision, const void* a, const void* b,
                        void* c) const {
  const TypeRow types = types_of(precision);
  const Factor one(1), zero(0);
  const void *alpha = one.in(types.compute), *beta = zero.in(types.compute);
  const cudaDataType type = types.operands;
  if (s.count == 1) {
    FORETRAIN_CUBLAS(*api_, gemm(handle_.get(), CUBLAS_OP_N, CUBLAS_OP_N, s.m, s.n, s.k, alpha, a, type, s.m,
                                 b, type, s.k, beta, c, type, s.m, types.compute, CUBLAS_GEMM_DEFAULT));
    return;
  }
  const long long step_a = static_cast<long long>(s.m) * s.k, step_b = static_cast<long long>(s.k) * s.n,
                  step_c = static_cast<long long>(s.m) * s.n;
  FORETRAIN_CUBLAS(*api_, gemm_batched(handle_.get(), CUBLAS_OP_N, CUBLAS_OP_N, s.m, s.n, s.k, alpha, a, type,
                                       s.m, step_a, b, type, s.k, step_b, beta, c, type, s.m, step_c, s.count,
                                       types.compute, CUBLAS_GEMM_DEFAULT));
}

void Products::expect_right_small(std::string_view precision) const {
  const Element element = element_of(precision);
  for (const GemmShape& shape : {GemmShape{32, 24, 40, 1}, GemmShape{16, 8, 24, 3}}) {
    const ProductOperands operands(shape, element);
    FORETRAIN_CUDA(launch_fill_pattern(element, operands.a.data(),
                                       product_size(shape.m, shape.k, shape.count), 1, 1, stream_.get()));
    FORETRAIN_CUDA(launch_fill_pattern(element, operands.b.data(),
                                       product_size(shape.k, shape.n, shape.count), 2, 1, stream_.get()));
    multiply(shape, precision, operands.a.data(), operands.b.data(), operands.c.data());
    const auto found =
        read_elements(element, operands.c.data(), product_size(shape.m, shape.n, shape.count), stream_);
    const std::string wrong = first_difference(found, reference_gemm(shape), tolerance_of(precision));
    if (!wrong.empty())
      throw WrongResult(
          fmt::format("a product of {} x {} x {} in {}: {}", shape.m, shape.n, shape.k, precision, wrong));
  }
}

void Products::expect_right_ones(const GemmShape& shape, std::string_view precision,
                                 const ProductOperands& operands) const {
  const Element element = element_of(precision);
  const std::int64_t a = product_size(shape.m, shape.k, shape.count),
                     b = product_size(shape.k, shape.n, shape.count);
  const std::int64_t c = product_size(shape.m, shape.n, shape.count);
  FORETRAIN_CUDA(launch_fill(element, operands.a.data(), a, 1, stream_.get()));
  FORETRAIN_CUDA(launch_fill(element, operands.b.data(), b, 1, stream_.get()));
  multiply(shape, precision, operands.a.data(), operands.b.data(), operands.c.data());
  const std::int64_t wrong =
      count_wrong(element, operands.c.data(), c, shape.k, tolerance_of(precision), stream_);
  if (wrong > 0)
    throw WrongResult(fmt::format("{} of {} elements of a product of ones are not {}", wrong, c, shape.k));
  // Timed with numbers that differ, as equal ones draw less power.
  FORETRAIN_CUDA(launch_fill_pattern(element, operands.a.data(), a, 1, 0.5, stream_.get()));
  FORETRAIN_CUDA(launch_fill_pattern(element, operands.b.data(), b, 2, 0.5, stream_.get()));
}

}  // namespace foretrain::micro
