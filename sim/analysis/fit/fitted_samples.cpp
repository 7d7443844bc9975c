// Samples of a group that is too large are chosen at random, so that no period in a file's lines coincides
// with that of the choice.
#include "sim/analysis/fit/fitted_samples.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "sim/base/random.hpp"

namespace foretrain {

namespace {

using Chosen = std::vector<const Sample*>;

/// Returns true for samples whose job has settings of its own.
bool is_of_a_job(const Sample& sample) {
  return sample.kind == SampleKind::collective || sample.kind == SampleKind::training;
}

/// Orders samples by their job, so that equal jobs are one.
struct ByJob {
  bool operator()(const Sample* a, const Sample* b) const {
    const auto job = [](const Sample& s) { return std::tie(s.kind, s.gpus, s.nodes, s.settings); };
    return job(*a) < job(*b);
  }
};

/// Keeps evenly spaced jobs in that order, the smallest and the largest included.
void thin_out_jobs(Chosen& samples) {
  std::set<const Sample*, ByJob> jobs;
  for (const Sample* sample : samples) {
    if (is_of_a_job(*sample)) jobs.insert(sample);
  }
  if (jobs.size() <= kMostFittedJobs) return;
  const Chosen all(jobs.begin(), jobs.end());
  std::set<const Sample*, ByJob> wanted;
  for (std::size_t i = 0; i < kMostFittedJobs; ++i)
    wanted.insert(all[i * (all.size() - 1) / (kMostFittedJobs - 1)]);
  std::erase_if(samples, [&](const Sample* s) { return is_of_a_job(*s) && wanted.count(s) == 0; });
}

/// Returns the indices of samples by the constants that they give information about.
std::vector<std::vector<std::size_t>> groups_of(const Chosen& samples) {
  using Key = std::tuple<SampleKind, std::string_view, int, int, std::string_view>;
  std::map<Key, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Sample& s = *samples[i];
    groups[{s.kind, s.what, s.gpus, s.nodes, setting_of(s, "precision")}].push_back(i);
  }
  std::vector<std::vector<std::size_t>> out;
  for (auto& [key, places] : groups) out.push_back(std::move(places));
  return out;
}

/// Returns the largest number for each group with which all together stay within the limit. Groups below
/// their share leave the rest to larger ones.
std::size_t quota_of(std::vector<std::vector<std::size_t>>& groups) {
  std::ranges::sort(groups, {}, [](const auto& group) { return group.size(); });
  std::size_t left = kMostFittedSamples;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::size_t share = left / (groups.size() - i);
    if (groups[i].size() > share) return share;
    left -= groups[i].size();
  }
  return kMostFittedSamples;
}

/// Keeps at most the quota of each group; ties are broken by a fixed random number for each sample.
void thin_out(Chosen& samples) {
  if (samples.size() <= kMostFittedSamples) return;
  std::vector<std::vector<std::size_t>> groups = groups_of(samples);
  const std::size_t quota = quota_of(groups);
  const CounterRandom lots(1);
  const auto lot = [&](std::size_t place) { return lots.uniform(place, 0); };
  std::vector<bool> stays(samples.size(), false);
  for (std::vector<std::size_t>& group : groups) {
    const std::size_t count = std::min(quota, group.size());
    if (count < group.size())
      std::ranges::nth_element(group, group.begin() + static_cast<std::ptrdiff_t>(count), {}, lot);
    for (std::size_t i = 0; i < count; ++i) stays[group[i]] = true;
  }
  std::size_t place = 0;
  std::erase_if(samples, [&](const Sample*) { return !stays[place++]; });
}

}  // namespace

/// Samples are the same measurement if they differ only in in_place.
std::vector<bool> second_times(const std::vector<Sample>& samples) {
  const auto is_in_place = [](const Sample& sample) { return setting_of(sample, "in_place") == "1"; };
  const auto job_of = [](const Sample& sample) {
    Settings settings = sample.settings;
    std::erase_if(settings, [](const auto& setting) { return setting.first == "in_place"; });
    return std::tuple(sample.what, sample.gpus, sample.nodes, sample.bytes, sample.source,
                      std::move(settings));
  };
  std::vector<bool> second(samples.size(), false);
  if (std::ranges::none_of(samples, is_in_place)) return second;
  std::set<decltype(job_of(samples.front()))> first;
  for (const Sample& sample : samples) {
    if (sample.kind == SampleKind::collective && !is_in_place(sample)) first.insert(job_of(sample));
  }
  for (std::size_t i = 0; i < samples.size(); ++i)
    second[i] = is_in_place(samples[i]) && first.count(job_of(samples[i])) > 0;
  return second;
}

std::vector<Sample> samples_to_fit(const std::vector<Sample>& samples, bool (*takes)(const Sample&)) {
  Chosen chosen;
  for (const Sample& sample : samples) {
    if (takes(sample)) chosen.push_back(&sample);
  }
  // Jobs are thinned out first, so that the quota of samples is shared among the jobs that stay.
  thin_out_jobs(chosen);
  thin_out(chosen);
  std::vector<Sample> fitted;
  fitted.reserve(chosen.size());
  for (const Sample* sample : chosen) fitted.push_back(*sample);
  return fitted;
}

}  // namespace foretrain
