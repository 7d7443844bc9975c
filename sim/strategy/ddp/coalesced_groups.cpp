// Packing by two rules that test the limit at different places: PyTorch broadcasts in C++ and reduces in
// Python.
#include "sim/strategy/ddp/coalesced_groups.hpp"

namespace foretrain {

std::vector<CoalescedGroup> broadcast_groups(std::span<const std::int64_t> elements,
                                             std::int64_t element_bytes) {
  std::vector<CoalescedGroup> groups;
  CoalescedGroup open;
  for (const std::int64_t count : elements) {
    ++open.tensors, open.size += Bytes{count * element_bytes};
    if (open.size < kCoalescedBytes) continue;
    groups.push_back(open);
    open = {};
  }
  if (open.tensors > 0) groups.push_back(open);
  return groups;
}

std::vector<CoalescedGroup> reduce_groups(std::span<const std::int64_t> elements,
                                          std::int64_t element_bytes) {
  std::vector<CoalescedGroup> groups;
  CoalescedGroup open;
  for (const std::int64_t count : elements) {
    const Bytes size{count * element_bytes};
    // A tensor above the limit is a message of its own.
    if (open.size.count > 0 && open.size + size > kCoalescedBytes) {
      groups.push_back(open);
      open = {};
    }
    ++open.tensors, open.size += size;
  }
  if (open.tensors > 0) groups.push_back(open);
  return groups;
}

}  // namespace foretrain
