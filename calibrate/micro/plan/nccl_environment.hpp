// The NCCL_* variables that decide what NCCL does, and how rows name them.
#pragma once

#include <functional>

#include "sim/scenario/csv/measurements.hpp"

namespace foretrain::micro {

/// A variable's value, or nullptr: std::getenv, or a table in tests.
using ReadVariable = std::function<const char*(const char*)>;

/// Those among NCCL_ALGO, NCCL_PROTO, NCCL_MAX_NCHANNELS and NCCL_MIN_NCHANNELS that are set.
Settings nccl_environment(const ReadVariable& read);

/// As of `validate`: nccl.algorithm=ring, nccl.protocol=ll128, nccl.max_channels=8, nccl.min_channels=8.
Settings nccl_settings(const Settings& environment);

}  // namespace foretrain::micro
