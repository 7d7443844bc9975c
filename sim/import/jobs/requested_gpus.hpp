// Compares the GPUs that a job requests by name with those of its cluster.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/hardware.hpp"
#include "sim/import/job_script.hpp"

namespace foretrain {

/// Says whether a type of GPU in a request is the site's own. "a100_1g.5gb" is a slice of "a100".
bool is_gpu_of_type(std::string_view asked, std::string_view own);
/// Says whether a word names a product: "a100", "tesla_v100" and "rtx8000" name a100-sxm4-40gb,
/// v100-sxm2-32gb and rtx-8000.
bool names_product(std::string_view word, std::string_view product);

/// A request for GPUs that the cluster does not have, with its place.
struct WrongGpu {
  SourceSpan span{};
  std::string message, hint;
};

/// Returns the wrong requests by type and by constraints. Words that are a site's own and no product's are
/// accepted. Requires a cluster with GPUs.
std::vector<WrongGpu> wrong_gpus(const JobScript& script, const ClusterSpec& cluster);

}  // namespace foretrain
