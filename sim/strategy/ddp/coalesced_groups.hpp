// How torch.nn.DataParallel packs tensors of one type into messages between the GPUs of a process.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/units.hpp"

namespace foretrain {

/// One message: so many tensors in a row, flattened.
struct CoalescedGroup {
  std::size_t tensors = 0;
  Bytes size{};
};

/// `buffer_size` of torch.cuda.comm.
inline constexpr Bytes kCoalescedBytes{10'485'760};

/// broadcast_coalesced: a tensor is appended, then the group is tested, so that groups are at least 10 MiB
/// (torch/csrc/utils/tensor_flatten.cpp, take_tensors). `elements` of the tensors in registration order.
std::vector<CoalescedGroup> broadcast_groups(std::span<const std::int64_t> elements,
                                             std::int64_t element_bytes);
/// reduce_add_coalesced: a group is closed before the tensor that would lift it above 10 MiB
/// (torch/_utils.py, _take_tensors).
std::vector<CoalescedGroup> reduce_groups(std::span<const std::int64_t> elements, std::int64_t element_bytes);

}  // namespace foretrain
