// A collective is as fast as the slowest of its flows. Therefore the load of the busiest link counts, not the
// mean load.
#include "sim/cluster/background_load.hpp"

#include <algorithm>

namespace foretrain {

namespace {

/// Mean load of the links between switches, assumed. With the formula below, a job that crosses 250 links of
/// a computing centre finds 30 % of the busiest one taken; one that crosses 1,000 finds 37 %. On Leonardo, on
/// the nodes of 1,024 GPUs, all-reduces lose up to 50 % to other jobs, and none on links of their own (De
/// Sensi et al., SC24, arXiv 2408.14090). Clouds sell their links to more tenants: Uta et al. (NSDI 2020)
/// find 8 to 10 Gbit/s of 10 in one, and 13 to 16 of 16 in another.
constexpr double kOfCentres = 0.05, kOfClouds = 0.1;
/// Upper limit of the load: switches give two flows on one link an equal part each.
constexpr double kMostLoad = 0.5;

}  // namespace

double background_load(const ClusterSpec& cluster) {
  if (cluster.fabric.background_load) return *cluster.fabric.background_load;
  switch (kind_of(cluster.site)) {
    case SiteKind::hpc:
      return kOfCentres;
    case SiteKind::cloud:
      return kOfClouds;
    case SiteKind::own:
      break;
  }
  return 0;
}

/// The loads of links are taken as exponential variables. The expected maximum of n exponentials of mean 1 is
/// the n-th harmonic number. The loop ends early once the limit is reached.
double busiest_link_load(double mean_load, std::size_t links) {
  double largest = 0;
  for (std::size_t n = 1; n <= links && largest * mean_load < kMostLoad; ++n)
    largest += 1 / static_cast<double>(n);
  return std::min(kMostLoad, mean_load * largest);
}

}  // namespace foretrain
