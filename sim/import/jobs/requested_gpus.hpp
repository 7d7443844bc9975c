// The GPUs that a job asks for by name, held against those of its cluster.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/hardware.hpp"
#include "sim/import/job_script.hpp"

namespace foretrain {

/// Whether a type of GPU in a request is the site's; "a100_1g.5gb" is a slice of an a100.
bool is_gpu_of_type(std::string_view asked, std::string_view own);
/// Whether a word names a product: "a100", "tesla_v100", "rtx8000" name a100-sxm4-40gb, v100-sxm2-32gb and
/// rtx-8000.
bool names_product(std::string_view word, std::string_view product);

/// A request for GPUs that the cluster does not have.
struct WrongGpu {
  SourceSpan span{};
  std::string message, hint;
};

/// By the type of a request and by its constraints; words that are a site's own and no product's are left
/// alone. Requires a cluster with GPUs.
std::vector<WrongGpu> wrong_gpus(const JobScript& script, const ClusterSpec& cluster);

}  // namespace foretrain
