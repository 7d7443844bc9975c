// The accuracy of a calibration on samples that it has not seen: a part is fitted, the rest is compared.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/analysis/validation/validation.hpp"
#include "sim/cluster/hardware.hpp"
#include "sim/scenario/csv/samples.hpp"

namespace foretrain {

/// The samples that are held out. sizes: every second size of each operation and job, and every second shape
/// of matrix products and convolutions of a precision. nodes: all jobs on more nodes than the smallest. gpus:
/// all on more GPUs than the smallest.
enum class HoldOut : std::uint8_t { sizes, nodes, gpus };

/// The samples of one platform: one machine and one way of running it.
struct Platform {
  /// The cluster, and the run where a cluster has several.
  std::string name;
  /// Name in the catalog, or a path.
  std::string cluster;
  std::vector<Sample> samples;
};

/// Groups samples by the cluster and series that they name; samples without a cluster are `cluster`'s. A
/// series "a100-site-2x4-ofi5-all_reduce" belongs to the run "a100-site-ofi5": the operation and the numbers
/// of nodes and GPUs do not make another run.
std::vector<Platform> platforms_of(const std::vector<Sample>& samples, const std::string& cluster);

/// Errors |predicted / measured - 1| of one platform's held-out samples, before and after the fit.
struct CheckedPlatform {
  std::string name;
  int fitted = 0, held = 0;
  ErrorStatistics before, after;
  /// The reason why nothing could be held out or fitted; empty otherwise.
  std::string why_not;
};

/// Errors of calibrations on samples that were held out from their fits.
struct CalibrationCheck {
  HoldOut hold_out = HoldOut::sizes;
  int fitted = 0, held = 0;
  ErrorStatistics before, after;
  /// Platforms with held-out samples, and those of them whose median error is at most 5 %.
  int platforms = 0, within_five_percent = 0;
  /// Platforms in descending order of the median after the fit.
  std::vector<CheckedPlatform> checked;
};

/// Fits every platform by itself and compares its held-out samples. `open` returns a cluster by its name,
/// without its calibration. A mistake in a platform becomes its reason and ends nothing else.
CalibrationCheck check_calibration(const std::vector<Platform>& platforms, HoldOut hold_out,
                                   const std::function<ClusterSpec(const std::string&)>& open,
                                   const Progress& progress = nullptr);

}  // namespace foretrain
