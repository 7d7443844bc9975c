// One line per stage: session, plan, known points, measurement, report. Of several ranks, rank 0 writes and
// speaks.
#include "calibrate/micro/gpu/benchmark.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "calibrate/micro/gpu/catalog.hpp"
#include "calibrate/micro/plan/crash_note.hpp"
#include "calibrate/micro/plan/dry_run.hpp"
#include "calibrate/micro/plan/progress.hpp"
#include "calibrate/micro/plan/sample_store.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/base/printable.hpp"

namespace foretrain::micro {

namespace {

Session session_of(const Options& options) {
  const ReadVariable read = [](const char* name) -> const char* { return std::getenv(name); };
  Session session =
      options.host_only ? open_host_session() : open_session(job_rank(read), options.rendezvous);
  session.machine.environment = nccl_environment(read);
  session.machine.may_spawn = options.may_spawn;
  session.program = std::filesystem::read_symlink("/proc/self/exe").string();
  return session;
}

bool is_wanted(const Family& family, const Options& options) {
  const bool is_named = options.only.empty() || std::find(options.only.begin(), options.only.end(),
                                                          family.name()) != options.only.end();
  return is_named && (!options.host_only || family.needs.empty());
}

void expect_possible(const Options& options) {
  for (const std::string& name : options.only) {
    if (options.host_only && !find_family(name)->needs.empty())
      throw UsageError(fmt::format("--host-only leaves out \"{}\", which --only names", name));
  }
}

/// To standard output, or to standard error when the samples go there.
void say(const Options& options, const std::string& text) {
  fmt::print(options.output == "-" ? stderr : stdout, "{}\n", printable(text));
}

/// What the samples file says too.
void warn(const Session& session, const Options& options) {
  for (const auto& [key, value] : session.provenance) {
    if (key == "warning" && session.job.rank == 0) say(options, "warning: " + value);
  }
}

std::vector<FamilyRun> plan_runs(const Session& session, const Options& options,
                                 const std::vector<Sample>& known) {
  if (!options.points.empty() && !std::filesystem::exists(options.points))
    throw UsageError(fmt::format("--points {}: there is no such file", options.points));
  const SampleFile wanted = options.points.empty() ? SampleFile{} : read_store(options.points);
  if (session.machine.ranks > 1 && session.job.rank == 0)
    say(options, fmt::format("{} ranks: only collectives are measured", session.machine.ranks));
  std::vector<FamilyRun> runs;
  for (const Family& family : families()) {
    if (!is_wanted(family, options) || (session.machine.ranks > 1 && !family.across_ranks)) continue;
    if (const std::string missing = missing_for(family, session.machine); !missing.empty()) {
      if (session.job.rank == 0)
        say(options, fmt::format("{}: left out, it needs {}", family.name(), missing));
      continue;
    }
    FamilyRun run{&family, family.plan(session.machine), nullptr};
    drop_known(run.points, known);
    if (!options.points.empty()) keep_wanted(run.points, wanted.samples);
    if (!run.points.empty()) run.measure = measure_of(run, session);
    runs.push_back(std::move(run));
  }
  return runs;
}

/// What the file holds and may be kept. Throws UsageError when it is another machine's.
SampleFile known_of(const Session& session, const Options& options) {
  SampleFile known = options.fresh ? SampleFile{} : read_store(options.output);
  if (!known.skipped.empty())
    throw UsageError(fmt::format(
        "{}:{}: {}; the row would be lost: mend it, name another file with -o, or start over with --fresh",
        options.output, known.skipped.front().line, known.skipped.front().why));
  const std::string why = mismatch(known.provenance, session.provenance);
  if (!why.empty())
    throw UsageError(
        fmt::format("{} was measured elsewhere ({}); name another file with -o, or start over with --fresh",
                    options.output, why));
  return known;
}

/// All ranks must measure the same points in the same order.
void expect_same_plan(const Session& session, const std::vector<FamilyRun>& runs) {
  std::size_t points = 0;
  for (const FamilyRun& run : runs) points += run.points.size();
  const std::string own = std::to_string(points);
  for (const std::string& other : session.gather(own)) {
    if (other != own)
      throw EnvironmentError(
          "the ranks see different samples files or GPUs; --fresh makes them measure the same points");
  }
}

RunHooks hooks_of(const Session& session, const Options& options, Progress& progress,
                  const TimeBudget& budget, std::function<void()> save) {
  RunHooks hooks;
  if (session.job.rank == 0) {
    hooks.save = std::move(save);
    hooks.progress = [&](std::string_view family, int done, int points) {
      progress.show(family, done, points, budget.left());
    };
  }
  // To standard output samples go once, at the end.
  if (options.output == "-") hooks.save = nullptr;
  // Ranks that lost different points would wait for each other.
  if (session.machine.ranks == 1) hooks.still_works = [&] { return gpu_works(session); };
  if (session.machine.ranks > 1)
    hooks.agree = [&](bool goes_on) { return session.gather(goes_on ? "1" : "0").front() == "1"; };
  return hooks;
}

RunReport measure_noting(const Session& session, const Options& options, const TimeBudget& budget,
                         std::vector<FamilyRun> runs, std::vector<Sample>& samples,
                         const std::function<void()>& save) {
  Progress progress;
  CrashNote note;
  RunHooks hooks = hooks_of(session, options, progress, budget, save);
  hooks.begin = [&](const Point& point) { note.doing(key_of(point.sample)); };
  return measure_families(std::move(runs), samples, budget, hooks);
}

void report(const RunReport& result, std::size_t known, const Options& options) {
  std::map<std::string, int> reasons;
  for (const Exclusion& one : result.skipped) ++reasons[one.why];
  for (const auto& [why, points] : reasons)
    say(options, fmt::format("{} {} skipped: {}", points, points == 1 ? "point" : "points", why));
  std::string text =
      fmt::format("{} {} measured", result.measured, result.measured == 1 ? "point" : "points");
  if (known > 0) text += fmt::format(", {} were there", known);
  if (result.out_of_time > 0) text += fmt::format(", {} left for a longer --budget", result.out_of_time);
  if (options.output != "-") text += fmt::format("; {}", options.output);
  say(options, text);
  std::fflush(stdout);
  for (const Exclusion& one : result.wrong)
    fmt::print(stderr, "error: wrong result, point discarded: {}: {}\n", one.point, one.why);
  for (const Exclusion& one : result.failed)
    fmt::print(stderr, "error: {} lost points: {}\n", one.point, one.why);
}

}  // namespace

bool run_benchmarks(const Options& options) {
  expect_possible(options);
  const Session session = session_of(options);
  const SampleFile known = known_of(session, options);
  const Settings provenance = merged_provenance(known.provenance, session.provenance);
  std::vector<Sample> samples = known.samples;
  const auto save = [&] { write_store(options.output, provenance, samples); };
  if (options.dry_run) {
    const std::string text = dry_run_text(plan_runs(session, options, samples), options.budget_s);
    if (session.job.rank == 0) fmt::print("{}", printable_lines(text));
    return true;
  }
  if (session.job.rank == 0 && options.output != "-")
    save();  // a file that cannot be written is known before anything is measured
  warn(session, options);
  std::vector<FamilyRun> runs = plan_runs(session, options, samples);
  expect_same_plan(session, runs);
  const TimeBudget budget(options.budget_s, steady_clock());
  const RunReport result = measure_noting(session, options, budget, std::move(runs), samples, save);
  if (session.job.rank != 0) return result.wrong.empty();
  save();
  report(result, known.samples.size(), options);
  return result.wrong.empty() && result.failed.empty();
}

void list_families(const Options& options) {
  Session session;
  std::string trouble;
  try {
    session = session_of(options);
  } catch (const EnvironmentError& error) {
    trouble = error.what();
    session = open_host_session();
  }
  for (const Family& family : families()) {
    const std::string missing = missing_for(family, session.machine);
    const std::string state = missing.empty() ? fmt::format("{} points", family.plan(session.machine).size())
                                              : fmt::format("needs {}", missing);
    fmt::print("{:<11} {:<66} {}\n", family.name(), family.summary, state);
  }
  if (!trouble.empty()) fmt::print("{}\n", trouble);
}

}  // namespace foretrain::micro
