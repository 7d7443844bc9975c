// Collectives by operation, size and GPUs. Groups stay connected between points, as connecting takes a
// second.
#include <charconv>
#include <map>

#include "calibrate/micro/gpu/catalog.hpp"
#include "calibrate/micro/gpu/collective_group.hpp"

namespace foretrain::micro {

#ifdef FORETRAIN_HAS_NCCL_HEADER

namespace {

std::vector<int> devices_of(const Session& session, const Sample& sample) {
  if (session.machine.ranks > 1) return {session.device()};
  std::vector<int> devices;
  const std::string_view text = setting_of(sample, "devices");
  for (const char* at = text.data(); at < text.data() + text.size(); ++at) {
    int device = 0;
    at = std::from_chars(at, text.data() + text.size(), device).ptr;
    devices.push_back(device);
  }
  for (int device = 0; text.empty() && device < sample.gpus; ++device) devices.push_back(device);
  return devices;
}

class CollectiveBench {
 public:
  explicit CollectiveBench(const Session& session) : session_(session) {}

  Measured measure(const Point& point, const RepeatRule& rule) {
    const std::vector<int> devices = devices_of(session_, point.sample);
    auto& group = groups_[devices];
    if (!group) group = std::make_unique<CollectiveGroup>(session_, devices);
    const CollectiveCall call{point.sample.what, point.sample.bytes,
                              setting_of(point.sample, "in_place") == "1"};
    group->allocate(call);
    group->expect_right(call);
    group->allocate(call);  // zeros, as sums of sums would grow beyond numbers
    return {group->time(call, rule), {}};
  }

 private:
  const Session& session_;
  std::map<std::vector<int>, std::unique_ptr<CollectiveGroup>> groups_;
};

}  // namespace

Measure collective_measure(const Session& session) {
  const auto bench = std::make_shared<CollectiveBench>(session);
  return [bench](const Point& point, const RepeatRule& rule) { return bench->measure(point, rule); };
}

#else

Measure collective_measure(const Session&) {
  return [](const Point&, const RepeatRule&) -> Measured {
    throw PointSkipped("this foretrain-bench was built without the header of NCCL");
  };
}

#endif

}  // namespace foretrain::micro
