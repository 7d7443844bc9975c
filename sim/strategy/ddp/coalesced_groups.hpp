// Packing of tensors of one type into messages between the GPUs of a process, as torch.nn.DataParallel does
// it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/units.hpp"

namespace foretrain {

/// A message: a number of consecutive tensors, flattened.
struct CoalescedGroup {
  std::size_t tensors = 0;
  Bytes size{};
};

/// Limit of a message: `buffer_size` of torch.cuda.comm.
inline constexpr Bytes kCoalescedBytes{10'485'760};

/// Returns the messages of broadcast_coalesced. A tensor is appended before the group is tested, so groups
/// are at least 10 MiB (torch/csrc/utils/tensor_flatten.cpp, take_tensors). `elements` are those of the
/// tensors in registration order.
std::vector<CoalescedGroup> broadcast_groups(std::span<const std::int64_t> elements,
                                             std::int64_t element_bytes);
/// Returns the messages of reduce_add_coalesced. A group is closed before the tensor that would lift it above
/// 10 MiB (torch/_utils.py, _take_tensors).
std::vector<CoalescedGroup> reduce_groups(std::span<const std::int64_t> elements, std::int64_t element_bytes);

}  // namespace foretrain
