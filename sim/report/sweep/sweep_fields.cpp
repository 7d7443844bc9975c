// The fields of how far databases of sweeps are.
#include "sim/report/sweep/sweep_fields.hpp"

namespace foretrain {

template <>
const OutputObject<SweepState>& output_object<SweepState>() {
  using S = SweepState;
  static const OutputObject<S> object{
      "SweepState",
      "How far one database is",
      {{"file", "as it was named", &S::file},
       {"sweep", "its name", &S::sweep},
       {"version", "of the program that wrote it", &S::version},
       {"shard", "which part, from 1", [](const S& s) { return s.shard.part; }},
       {"shards", "of so many", [](const S& s) { return s.shard.of; }},
       {"done", "cases that are there", &S::done},
       {"cases", "that the shard has", [](const S& s) { return s.all.cases; }},
       {"cases_are_exact", "false: estimated from some of them", [](const S& s) { return s.all.is_exact; }},
       {"failed", "of those that are there, cases that cannot run", &S::failed},
       {"crashed", "of those that failed, cases that ended the process that predicted them", &S::crashed},
       {"cases_per_s", "of its last run that came to its end; null: none has",
        [](const S& s) { return s.rate > 0 ? std::optional(s.rate) : std::nullopt; }}}};
  return object;
}

template <>
const OutputObject<SweepStates>& output_object<SweepStates>() {
  static const OutputObject<SweepStates> object{
      "SweepStatus", "How far databases of sweeps are",
      schema_of_report<SweepStates>("sweep_status") +
          OutputFields<SweepStates>{
              {"files", "in the order they were named", [](const SweepStates& s) { return s.files; }}}};
  return object;
}

}  // namespace foretrain
