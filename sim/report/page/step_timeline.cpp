// Writes the spans of one step as numbers that refer to lists of names, so that thousands of spans make a
// small page.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "sim/analysis/step/link_waits.hpp"
#include "sim/report/json_value.hpp"
#include "sim/report/page/page.hpp"
#include "sim/report/prediction/trace_names.hpp"

namespace foretrain {

namespace {

// Number of kinds of link that get a lane.
constexpr std::size_t kLinkKinds = kBackgroundWait;

// The load of a message on one kind of link: bytes over the link that needs longest, and that link's
// bandwidth.
struct KindLoad {
  double bytes = 0;
  double bytes_per_s = 0;
  /// Returns the seconds that the link is busy.
  double seconds() const { return bytes_per_s > 0 ? bytes / bytes_per_s : 0; }
};
using KindLoads = std::array<KindLoad, kLinkKinds>;

/// Returns, for each byte of traffic, the load on the busiest link of each kind.
KindLoads kind_loads_of(const std::vector<PatternFlow>& flows, const Cluster& cluster) {
  std::map<LinkId, double> bytes;
  for (const PatternFlow& flow : flows) {
    for (const LinkId link : flow.route) bytes[link] += flow.weight;
  }
  KindLoads loads{};
  for (const auto& [id, sum] : bytes) {
    const ClusterLink link = cluster.links()[id];
    const KindLoad load{sum, link.bandwidth.per_second};
    KindLoad& most = loads[static_cast<std::size_t>(link.kind)];
    if (load.seconds() > most.seconds()) most = load;
  }
  return loads;
}

// A span of the page; times are relative to the start of the step.
struct PageSpan {
  std::size_t lane;
  double start_us, length_us;
  std::string name;
  TaskKind kind;
  double bytes;
};

/// Rounds to 0.1 ns, which is enough to look at and keeps the page small.
double rounded(double us) { return std::round(us * 1e4) / 1e4; }

// Collects the spans of the shown step by lane.
class StepLanes {
 public:
  StepLanes(const RecordedSteps& recorded, const std::vector<std::string>& layers)
      : graph_(recorded.plan.graph),
        timeline_(recorded.timeline),
        cluster_(*recorded.cluster),
        patterns_(graph_.pattern_count()) {
    // The last step is not typical: the host runs ahead of the GPU and has nothing left to do there. So the
    // one before it is shown when there are enough.
    const std::vector<TaskId>& ends = recorded.plan.step_ends;
    const std::size_t steps = ends.size(), shown = steps > 2 ? steps - 1 : steps;
    from_ = shown > 1 ? timeline_.end_of(ends[shown - 2]) : Time{};
    until_ = shown > 0 ? timeline_.end_of(ends[shown - 1]) : Time{};
    const std::vector<std::string> names = trace_names(graph_, layers);
    for (TaskId id = 0; id < graph_.tasks().size(); ++id) add(id, names[id]);
  }

  /// Returns everything as JSON.
  Json json() {
    Json out{{"step_s", to_seconds(until_ - from_)}};
    const std::size_t all = spans_.size();
    // The longest spans are kept, since short ones could not be seen anyway.
    if (all > kMostPageSpans) {
      std::ranges::stable_sort(spans_, std::greater{}, &PageSpan::length_us);
      spans_.resize(kMostPageSpans);
    }
    std::ranges::stable_sort(spans_, [](const PageSpan& a, const PageSpan& b) {
      return a.lane != b.lane ? a.lane < b.lane : a.start_us < b.start_us;
    });
    add_spans(out);
    out["left_out"] = all - spans_.size();
    out["links"] = links_json();
    return out;
  }

 private:
  /// Returns the lane of a kind of link. Lanes of queues come first.
  std::size_t lane_of_link(std::size_t kind) const { return graph_.queues().size() + kind; }

  /// Adds the span of a task, and the spans of its traffic on each kind of link.
  void add(TaskId id, const std::string& name) {
    const Task& task = graph_.tasks()[id];
    const Span& span = timeline_.spans[id];
    // Tasks without length and outside of the step are not shown.
    if (span.end == span.start || span.end <= from_ || span.start >= until_) return;
    add_span(task.queue, span.start, span.end, name, task, static_cast<double>(task.traffic.count));
    if (task.pattern == kNone) return;
    // Loads are computed once for each pattern of traffic.
    std::optional<KindLoads>& known = patterns_[task.pattern];
    if (!known) known = kind_loads_of(graph_.pattern(task.pattern), cluster_);
    for (std::size_t kind = 0; kind < kLinkKinds; ++kind) {
      const KindLoad& load = (*known)[kind];
      const double bytes = load.bytes * static_cast<double>(task.traffic.count);
      if (!(bytes > 0)) continue;
      add_span(lane_of_link(kind), std::min(span.start + task.duration, span.end), span.end, name, task,
               bytes);
      use_[kind].bytes += bytes;
      use_[kind].bytes_per_s = load.bytes_per_s;
    }
  }

  /// Adds the part of a span that lies in the step.
  void add_span(std::size_t lane, Time start, Time end, const std::string& name, const Task& task,
                double bytes) {
    const Time first = std::max(start, from_), last = std::min(end, until_);
    if (last > first)
      spans_.push_back({lane, to_microseconds(first - from_), to_microseconds(last - first), name, task.kind,
                        std::round(bytes)});
  }

  /// Writes lists of lanes, names and kinds, and the spans as indices into them.
  void add_spans(Json& out) const {
    std::map<std::size_t, std::size_t> lanes;
    std::map<std::string, std::size_t> names, kinds;
    Json lane_list = Json::array(), name_list = Json::array(), kind_list = Json::array(),
         spans = Json::array();
    // Returns the index of a key, which is appended to the list at its first use.
    const auto number = [](auto& known, const auto& key, Json& list, auto value) {
      const auto [place, is_new] = known.try_emplace(key, known.size());
      if (is_new) list.push_back(value());
      return place->second;
    };
    for (const PageSpan& s : spans_) {
      const std::size_t lane = number(lanes, s.lane, lane_list, [&] { return lane_json(s.lane); });
      const std::size_t name = number(names, s.name, name_list, [&] { return Json(s.name); });
      const std::string kind_name(name_of(s.kind));
      const std::size_t kind = number(kinds, kind_name, kind_list, [&] { return Json(kind_name); });
      spans.push_back({lane, rounded(s.start_us), rounded(s.length_us), name, kind, s.bytes});
    }
    out["lanes"] = std::move(lane_list);
    out["names"] = std::move(name_list);
    out["kinds"] = std::move(kind_list);
    out["spans"] = std::move(spans);
  }

  /// Returns name and sort of a lane: host, stream or link.
  Json lane_json(std::size_t lane) const {
    const std::size_t queues = graph_.queues().size();
    if (lane >= queues) return {{"name", name_of_link(lane - queues, cluster_.spec())}, {"sort", "link"}};
    const std::string& name = graph_.queues()[lane].name;
    return {{"name", name}, {"sort", name.find("stream") != std::string::npos ? "stream" : "host"}};
  }

  /// Returns the use of each kind of link: the fraction of the step for which its busiest link carries data.
  Json links_json() const {
    Json out = Json::array();
    const double step_s = to_seconds(until_ - from_);
    for (std::size_t kind = 0; kind < kLinkKinds; ++kind) {
      const KindLoad& load = use_[kind];
      if (load.bytes > 0 && step_s > 0)
        out.push_back({{"name", name_of_link(kind, cluster_.spec())},
                       {"bytes", std::round(load.bytes)},
                       {"bytes_per_s", load.bytes_per_s},
                       {"use", load.seconds() / step_s}});
    }
    return out;
  }

  const TaskGraph& graph_;
  const Timeline& timeline_;
  const Cluster& cluster_;
  Time from_{}, until_{};
  std::vector<PageSpan> spans_;
  std::vector<std::optional<KindLoads>> patterns_;
  // Loads of the whole step.
  KindLoads use_{};
};

}  // namespace

std::string step_timeline(const RecordedSteps& recorded, const std::vector<std::string>& layers) {
  return json_text(StepLanes(recorded, layers).json());
}

}  // namespace foretrain
