// The time budget: who may still use how much of it.
#pragma once

#include <optional>
#include <string_view>

#include "calibrate/micro/plan/repeat.hpp"

namespace foretrain::micro {

/// Counts from its construction.
class TimeBudget {
 public:
  TimeBudget(double seconds, Clock now) : now_(std::move(now)), end_(now_() + seconds) {}
  double now() const { return now_(); }
  /// Never negative.
  double left() const;
  /// What one may use whose weight is that part of the weights of all yet to come: so unused time goes to the
  /// later ones.
  double share(double weight, double weights_to_come) const;

 private:
  Clock now_;
  double end_;
};

/// "90s", "2m", "1h" in seconds; nothing when it is none of these or not positive.
std::optional<double> parse_budget(std::string_view text);

}  // namespace foretrain::micro
