// How a point can fail without ending the run.
#pragma once

#include <stdexcept>

namespace foretrain::micro {

/// Cannot be measured here: not supported, no memory for it, no such library function. The next point goes
/// on.
class PointSkipped : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The operation ran and its result is wrong: the point is discarded and the program ends with 3.
class WrongResult : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace foretrain::micro
