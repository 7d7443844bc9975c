// Host time of one framework call: dispatch, Python, autograd, library and launch.
#pragma once

#include "sim/base/units.hpp"
#include "sim/cluster/hardware.hpp"
#include "sim/workload/framework.hpp"
#include "sim/workload/lowering/operators.hpp"
#include "sim/workload/workload.hpp"

namespace foretrain {

/// Host costs on the reference CPU (Zen 5, about 4 GHz). Unless stated otherwise they are multiplied by
/// Host::slowdown and time_scale. Sources: docs/models/host.md.
struct HostCalibration {
  Time launch = microseconds(2.5);          ///< one kernel launch
  Time launch_latency = microseconds(4);    ///< enqueue to start on an idle stream; not multiplied
  Time sync_wake = microseconds(10);        ///< host wakes after a stream synchronisation; not multiplied
  Time event = microseconds(1);             ///< record or wait an event
  Time collective_call = microseconds(25);  ///< one collective through the process group
  Time copy_call = microseconds(4);         ///< one asynchronous copy
  Time ddp_hook = microseconds(2.6);        ///< DDP bookkeeping per gradient
  Time ddp_forward = microseconds(60);      ///< DDP bookkeeping per forward
  Time iteration = microseconds(30);        ///< Python of the bare loop
  /// Time of a call inside a real network over the same call repeated: cold caches, CUDA's bookkeeping.
  double call_scale = 1.8;
  Time cast_call = microseconds(10);       ///< autocast converts one weight
  Time backward_call = microseconds(20);   ///< loss.backward(): Python, the engine, its thread
  Time compiled_kernel = microseconds(4);  ///< torch.compile: the generated wrapper before each launch
  /// torch.compile: guards and runtime wrapper, once forward and once backward.
  Time compiled_call = microseconds(60);
  Time graph_launch = microseconds(15);        ///< CUDA graphs: the one launch of a step, without its nodes
  Time graph_launch_node = microseconds(0.1);  ///< CUDA graphs: each kernel in it
  Time node = microseconds(3);  ///< TensorFlow: the executor, memory and stream of one operator with a kernel
  /// TensorFlow: an operator without a kernel, such as the read of a variable.
  Time bare_node = microseconds(1);
  Time hand_over_node = microseconds(
      4);  ///< TensorFlow: more of it for operators beside the main chain, queued to another thread
  Time function_call = microseconds(200);    ///< TensorFlow: Python of one call of the graph
  Time captured_variable = microseconds(1);  ///< TensorFlow: each variable handed to it
  /// TensorFlow: share of the library's cost that is left when its plans are kept.
  double cached_library = 0.4;
  double time_scale = 1;  ///< anchor
  friend bool operator==(const HostCalibration&, const HostCalibration&) = default;
};

/// Returns the host time of one operator (its framework call and all its launches) on this host.
Time host_time(const Operator& op, const Host& host, const HostCalibration& calibration, Precision precision,
               const Framework& framework = {});
/// Returns the same on the reference CPU: before Host::slowdown and time_scale.
Time host_reference(const Operator& op, const HostCalibration& calibration, Precision precision,
                    const Framework& framework);

/// Scales a cost on the reference CPU to this host.
Time on_host(Time reference, const Host& host, const HostCalibration& calibration);

}  // namespace foretrain
