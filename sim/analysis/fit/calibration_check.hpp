// How well a calibration predicts what it has not seen: fit on a part of the samples, compare with the rest.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/analysis/validation/validation.hpp"
#include "sim/cluster/hardware.hpp"
#include "sim/scenario/csv/samples.hpp"

namespace foretrain {

/// What is kept back. sizes: every second size of each operation and job, and every second shape of matrix
/// products and convolutions of a precision. nodes: all jobs on more nodes than the smallest. gpus: all on
/// more GPUs than the smallest.
enum class HoldOut : std::uint8_t { sizes, nodes, gpus };

/// The samples of one platform: what one machine and one way of running it gave.
struct Platform {
  std::string name;     ///< the cluster, and the run where a cluster has several
  std::string cluster;  ///< in the catalog, or a path
  std::vector<Sample> samples;
};

/// Where samples say which cluster and series they are of, by these; all others are `cluster`'s. A series
/// "a100-site-2x4-ofi5-all_reduce" is of the run "a100-site-ofi5": the operation and the numbers of nodes and
/// GPUs do not make another run.
std::vector<Platform> platforms_of(const std::vector<Sample>& samples, const std::string& cluster);

/// Errors |predicted / measured - 1| of samples that were kept back.
struct CheckedPlatform {
  std::string name;
  int fitted = 0, held = 0;
  ErrorStatistics before, after;
  std::string why_not;  ///< not empty: nothing could be kept back, or fitted
};

/// Errors of a calibration on samples that were held out from its fit, before and after the fit.
struct CalibrationCheck {
  HoldOut hold_out = HoldOut::sizes;
  int fitted = 0, held = 0;
  ErrorStatistics before, after;
  int platforms = 0,
      within_five_percent = 0;           ///< with held-out samples; those whose median error is at most 5 %
  std::vector<CheckedPlatform> checked;  ///< largest median after the fit first
};

/// `open` gives a cluster by its name, without its calibration. Every platform is fitted by itself.
CalibrationCheck check_calibration(const std::vector<Platform>& platforms, HoldOut hold_out,
                                   const std::function<ClusterSpec(const std::string&)>& open,
                                   const Progress& progress = nullptr);

}  // namespace foretrain
