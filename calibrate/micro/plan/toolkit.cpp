// CUDA 13 dropped what is below 7.5; each newer architecture came with a release.
#include "calibrate/micro/plan/toolkit.hpp"

#include <fmt/format.h>

namespace foretrain::micro {

std::string toolkit_for(int major, int minor) {
  const int capability = 10 * major + minor;
  if (capability < 60) return "no CUDA that foretrain-bench builds with: it needs compute capability 6.0";
  if (capability < 75) return "CUDA 11 or 12";
  if (capability < 90) return "CUDA 11.8 or newer";
  if (capability < 100) return "CUDA 12 or newer";
  return "CUDA 12.8 or newer";
}

std::string no_kernels_sentence(const std::string& gpu, int major, int minor, int built_with) {
  return fmt::format(
      "this foretrain-bench, built with CUDA {}.{}, has no kernels for {} (compute capability {}.{}); build "
      "it with {} and "
      "-DFORETRAIN_CUDA_ARCHITECTURES={}{}",
      built_with / 1000, built_with / 10 % 100, gpu, major, minor, toolkit_for(major, minor), major, minor);
}

}  // namespace foretrain::micro
