// Measures families within a time budget: the most informative points first, each family its share, known
// points skipped.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "calibrate/micro/plan/budget.hpp"
#include "calibrate/micro/plan/family.hpp"
#include "calibrate/micro/plan/outcome.hpp"

namespace foretrain::micro {

/// May throw PointSkipped and WrongResult, and EnvironmentError as RunHooks::still_works says; any other
/// exception ends the run.
using Measure = std::function<Measured(const Point&, const RepeatRule&)>;

struct FamilyRun {
  const Family* family = nullptr;
  std::vector<Point> points;  ///< by rank, without those known already
  Measure measure;
};

struct RunHooks {
  std::function<void()> save;                                                   ///< every second or so
  std::function<void(std::string_view family, int done, int points)> progress;  ///< after each point
  std::function<void(const Point&)> begin;                                      ///< before each point
  std::function<bool(bool)> agree = [](bool goes_on) {
    return goes_on;
  };  ///< all ranks of a job go on or none
  /// Whether the GPU still works after an EnvironmentError of a point, which then costs this point alone.
  /// Without it such an error ends the run, and always where NCCL was at work.
  std::function<bool()> still_works;
};

/// A point without a sample, and why.
struct Exclusion {
  std::string point;
  std::string why;
};

struct RunReport {
  int measured = 0;
  int out_of_time = 0;             ///< points the budget did not reach
  std::vector<Exclusion> skipped;  ///< cannot be measured here
  std::vector<Exclusion> wrong;    ///< gave a wrong result
  std::vector<Exclusion> failed;   ///< a family's name, and the first error of a call that cost it points
};

/// Adds to `samples`. A family whose share is over leaves its later points to a second pass, which has what
/// time the others left.
RunReport measure_families(std::vector<FamilyRun> runs, std::vector<Sample>& samples,
                           const TimeBudget& budget, const RunHooks& hooks);

/// Takes out the points that `known` holds.
void drop_known(std::vector<Point>& points, const std::vector<Sample>& known);
/// Takes out the points that `wanted` does not hold.
void keep_wanted(std::vector<Point>& points, const std::vector<Sample>& wanted);

}  // namespace foretrain::micro
