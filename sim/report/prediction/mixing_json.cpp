// Ranks that are not alike and what that costs, key by key in the order of the contract.
#include "sim/report/json_value.hpp"
#include "sim/report/prediction/table.hpp"

namespace foretrain {

namespace {

Json unlike_json(const UnlikeShare& ranks) {
  return {{"kind", ranks.kind},
          {"nodes", ranks.nodes},
          {"gpus", ranks.gpus},
          {"batch_per_gpu", ranks.batch_per_gpu},
          {"clock", ranks.clock},
          {"own_step_s", ranks.own_step_s},
          {"waits_s", ranks.waits_s},
          {"memory_bytes", ranks.memory.total().count},
          {"capacity_bytes", ranks.memory_capacity.count},
          {"fits", ranks.memory.least() <= ranks.memory_capacity},
          {"largest_batch_per_gpu", ranks.largest_batch}};
}

}  // namespace

Json unlike_json(const std::vector<UnlikeShare>& all) {
  Json out = Json::array();
  for (const UnlikeShare& ranks : all) out.push_back(unlike_json(ranks));
  return out;
}

Json mixing_json(const Mixing& mixing) {
  Json out{{"gpus", mixing.gpus}, {"ranks", unlike_json(mixing.ranks)}, {"choices", Json::array()}};
  for (const MixingChoice& choice : mixing.choices)
    out["choices"].push_back({{"nodes_of_the_job", choice.what},
                              {"gpus", choice.gpus},
                              {"nodes", choice.nodes},
                              {"global_batch", choice.global_batch},
                              {"step_s", choice.step_s},
                              {"samples_per_s", choice.samples_per_s},
                              {"total_s", or_null(choice.total_s)},
                              {"fits", choice.fits}});
  out["best"] = mixing.best;
  out["verdict"] = spoken_verdict(mixing);
  return out;
}

}  // namespace foretrain
