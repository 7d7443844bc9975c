// The exception for a program that a user interrupts.
#pragma once

#include <stdexcept>

namespace foretrain {

/// The program was interrupted in the middle of its work (exit code 130). The text says what is finished and
/// how to continue.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace foretrain
