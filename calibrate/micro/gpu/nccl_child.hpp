// Measures points that need other NCCL_* variables than this process has: in a child process of this program
// that has them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "calibrate/micro/gpu/session.hpp"
#include "calibrate/micro/plan/run.hpp"

namespace foretrain::micro {

/// A child measures all points of the plan with one set of variables at once, as far as its time goes; later
/// points are answered from that.
class NcclChildren {
 public:
  NcclChildren(const Session& session, std::vector<Point> plan)
      : session_(&session), plan_(std::move(plan)) {}
  /// Throws PointSkipped when the child did not measure it.
  Measured measure(const Point& point, const RepeatRule& rule);

 private:
  void run(const Point& first, const RepeatRule& rule);
  const Session* session_;
  std::vector<Point> plan_;
  std::map<std::string, Sample> found_;
  std::set<std::string> finished_;          ///< variables whose child has run
  std::map<std::string, std::string> why_;  ///< what ended the child of these variables
};

}  // namespace foretrain::micro
