// Costs of a network's operators before the run's own factors. They are computed once, however many runs are
// priced.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "sim/workload/device/host_time.hpp"
#include "sim/workload/device/kernel_time.hpp"

namespace foretrain {

/// The costs of the operators of one workload's network on one GPU. Runs that differ in
/// KernelCalibration::time_scale, in HostCalibration::time_scale and in the batch may ask for them in turn;
/// the last few batches are kept. Runs with other constants may do so too, but everything is computed anew
/// for them. Not thread-safe: at() and use() change the kept costs.
class OperatorCosts {
 public:
  struct Cost {
    double kernel_s = 0;  ///< kernel_time() before its time_scale
    Time host{};          ///< host_time() on the reference CPU
  };

  /// Keeps references to both arguments, which must outlive it. The workload's batch does not matter.
  OperatorCosts(const Workload& workload, const Gpu& gpu);

  /// Selects the constants for the following calls of at().
  void use(const KernelCalibration& kernels, const HostCalibration& host);
  std::size_t size() const { return operators_.size(); }
  /// Returns the number of an operator, below size(). The operator must be one of the network's, not a copy.
  std::size_t number_of(const Operator& op) const;
  /// Returns the costs of that operator on a batch, computed on first use. Requires use().
  const Cost& at(std::size_t number, std::int64_t batch);

 private:
  /// Costs of all operators on one batch; those that nobody asked for yet have kUnknown.
  struct OfBatch {
    std::int64_t batch = -1;
    std::vector<Cost> costs;
  };
  static constexpr double kUnknown = -1;
  /// Batches kept: a step's, that of an epoch's last step, a validation's, and one more.
  static constexpr std::size_t kKeptBatches = 4;
  void choose(std::int64_t batch);

  const Workload& workload_;
  const Gpu& gpu_;
  KernelCalibration kernels_;
  HostCalibration host_;
  std::vector<const Operator*> operators_;  ///< forward's, then backward's
  std::array<OfBatch, kKeptBatches> kept_;
  std::size_t chosen_ = 0, next_ = 0;
};

}  // namespace foretrain
