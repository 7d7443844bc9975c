// Declares the JSON fields of `sweep status` and `sweep show`.
#include "sim/report/sweep/sweep_fields.hpp"

namespace foretrain {

// foretrain.sweep_status/1: files[].
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

// foretrain.sweep_status/1: the whole report.
template <>
const OutputObject<SweepStates>& output_object<SweepStates>() {
  static const OutputObject<SweepStates> object{
      "SweepStatus", "How far databases of sweeps are",
      schema_of_report<SweepStates>("sweep_status") +
          OutputFields<SweepStates>{
              {"files", "in the order they were named", [](const SweepStates& s) { return s.files; }}}};
  return object;
}

namespace {

/// Returns each row as an object with a key for every column. Columns are chosen by the user, so their names
/// are data and not declared fields.
std::vector<NamedValues<Value>> named_rows_of(const SweepAnswer& answer) {
  std::vector<NamedValues<Value>> out;
  for (const std::vector<Value>& row : answer.rows) {
    NamedValues<Value>& named = out.emplace_back();
    for (std::size_t c = 0; c < row.size(); ++c) named.values.emplace_back(answer.columns[c], row[c]);
  }
  return out;
}

}  // namespace

// foretrain.sweep_rows/1.
template <>
const OutputObject<SweepAnswer>& output_object<SweepAnswer>() {
  using A = SweepAnswer;
  static const OutputObject<A> object{
      "SweepRows", "Rows of a sweep",
      schema_of_report<A>("sweep_rows") +
          OutputFields<A>{{"sweep", "its name", &A::sweep},
                          {"heading", "what the rows are, as the table says it", &A::heading},
                          {"columns", "names in their order", &A::columns},
                          {"rows", "each with a key for every column", named_rows_of},
                          {"warnings", "what the user should know, in sentences", &A::warnings}}};
  return object;
}

}  // namespace foretrain
