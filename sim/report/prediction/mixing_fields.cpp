// Declares the JSON fields about ranks that are not alike, and what that costs.
//
// Ranks differ when their nodes, clocks or batches do. A step then waits for the slowest ranks.
#include "sim/report/fields/shared_fields.hpp"
#include "sim/report/prediction/table.hpp"

namespace foretrain {

template <>
const OutputObject<MixingChoice>& output_object<MixingChoice>();

// Ranks of one kind of node, batch and clock.
template <>
const OutputObject<UnlikeShare>& output_object<UnlikeShare>() {
  using U = UnlikeShare;
  static const OutputObject<U> object{
      "UnlikeRanks",
      "Ranks of a job that are not like its others",
      {{"kind", "of node", &U::kind},
       {"nodes", "nodes they are on", &U::nodes},
       {"gpus", "number of GPUs", &U::gpus},
       {"batch_per_gpu", "samples per GPU and micro-step", &U::batch_per_gpu},
       {"clock", "of the GPUs, over that of others of the kind", &U::clock},
       {"own_step_s", "a step that waits for nobody slower", &U::own_step_s},
       {"waits_s", "waits for slower ranks in a step", &U::waits_s},
       {"memory_bytes", "what a GPU holds", [](const U& u) { return u.memory.total(); }},
       {"capacity_bytes", "what a GPU has", &U::memory_capacity},
       {"fits", "whether it fits into memory",
        [](const U& u) { return u.memory.least() <= u.memory_capacity; }},
       {"largest_batch_per_gpu", "the largest batch of a micro-step that fits", &U::largest_batch}}};
  return object;
}

// mixing.choices[].
template <>
const OutputObject<MixingChoice>& output_object<MixingChoice>() {
  using M = MixingChoice;
  static const OutputObject<M> object{
      "MixingChoice",
      "A way to run the job: on all of its nodes, or without some",
      {{"nodes_of_the_job", "which nodes, in words", &M::what},
       {"gpus", "number of GPUs", &M::gpus},
       {"nodes", "nodes they are on", &M::nodes},
       {"global_batch", "samples that an optimizer step trains", &M::global_batch},
       {"step_s", "a step", &M::step_s},
       {"samples_per_s", "training rate over all GPUs", &M::samples_per_s},
       {"total_s", "the whole run; null: the number of samples is unknown", &M::total_s},
       {"fits", "whether it fits into memory", &M::fits}}};
  return object;
}

// mixing itself.
template <>
const OutputObject<Mixing>& output_object<Mixing>() {
  using M = Mixing;
  static const OutputObject<M> object{
      "Mixing",
      "What it costs that the ranks of a job are not alike, on the most GPUs that are listed",
      {{"gpus", "number of GPUs", &M::gpus},
       {"ranks", "ranks of one machine, batch and clock each, in the order of their first ranks", &M::ranks},
       {"choices", "all nodes of the job first, then without some", &M::choices},
       {"best", "the fastest choice that fits, from 0", &M::best},
       {"verdict", "which nodes to take, in a sentence", [](const M& m) { return spoken_verdict(m); }}}};
  return object;
}

}  // namespace foretrain
