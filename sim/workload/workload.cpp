// Names of what a workload chooses.
#include "sim/workload/workload.hpp"

namespace foretrain {

std::string_view name_of(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return "fp32";
    case Precision::tf32:
      return "tf32";
    case Precision::amp_fp16:
      return "amp_fp16";
    case Precision::bf16:
      return "bf16";
    case Precision::fp8:
      return "fp8";
  }
  return "";
}

}  // namespace foretrain
