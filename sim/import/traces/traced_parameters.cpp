// Finds the sizes of parameters and the order of their gradients. Recorded shapes are exact. Without shapes
// the bytes of a bucket of DDP are still exact; within it the last gradient gets what fills it, since DDP
// closed the bucket behind that one.
#include "sim/import/traces/traced_parameters.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/import/traces/execution_trace.hpp"

namespace foretrain {

namespace {

/// Elements that close DDP's first bucket, of 1 MiB with 4 bytes each; the gradients before the last one are
/// well below.
constexpr std::int64_t kFirstBucketElements = (std::int64_t{1} << 20) / 4;

/// Returns the recorded sizes of all gradients in order; an empty one is not recorded.
std::vector<std::string> gradient_sizes(const TracedStep& step) {
  std::vector<std::string> out;
  for (const TracedOperator& op : step.operators) {
    for (const std::string& size : op.ready_sizes) out.push_back(size);
  }
  return out;
}

/// Returns the number of gradients in a step.
std::size_t gradient_count(const TracedStep& step) {
  std::size_t count = 0;
  for (const TracedOperator& op : step.operators) count += static_cast<std::size_t>(op.ready);
  return count;
}

/// Returns a size with one dimension.
std::string flat_size(std::int64_t elements) { return fmt::format("f32[{}]", elements); }

/// Divides `elements` over `count` gradients. Those before the last one have at most `most_before` together.
void add_bucket(std::vector<std::string>& sizes, std::size_t count, std::int64_t elements,
                std::int64_t most_before) {
  const std::int64_t before = std::min({elements / 2, most_before, elements - 1});
  for (std::size_t i = 0; i + 1 < count; ++i) {
    const std::int64_t each = std::max<std::int64_t>(1, before / static_cast<std::int64_t>(count - 1));
    sizes.push_back(flat_size(each));
    elements -= each;
  }
  sizes.push_back(flat_size(std::max<std::int64_t>(1, elements)));
}

/// Returns sizes that fill the buckets exactly; empty where the buckets do not hold all gradients.
std::vector<std::string> sizes_by_buckets(const TracedStep& step, std::size_t count) {
  std::size_t in_buckets = 0;
  for (const auto& [gradients, bytes] : step.buckets)
    in_buckets += static_cast<std::size_t>(std::max(gradients, 0));
  const bool is_whole = in_buckets == count && std::ranges::all_of(step.buckets, [](const auto& bucket) {
                          return bucket.first > 0 && bucket.second / 4 >= bucket.first;
                        });
  std::vector<std::string> out;
  if (!is_whole) return out;
  for (const auto& [gradients, bytes] : step.buckets)
    add_bucket(out, static_cast<std::size_t>(gradients), bytes / 4, kFirstBucketElements / 2);
  return out;
}

/// Returns sizes of `count` equal parameters with `elements` in all.
std::vector<std::string> equal_sizes(std::size_t count, std::int64_t elements) {
  std::vector<std::string> out;
  const auto all = static_cast<std::int64_t>(count);
  for (std::int64_t i = 0; i < all; ++i)
    out.push_back(flat_size(std::max<std::int64_t>(1, elements / all + (i < elements % all ? 1 : 0))));
  return out;
}

}  // namespace

/// The optimizer's lists have all parameters in the order of registration; a list whose begin is a
/// permutation of the gradients is such a list. Without one, the reverse order of the gradients is taken.
TracedParameters ordered_parameters(const std::vector<std::string>& ready_sizes,
                                    const std::vector<std::vector<std::string>>& lists) {
  TracedParameters out;
  const std::size_t count = ready_sizes.size();
  for (const std::vector<std::string>& list : lists) {
    if (list.size() < count || count == 0) continue;
    const auto end = list.begin() + static_cast<std::ptrdiff_t>(count);
    if (!std::is_permutation(list.begin(), end, ready_sizes.begin(), ready_sizes.end())) continue;
    out.sizes.assign(list.begin(), end);
    break;
  }
  const bool is_known = !out.sizes.empty();
  if (!is_known) out.sizes.assign(ready_sizes.rbegin(), ready_sizes.rend());
  // Gradients of the last layers come first, so of equal sizes the last one that is left is taken.
  std::vector<bool> used(count, false);
  for (const std::string& size : ready_sizes) {
    std::size_t at = count;
    while (at > 0 && (used[at - 1] || out.sizes[at - 1] != size)) --at;
    used[at - 1] = true;
    out.of_ready.push_back(at - 1);
  }
  return out;
}

TracedParameters traced_parameters(const TracedStep& step, const ModelImportOptions& options,
                                   Diagnostics& diagnostics) {
  const std::size_t count = gradient_count(step);
  std::vector<std::string> sizes = gradient_sizes(step);
  TracedParameters out;
  const bool has_shapes = std::ranges::none_of(sizes, &std::string::empty) && !sizes.empty();
  if (has_shapes) return ordered_parameters(sizes, step.update_sizes);
  const std::vector<std::string> by_buckets = sizes_by_buckets(step, count);
  if (!by_buckets.empty()) {
    sizes = by_buckets;
    out.remarks.push_back(
        fmt::format("sizes of {} are made up within {}, whose bytes are exact: the trace has no shapes "
                    "(record_shapes=True)",
                    counted(static_cast<std::int64_t>(count), "parameter"),
                    counted(static_cast<std::int64_t>(step.buckets.size()), "bucket")));
  } else if (options.parameters && count > 0) {
    sizes = equal_sizes(count, *options.parameters);
    out.remarks.push_back(
        "all parameters are given the same size: the trace has no shapes (record_shapes=True)");
  } else if (count > 0) {
    diagnostics.report(
        {},
        fmt::format("does not say how large its {} are",
                    counted(static_cast<std::int64_t>(count), "parameter")),
        "record with record_shapes=True, or say how many there are, as in --parameters 25557032");
    return out;
  }
  // The last parameter has the first gradient.
  for (std::size_t i = 0; i < sizes.size(); ++i) out.of_ready.push_back(sizes.size() - 1 - i);
  out.sizes.assign(sizes.rbegin(), sizes.rend());
  return out;
}

}  // namespace foretrain
