// Options are a table: name, whether a value follows, what it does; --help prints it.
#include "calibrate/micro/plan/options.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "calibrate/micro/plan/budget.hpp"
#include "calibrate/micro/plan/family.hpp"
#include "sim/base/names.hpp"

namespace foretrain::micro {

namespace {

struct OptionRow {
  std::string name;   ///< with dashes
  std::string value;  ///< what follows, for help; empty: nothing does
  std::string help;
  std::function<void(Options&, const std::string&)> set;
};

void set_budget(Options& options, const std::string& text) {
  const auto seconds = parse_budget(text);
  if (!seconds) throw UsageError(fmt::format("--budget {}: expected a time as in 90s, 2m, 1h", text));
  options.budget_s = *seconds;
}

void set_families(Options& options, const std::string& text) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string name = text.substr(begin, end - begin);
    if (find_family(name) == nullptr)
      throw UsageError(
          fmt::format("--only: unknown family \"{}\"; {}", name, did_you_mean(name, family_names())));
    options.only.push_back(name);
    begin = end + 1;
  }
}

const std::vector<OptionRow>& rows() {
  using Action = Options::Action;
  static const std::vector<OptionRow> table{
      {"-o", "FILE",
       "where the samples go (default samples.csv; - is standard output); points that stand there are kept "
       "and not measured again",
       [](Options& o, const std::string& text) { o.output = text; }},
      {"--budget", "TIME",
       "how long to measure: 90s, 2m (default), 10m; the most informative points come first", set_budget},
      {"--only", "FAMILY,...", "only these families; --list names them", set_families},
      {"--points", "FILE", "only points that stand in this samples CSV",
       [](Options& o, const std::string& text) { o.points = text; }},
      {"--host-only", "", "only what needs no GPU",
       [](Options& o, const std::string&) { o.host_only = true; }},
      {"--fresh", "", "start over: drop what the file holds",
       [](Options& o, const std::string&) { o.fresh = true; }},
      {"--dry-run", "", "print the points and how long each may take, in order; measure and write nothing",
       [](Options& o, const std::string&) { o.dry_run = true; }},
      {"--no-children", "",
       "measure NCCL only as this process's NCCL_* variables have it, in no child process",
       [](Options& o, const std::string&) { o.may_spawn = false; }},
      {"--rendezvous", "DIR", "a folder that all ranks of a job see, where no MPI library is found",
       [](Options& o, const std::string& text) { o.rendezvous = text; }},
      {"--list", "", "print the families, what each needs and how many points it has here",
       [](Options& o, const std::string&) { o.action = Action::list; }},
      {"--help", "", "print this", [](Options& o, const std::string&) { o.action = Action::help; }},
      {"--version", "", "print the version",
       [](Options& o, const std::string&) { o.action = Action::version; }},
  };
  return table;
}

const OptionRow& row_of(const std::string& name) {
  const auto at =
      std::find_if(rows().begin(), rows().end(), [&](const OptionRow& row) { return row.name == name; });
  if (at != rows().end()) return *at;
  std::vector<std::string> names;
  for (const OptionRow& row : rows()) names.push_back(row.name);
  const std::string what = name.empty() || name[0] != '-' ? "unexpected argument" : "unknown option";
  throw UsageError(fmt::format("{} \"{}\"; {}", what, name, did_you_mean(name, names)));
}

}  // namespace

Options parse_options(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::size_t equals = arguments[i].starts_with("--") ? arguments[i].find('=') : std::string::npos;
    const OptionRow& row = row_of(arguments[i] == "-h" ? "--help" : arguments[i].substr(0, equals));
    if (row.value.empty() && equals != std::string::npos)
      throw UsageError(fmt::format("{} takes no value", row.name));
    const bool is_next = !row.value.empty() && equals == std::string::npos;
    if (is_next && i + 1 == arguments.size())
      throw UsageError(fmt::format("{} needs a value: {}", row.name, row.value));
    std::string value;
    if (is_next) value = arguments[++i];
    if (equals != std::string::npos) value = arguments[i].substr(equals + 1);
    if (!row.value.empty() && value.empty())
      throw UsageError(fmt::format("{} needs a value: {}", row.name, row.value));
    row.set(options, value);
  }
  return options;
}

std::string help_text() {
  std::string text =
      "foretrain-bench [OPTIONS]\n\nMeasures this machine: GPUs, NCCL, copies, the host. `foretrain "
      "calibrate` fits a calibration to the "
      "samples.\n\n";
  for (const OptionRow& row : rows())
    text += fmt::format("  {:<24} {}\n", row.name + (row.value.empty() ? "" : " " + row.value), row.help);
  text +=
      "\nExamples:\n"
      "  foretrain-bench --budget 10m -o samples.csv       everything on this node\n"
      "  foretrain-bench --only host,gemm                  two families\n"
      "  srun -N2 --ntasks-per-node=4 foretrain-bench      collectives across nodes, one GPU per rank\n"
      "\nFORETRAIN_PYTHON names the Python that is measured and whose packages' CUDA libraries are used "
      "(python3).\n"
      "\nExit codes: 0 done, 1 a file that is no samples CSV, 2 usage, 3 no usable GPU, a failed call, or a "
      "wrong result.\n";
  return text;
}

}  // namespace foretrain::micro
