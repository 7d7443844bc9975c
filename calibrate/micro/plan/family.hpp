// The families of points: the table that --only, --list and the time budget walk.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "calibrate/micro/plan/machine.hpp"
#include "calibrate/micro/plan/point.hpp"

namespace foretrain::micro {

enum class Need { gpu, two_gpus, cublas, cudnn, nccl };

struct Family {
  SampleKind kind = SampleKind::host;
  std::string_view summary;
  std::vector<Need> needs;
  double weight = 1;  ///< its part of the time budget
  bool across_ranks =
      false;  ///< measured by all ranks of a job together; the others by a single process only
  std::vector<Point> (*plan)(const Machine&) = nullptr;

  std::string_view name() const { return kSampleKindNames[static_cast<std::size_t>(kind)]; }
};

/// In the order they are measured.
const std::vector<Family>& families();

/// The family of that name; nullptr when there is none.
const Family* find_family(std::string_view name);
std::vector<std::string> family_names();

/// What it needs and the machine does not have, in words; empty when it can be measured.
std::string missing_for(const Family& family, const Machine& machine);

}  // namespace foretrain::micro
