// Trace and prediction have the same accounts under other names. A table joins them and holds the likely
// reasons for a difference in either direction.
#include "sim/analysis/traces/trace_difference.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/decimal.hpp"

namespace foretrain {

namespace {

/// A row of the table.
struct AccountCause {
  std::string_view key, what;
  Account predicted;
  std::vector<TraceAccount> measured;
  /// Reasons why the measured account may be longer, or shorter.
  std::string_view if_longer, if_shorter;
};

const std::vector<AccountCause>& account_causes() {
  static const std::vector<AccountCause> rows{
      {"compute",
       "kernels of forward and backward",
       Account::compute,
       {TraceAccount::compute},
       "kernels run slower than modelled (clocks, layout of images, precision, algorithms of the library), "
       "or "
       "there are more of them: compare the kinds of kernels of `trace show` with `model show --gpu`",
       "kernels run faster than modelled, or some that are modelled do not run: is it the same network, "
       "batch "
       "and precision?"},
      {"exposed_communication",
       "communication that nothing hides",
       Account::exposed_communication,
       {TraceAccount::communication},
       "collectives take longer than the cluster's links and NCCL's choice say, or begin when the other "
       "ranks "
       "are not there yet: look at all ranks' files together (`trace show RANK0 RANK1 ...`)",
       "more of it is hidden than predicted, or the links are faster than the cluster file says"},
      {"input_stall",
       "waiting for a batch",
       Account::input_stall,
       {TraceAccount::loading},
       "the data loader is slower than [data] says: more workers, a slower disk, heavier augmentation",
       "batches come faster than [data] says, or the recorded loop uses one batch again and again"},
      {"host",
       "waiting for the host",
       Account::host,
       {TraceAccount::host, TraceAccount::launch},
       "the host needs longer for each call than the cluster's host.slowdown says; a profiler adds to every "
       "call, most with stacks and shapes on",
       "the host is faster than the cluster's host.slowdown says, or the network is compiled"},
      {"optimizer",
       "kernels of the optimizer",
       Account::optimizer,
       {TraceAccount::optimizer},
       "the optimizer has more state or more launches than the predicted one",
       "the optimizer is fused, or has less state than the predicted one"},
      {"other",
       "anything else",
       Account::other,
       {TraceAccount::copy, TraceAccount::waiting, TraceAccount::unknown},
       "copies, or waits for events that the strategy does not have",
       "the strategy has work that was not recorded"},
  };
  return rows;
}

/// Returns the sentence on one difference with its likely reason.
std::string difference_text(const AccountCause& row, const ComparedAccount& account, double step_s) {
  const double seconds = account.difference_s();
  const std::string_view cause = seconds > 0 ? row.if_longer : row.if_shorter;
  return fmt::format("{}: measured {} ms, predicted {} ms ({} ms, {} % of the step). Likely: {}{}", row.what,
                     decimal(1e3 * account.measured_s, 1), decimal(1e3 * account.predicted_s, 1),
                     signed_decimal(1e3 * seconds, 1), percent(std::abs(seconds) / step_s, 1), cause,
                     cause.ends_with('?') ? "" : ".");
}

}  // namespace

double TraceDifference::error() const {
  return accounts.empty() || accounts.front().measured_s <= 0
             ? 0
             : accounts.front().predicted_s / accounts.front().measured_s - 1;
}

TraceDifference compare_trace(const TraceSummary& measured, const Prediction& prediction,
                              const PredictionPoint& point) {
  TraceDifference out;
  out.file = measured.file;
  out.model = prediction.model;
  out.cluster = prediction.cluster;
  out.strategy = prediction.strategy;
  out.gpus = point.gpus;
  out.batch_per_gpu = point.batch_per_gpu;
  // A trace without steps has no median, so its mean length stands for the step.
  const double step_s = measured.typical_s > 0 ? measured.typical_s : measured.mean.length_s;
  // Accounts are means over steps; the scale makes them sum to the typical step.
  const double scale = measured.mean.length_s > 0 ? step_s / measured.mean.length_s : 1;
  out.accounts.push_back({"step", "step", step_s, point.step_s});
  for (const AccountCause& row : account_causes()) {
    ComparedAccount account{std::string(row.key), std::string(row.what), 0,
                            point.breakdown[static_cast<std::size_t>(row.predicted)]};
    for (const TraceAccount part : row.measured) account.measured_s += scale * measured.mean.of(part);
    // Every account is listed, but only sizeable differences are explained.
    if (std::abs(account.difference_s()) >= kSmallestDifference * step_s)
      out.largest.push_back({account.key, difference_text(row, account, step_s), account.difference_s()});
    out.accounts.push_back(std::move(account));
  }
  std::ranges::stable_sort(out.largest, std::greater<>{},
                           [](const NamedDifference& row) { return std::abs(row.seconds); });
  if (out.largest.size() > kNamedDifferences) out.largest.resize(kNamedDifferences);
  out.measured_buckets = measured.buckets;
  for (const Bytes bucket : point.buckets) out.predicted_buckets.push_back(bucket.count);
  out.notes = measured.notes;
  return out;
}

}  // namespace foretrain
