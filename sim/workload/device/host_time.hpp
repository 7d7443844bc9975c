// What one framework call costs the host thread: dispatch, Python, autograd, library and launch.
#pragma once

#include "sim/base/units.hpp"
#include "sim/cluster/hardware.hpp"
#include "sim/workload/operators.hpp"
#include "sim/workload/workload.hpp"

namespace foretrain {

/// Host costs on the reference CPU (Zen 5, ~4 GHz); multiplied by Host::slowdown and time_scale. Sources: docs/models/host_time.md.
struct HostCalibration {
  Time launch = microseconds(2.5);           ///< one kernel launch
  Time launch_latency = microseconds(4);     ///< enqueue to start on an idle stream; not multiplied
  Time sync_wake = microseconds(10);         ///< host wakes after a stream synchronisation; not multiplied
  Time event = microseconds(1);              ///< record or wait an event
  Time collective_call = microseconds(25);   ///< one collective through the process group
  Time copy_call = microseconds(4);          ///< one asynchronous copy
  Time ddp_hook = microseconds(2.6);         ///< DDP bookkeeping per gradient
  Time ddp_forward = microseconds(60);       ///< DDP bookkeeping per forward
  Time loader_next = microseconds(320);      ///< taking a batch from the workers
  double loader_seconds_per_byte = 0.15e-9;  ///< unmapping the previous batch
  Time iteration = microseconds(30);         ///< Python of the bare loop
  double time_scale = 1;                     ///< anchor
};

/// Host time of one operator (its framework call and all its launches), already multiplied.
Time host_time(const Operator& op, const Host& host, const HostCalibration& calibration, Precision precision);

/// A cost of the table on this host.
Time on_host(Time reference, const Host& host, const HostCalibration& calibration);

}  // namespace foretrain
