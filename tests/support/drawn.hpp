// Values drawn at random by tests, the same in every run.
#pragma once

#include <random>
#include <vector>

namespace foretrain::test {

using Random = std::mt19937;

/// One of them.
template <class T>
T pick(Random& random, const std::vector<T>& values) {
  return values[random() % values.size()];
}

}  // namespace foretrain::test
