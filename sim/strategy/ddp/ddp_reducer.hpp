// DistributedDataParallel's Reducer: buffers before forward, gradients into buckets during backward, buckets
// back at its end.
#pragma once

#include <vector>

#include "sim/strategy/ddp/ddp_hook.hpp"

namespace foretrain {

/// The Reducer of one process (torch/csrc/distributed/c10d/reducer.cpp; docs/models/ddp.md).
class Reducer {
 public:
  Reducer(Process& process, ProcessGroup& group);

  /// What every forward pass begins with; `first` of a step's micro-steps: the one after gradients were
  /// exchanged, where buffers are sent.
  void before_forward(bool first);
  /// What a forward pass ends with when gradients will be exchanged.
  void before_backward();
  /// The hook of a parameter, on the autograd thread.
  void on_gradient(std::uint32_t parameter);
  /// Waits for the buckets and copies them back.
  void finalize_backward();

  const std::vector<Bucket>& buckets() const { return buckets_; }
  const BucketExchange& exchange() const { return exchange_; }

 private:
  void broadcast_group(std::int64_t element_bytes);
  void launch_complete_buckets();
  void reduce_used_map();
  Time hook_cost() const;
  bool searches_unused() const;

  Process& process_;
  ProcessGroup& group_;
  const ExpandedModel& model_;
  const DdpOptions& options_;
  std::int64_t element_bytes_;  ///< of gradients
  std::vector<Bucket> buckets_;
  BucketExchange exchange_;
  std::vector<std::uint32_t> bucket_of_;  ///< per parameter
  std::vector<std::size_t> pending_;      ///< gradients missing per bucket
  std::size_t launched_ = 0;              ///< buckets of this step
  TaskId used_map_ = kNone;               ///< its all-reduce of this step
  LabelId buffer_label_, copy_in_label_, copy_out_label_, map_label_;
};

}  // namespace foretrain
