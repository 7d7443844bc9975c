// Published times of single kernels against the model, on GPUs whose kernels no constant knows.
#include <algorithm>
#include <filesystem>
#include <map>

#include "sim/analysis/validation/kernel_validation.hpp"
#include "tests/measured/measured_rows.hpp"
#include "tests/support/catch.hpp"

namespace kernels_measured {

using namespace foretrain;

namespace {

KernelValidation kernels_validated() { return validate_kernels(test::measured_rows("kernels.csv").kernels); }

ErrorStatistics errors_of(const KernelValidation& v, const std::vector<KernelClass>& classes, bool is_seen) {
  std::vector<double> errors;
  for (const ValidatedKernel& kernel : v.kernels) {
    const bool wanted = std::ranges::count(classes, kernel.op->cls) > 0;
    if (wanted && kernel.is_scored && kernel.is_seen == is_seen) errors.push_back(kernel.error());
  }
  return statistics_of(std::move(errors));
}

const std::vector<KernelClass> kByteMovers{KernelClass::pointwise, KernelClass::softmax,
                                           KernelClass::layer_norm};

void check_bars(const KernelValidation& v, bool is_seen) {
  const ErrorStatistics products = errors_of(v, {KernelClass::product}, is_seen),
                        convolutions = errors_of(v, {KernelClass::convolution}, is_seen),
                        movers = errors_of(v, kByteMovers, is_seen);
  INFO("products " << products.median << ", " << products.p90 << "; convolutions " << convolutions.median
                   << "; what moves bytes " << movers.median);
  CHECK(products.median <= 0.12);
  CHECK(products.p90 <= 0.35);
  CHECK(convolutions.median <= 0.20);
  CHECK(movers.median <= 0.10);
}

}  // namespace

TEST_CASE("kernels of GPUs that no constant knows are met within the bars") {
  const KernelValidation v = kernels_validated();
  CHECK(v.rows == 3038);
  CHECK(v.unseen_rows > 700);
  check_bars(v, false);
}

TEST_CASE("kernels of the GPUs that identified the constants are met within the same bars") {
  check_bars(kernels_validated(), true);
}

TEST_CASE(
    "kernels of large models are met within their bars, on the GPU that no constant knows as on the others") {
  const KernelValidation v = validate_kernels(test::measured_rows("kernels_llm.csv").kernels);
  CHECK(v.rows == 800);
  for (const bool is_seen : {false, true}) {
    std::map<std::string, std::vector<double>> errors;
    for (const ValidatedKernel& kernel : v.kernels)
      if (kernel.is_scored && kernel.is_seen == is_seen)
        errors[std::string(kernel.op->name) + " " + kernel.precision].push_back(kernel.error());
    for (const auto& [what, of] : errors) {
      INFO(what << (is_seen ? " seen" : " unseen"));
      CHECK(statistics_of(of).median <= (what == "gemm bf16" ? 0.10 : what == "gemm fp8" ? 0.15 : 0.12));
    }
  }
}

TEST_CASE("all 18,224 kernels are met within the same bars") {
  const std::filesystem::path all =
      std::filesystem::path(FORETRAIN_SOURCE_DIR) / "../shared/measured/kernels_open.csv";
  if (!std::filesystem::exists(all)) FORETRAIN_SKIP("../shared/measured/kernels_open.csv is not there");
  const SourceText source = read_text_file(all.string(), kLargestMeasurements);
  const KernelValidation v = validate_kernels(read_or_throw(source, read_measurements).kernels);
  CHECK(v.rows == 18224);
  check_bars(v, false);
}

}  // namespace kernels_measured
