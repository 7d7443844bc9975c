// A collective's curve with round numbers, for tests of the reports.
#pragma once

#include "sim/analysis/collective/collective_curve.hpp"

namespace foretrain::test {

/// all_reduce on 4 GPUs of 2 nodes: 8 B in 10 us, 1 GiB in 10 ms, so algbw 107.4 and busbw 161.1 GB/s.
inline CollectiveCurve example_curve() {
  CollectiveCurve curve;
  curve.cluster = "puhti", curve.gpu = "V100-SXM2-32GB", curve.library = "NCCL 2.18.3";
  curve.placement = place(4, 4, Layout::spread, 2);
  curve.links = {"nic0 of node 0 to leaf0"};
  CollectivePoint small, large;
  small.size = {8}, small.time = microseconds(10), small.launch = microseconds(10);
  small.algbw = {8 / 10e-6}, small.busbw = {12 / 10e-6};
  small.algorithm = "Tree", small.protocol = "LL", small.channels = 1;
  small.timing.start = microseconds(4), small.timing.steps = microseconds(5),
  small.timing.data = microseconds(0.5);
  small.bound = BoundBy::launch, small.bottleneck = 0;
  small.why = "Ring/LL 12 us";
  large.size = {1 << 30}, large.time = milliseconds(10), large.launch = microseconds(10);
  large.algbw = {(1 << 30) / 10e-3}, large.busbw = {1.5 * (1 << 30) / 10e-3};
  large.algorithm = "Ring", large.protocol = "Simple", large.channels = 16;
  large.timing.start = microseconds(8), large.timing.steps = microseconds(20),
  large.timing.fill = microseconds(2);
  large.timing.data = milliseconds(9.97);
  large.bound = BoundBy::link, large.bottleneck = 0;
  large.why = "Tree/Simple 11 ms, \"slower\"";
  curve.points = {small, large};
  return curve;
}

}  // namespace foretrain::test
