// The optimizer step: a table of its list operations, and the packing of tensors into multi-tensor launches.
//
// Every optimizer is a short list of element-wise operations. As a for-loop each runs once per tensor; as foreach each runs
// over packed lists of tensors; fused, the whole list collapses into one pass. Bytes are what each operation reads and writes.
#include "sim/workload/optimizer.hpp"

#include <algorithm>
#include <array>

namespace foretrain {
namespace {

/// One element-wise operation over all tensors; `lists` is how many tensor lists a packed launch carries.
struct ListOperation {
  int lists = 1;
  int bytes = 8;  // per element
  int flops = 1;  // per element
};

constexpr std::array<std::int64_t, 5> kMostTensors{110, 64, 48, 36, 30};  // by number of lists
constexpr std::int64_t kMostBlocks = 320;
constexpr std::int64_t kChunk = 65'536;
constexpr std::int64_t kMostChunks = std::int64_t{1} << 24;  // beyond 10^12 elements chunks grow, so that the list stays short

constexpr ListOperation kScale{1, 8, 1}, kAddScaled{2, 12, 2}, kAddConstant{1, 8, 1}, kRoot{1, 8, 1}, kRootCopy{2, 8, 1}, kAddCopy{2, 8, 1},
    kDivideBy{1, 8, 1}, kTimes{2, 12, 1}, kAddProduct{3, 16, 3}, kAddQuotient{3, 16, 3};

std::vector<ListOperation> operations_of(const Optimizer& optimizer) {
  std::vector<ListOperation> list;
  if (optimizer.weight_decay) list.push_back(kAddScaled);
  switch (optimizer.kind) {
    case OptimizerKind::sgd:
      list.insert(list.end(), {kAddScaled});
      break;
    case OptimizerKind::momentum:
      list.insert(list.end(), {kScale, kAddScaled, kAddScaled});
      break;
    case OptimizerKind::adam:
    case OptimizerKind::adamw:
      list.insert(list.end(), {kScale, kAddScaled, kScale, kAddProduct, kRootCopy, kDivideBy, kAddConstant, kAddQuotient});
      break;
    case OptimizerKind::adadelta:
      list.insert(list.end(), {kScale, kAddProduct, kAddCopy, kRoot, kAddCopy, kRoot, kTimes, kTimes, kScale, kAddProduct, kAddScaled});
      break;
  }
  return list;
}

ListOperation fused_operation(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::sgd:
      return {2, 12, 2};
    case OptimizerKind::momentum:
      return {3, 20, 5};
    default:
      return {4, 28, 14};
  }
}

/// Framework time per tensor and operation when looping, on the reference CPU.
Time loop_cost(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::sgd:
      return microseconds(1.07);
    case OptimizerKind::momentum:
      return microseconds(4.6 / 4);
    case OptimizerKind::adam:
      return microseconds(14.8 / 8);
    case OptimizerKind::adamw:
      return microseconds(17.0 / 9);
    case OptimizerKind::adadelta:
      return microseconds(14.0 / 11);
  }
  return Time{};
}

OptimizerLaunch launch_of(const ListOperation& operation, std::int64_t elements, Time host) {
  return {Bytes{operation.bytes * elements}, Flops{static_cast<double>(operation.flops) * static_cast<double>(elements)}, host};
}

std::vector<OptimizerLaunch> loop_launches(const Optimizer& optimizer, const std::vector<std::int64_t>& tensors) {
  const std::vector<ListOperation> operations = operations_of(optimizer);
  std::vector<OptimizerLaunch> launches;
  launches.reserve(operations.size() * tensors.size());
  for (const std::int64_t elements : tensors) {
    for (const ListOperation& operation : operations) launches.push_back(launch_of(operation, elements, loop_cost(optimizer.kind)));
  }
  return launches;
}

std::int64_t chunk_size(const std::vector<std::int64_t>& tensors) {
  std::int64_t total = 0;
  for (const std::int64_t elements : tensors) total += elements;
  return std::max(kChunk, total / kMostChunks);
}

/// Elements of each packed launch. A tensor cut by a full launch continues as the first of the next.
std::vector<std::int64_t> pack(const std::vector<std::int64_t>& tensors, std::int64_t most_tensors, std::int64_t chunk) {
  std::vector<std::int64_t> launches;
  std::int64_t elements = 0, blocks = 0, tensors_inside = 0;
  const auto flush = [&] { launches.push_back(elements), elements = blocks = tensors_inside = 0; };
  for (std::int64_t left : tensors) {
    while (left > 0) {
      const std::int64_t taken = std::min((left - 1) / chunk + 1, kMostBlocks - blocks);
      const std::int64_t moved = left / chunk < taken ? left : taken * chunk;
      elements += moved, blocks += taken, left -= moved, ++tensors_inside;
      if (blocks == kMostBlocks || (left == 0 && tensors_inside == most_tensors)) flush();
    }
  }
  if (elements > 0) flush();
  return launches;
}

// Building the lists costs about 1.5 us a tensor and step, and each list operation a call from Python.
std::vector<OptimizerLaunch> packed_launches(const std::vector<ListOperation>& operations, const std::vector<std::int64_t>& tensors) {
  const std::int64_t chunk = chunk_size(tensors);
  std::vector<OptimizerLaunch> launches;
  for (const ListOperation& operation : operations) {
    for (const std::int64_t elements : pack(tensors, kMostTensors[static_cast<std::size_t>(operation.lists) - 1], chunk)) {
      launches.push_back(launch_of(operation, elements, Time{}));
    }
  }
  if (launches.empty()) return launches;
  const Time host =
      microseconds(1.5) * static_cast<std::int64_t>(tensors.size()) + microseconds(5) * static_cast<std::int64_t>(operations.size());
  for (OptimizerLaunch& launch : launches) launch.host = host / static_cast<std::int64_t>(launches.size());
  return launches;
}

}  // namespace

std::int64_t state_bytes_per_element(const Optimizer& optimizer) {
  switch (optimizer.kind) {
    case OptimizerKind::sgd:
      return 0;
    case OptimizerKind::momentum:
      return 4;
    default:
      return 8;
  }
}

std::vector<OptimizerLaunch> optimizer_launches(const Optimizer& optimizer, const std::vector<std::int64_t>& tensor_elements) {
  const bool fused = optimizer.form == OptimizerForm::fused && optimizer.kind != OptimizerKind::adadelta;
  if (fused) return packed_launches({fused_operation(optimizer.kind)}, tensor_elements);
  if (optimizer.form == OptimizerForm::for_loop) return loop_launches(optimizer, tensor_elements);
  return packed_launches(operations_of(optimizer), tensor_elements);
}

}  // namespace foretrain
