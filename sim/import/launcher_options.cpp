// The options of each launcher, from its --help page.
// Only options without a value, and those with two, have to be known: any other option takes the next word as
// its value.
#include <algorithm>
#include <map>

#include "sim/import/launch_reader.hpp"

namespace foretrain {

namespace {

/// Says whether a name is in a list.
bool has(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Says whether an unknown variable may hold options: it stands where options may stand, and a program
/// follows further on.
bool may_be_options(const std::vector<ShellWord>& words, std::size_t i) {
  const std::string& text = words[i].text;
  const bool is_variable = !words[i].known && ((text.starts_with("${") && text.ends_with('}')) ||
                                               (text.size() == 2 && text[0] == '$'));
  if (!is_variable) return false;
  for (std::size_t k = i + 1; k < words.size(); ++k) {
    if (words[k].text.ends_with(".py")) return true;
  }
  return false;
}

}  // namespace

/// The lists are the flags, then the options with two values, then whether a Python program follows, whether
/// values are joined, and all long options.
const LauncherSyntax& torchrun_syntax() {
  static const LauncherSyntax syntax{
      {"--standalone", "-m", "--module", "--no-python", "--use-env", "--run-path", "-h", "--help"},
      {},
      true,
      false,
      {"--nnodes",
       "--nproc-per-node",
       "--rdzv-backend",
       "--rdzv-endpoint",
       "--rdzv-id",
       "--rdzv-conf",
       "--standalone",
       "--max-restarts",
       "--start-method",
       "--monitor-interval",
       "--event-log-handler",
       "--role",
       "--module",
       "--no-python",
       "--run-path",
       "--log-dir",
       "--redirects",
       "--tee",
       "--local-ranks-filter",
       "--node-rank",
       "--master-addr",
       "--master-port",
       "--local-addr",
       "--logs-specs",
       "--numa-binding",
       "--use-env",
       "--duplicate-stdout-filters"}};
  return syntax;
}

/// accelerate accepts options with "-" and with "_"; they are listed with "-".
const LauncherSyntax& accelerate_syntax() {
  static const LauncherSyntax syntax{{"--multi-gpu",
                                      "--cpu",
                                      "--tpu",
                                      "--use-deepspeed",
                                      "--use-fsdp",
                                      "--use-megatron-lm",
                                      "--use-xpu",
                                      "--use-mps-device",
                                      "-m",
                                      "--module",
                                      "--no-python",
                                      "--same-network",
                                      "--debug",
                                      "--quiet",
                                      "-q",
                                      "--dynamo-use-fullgraph",
                                      "--dynamo-use-dynamic",
                                      "--ipex",
                                      "--use-parallelism-config",
                                      "--enable-cpu-affinity",
                                      "--fp16"},
                                     {},
                                     true};
  return syntax;
}

/// deepspeed's parser accepts prefixes of its options, so all of them are listed.
const LauncherSyntax& deepspeed_syntax() {
  static const LauncherSyntax syntax{
      {"--no-local-rank", "--no-python", "--no-ssh", "--no-ssh-check", "-m", "--module", "--force-multi",
       "--elastic-training", "--bind-cores-to-rank", "--save-pid", "--enable-each-rank-log", "--ssh",
       "--autotuning"},
      {},
      true,
      false,
      {"--hostfile",
       "--include",
       "--exclude",
       "--num-nodes",
       "--min-elastic-nodes",
       "--max-elastic-nodes",
       "--num-gpus",
       "--master-port",
       "--node-rank",
       "--master-addr",
       "--launcher",
       "--launcher-args",
       "--module",
       "--no-python",
       "--no-local-rank",
       "--no-ssh",
       "--no-ssh-check",
       "--force-multi",
       "--save-pid",
       "--enable-each-rank-log",
       "--autotuning",
       "--elastic-training",
       "--bind-cores-to-rank",
       "--bind-core-list",
       "--ssh-port",
       "--venv-script"}};
  return syntax;
}

/// The options of Open MPI, MPICH and Intel MPI together.
const LauncherSyntax& mpirun_syntax() {
  static const LauncherSyntax syntax{
      {"--allow-run-as-root",
       "--report-bindings",
       "--oversubscribe",
       "--tag-output",
       "-tag-output",
       "-v",
       "--verbose",
       "-q",
       "--quiet",
       "--bynode",
       "-bynode",
       "--nooversubscribe",
       "--display-map",
       "--display-allocation",
       "--use-hwthread-cpus",
       "-l",
       "-prepend-rank",
       "--timestamp-output",
       "-nolocal",
       "--nolocal",
       "--enable-recovery",
       "-novm",
       "-s",
       "--pernode",
       "-pernode",
       "--line-buffer",
       "--label",
       "--no-abort-on-failure",
       "--transfer"},
      {"--mca", "-mca", "--gmca", "-gmca", "-genv", "-env", "--pmixmca", "--prtemca"}};
  return syntax;
}

/// horovodrun's parser takes all other options with a value.
const LauncherSyntax& horovodrun_syntax() {
  static const LauncherSyntax syntax{
      {"--gloo", "--use-gloo", "--mpi", "--use-mpi", "--js", "--verbose", "--disable-cache", "--autotune",
       "--no-autotune", "--timeline-mark-cycles", "--hierarchical-allreduce", "--check-build", "-cb",
       "--no-stall-check", "--tcp"},
      {}};
  return syntax;
}

const LauncherSyntax& lightning_syntax() {
  static const LauncherSyntax syntax{{"--help"}, {}, true};
  return syntax;
}

/// The options of Singularity and Apptainer, whose exec and run stand before the launcher proper.
const LauncherSyntax& container_syntax() {
  static const LauncherSyntax syntax{{"--nv",
                                      "--rocm",
                                      "--contain",
                                      "-c",
                                      "--containall",
                                      "-C",
                                      "--cleanenv",
                                      "-e",
                                      "--writable",
                                      "-w",
                                      "--writable-tmpfs",
                                      "--fakeroot",
                                      "-f",
                                      "--no-home",
                                      "--nvccli",
                                      "--userns",
                                      "-u",
                                      "--ipc",
                                      "-i",
                                      "--pid",
                                      "-p",
                                      "--net",
                                      "--uts",
                                      "--no-init",
                                      "--no-eval",
                                      "--compat",
                                      "-s",
                                      "--silent",
                                      "-q",
                                      "--quiet",
                                      "-d",
                                      "--debug",
                                      "--no-privs",
                                      "--disable-cache"},
                                     {}};
  return syntax;
}

/// The options of Docker and Podman.
const LauncherSyntax& docker_syntax() {
  static const LauncherSyntax syntax{
      {"--rm", "-i", "-t", "-it", "-ti", "-d", "--privileged", "--init", "--read-only", "--interactive",
       "--tty", "--detach",
       // podman-hpc's own
       "--gpu", "--nccl", "--mpi", "--cuda-mpi", "--openmpi-pmi2", "--openmpi-pmix"},
      {}};
  return syntax;
}

const LauncherSyntax& enroot_syntax() {
  static const LauncherSyntax syntax{{"--rw", "-w", "--root", "-r"}, {}};
  return syntax;
}

const LauncherSyntax& python_syntax() {
  static const LauncherSyntax syntax{
      {"-u", "-O", "-OO", "-B", "-E", "-I", "-s", "-S", "-v", "-q", "-b", "-bb", "-i", "-d", "-P", "-x"},
      {},
      true};
  return syntax;
}

/// The options of srun without a value. Those that are read elsewhere take values, so they need no row here.
const LauncherSyntax& srun_syntax() {
  static const LauncherSyntax syntax{{"--exclusive",
                                      "--kill-on-bad-exit",
                                      "-K",
                                      "--label",
                                      "-l",
                                      "--unbuffered",
                                      "-u",
                                      "--overlap",
                                      "--exact",
                                      "--multi-prog",
                                      "--pty",
                                      "--no-kill",
                                      "-k",
                                      "--overcommit",
                                      "-O",
                                      "--oversubscribe",
                                      "-s",
                                      "--contiguous",
                                      "-W",
                                      "--quiet",
                                      "-Q",
                                      "--verbose",
                                      "-v",
                                      "-vv",
                                      "--x11",
                                      "--propagate",
                                      "--resv-ports",
                                      "--disable-status",
                                      "-X",
                                      "--interactive",
                                      "--whole",
                                      "--container-mount-home",
                                      "--no-container-mount-home",
                                      "--container-writable",
                                      "--container-remap-root",
                                      "--preserve-env",
                                      "-E",
                                      "--hold",
                                      "-H"},
                                     {}};
  return syntax;
}

/// The options of jsrun without a value, from man jsrun.
const LauncherSyntax& jsrun_syntax() {
  static const LauncherSyntax syntax{
      {"-h", "--help", "-i", "--immediate", "-V", "--version", "-X", "-u", "--nohup"}, {}, false, true};
  return syntax;
}

/// The options of flux run without a value, from flux-run(1).
const LauncherSyntax& flux_run_syntax() {
  static const LauncherSyntax syntax{{"-x", "--exclusive", "-l", "--label-io", "-u", "--unbuffered", "-v",
                                      "--verbose", "--dry-run", "--wait", "--watch"},
                                     {},
                                     false,
                                     true};
  return syntax;
}

const LauncherSyntax& remote_shell_syntax(std::string_view command, int& hosts) {
  static const LauncherSyntax ssh{{"-n", "-f", "-q", "-t", "-tt", "-T", "-x", "-X", "-A", "-a", "-4", "-v"},
                                  {}},
      pbsdsh{{"-u", "-v", "-s", "-o"}, {}}, blaunch{{"-n", "-no-wait", "-use-login-shell", "-no-shell"}, {}};
  hosts = command == "ssh" ? 1 : 0;
  return command == "ssh" ? ssh : command == "pbsdsh" ? pbsdsh : blaunch;
}

/// The table holds commands that start another one and do not change how many processes train.
const LauncherSyntax* prefix_syntax(std::string_view command) {
  static const LauncherSyntax none{{}, {}}, time{{"-p", "-v", "-a"}, {}}, env{{"-i", "-", "-0"}, {}},
      numactl{{"--localalloc", "-l", "--show", "-s"}, {}}, nsys{{"--stats"}, {}},
      timeout{{"--foreground", "--preserve-status", "-v"}, {}},
      conda{{"--no-capture-output", "--live-stream", "-v"}, {}};
  static const std::map<std::string_view, const LauncherSyntax*> rows{
      {"time", &time},   {"/usr/bin/time", &time}, {"exec", &none},        {"nohup", &none},
      {"env", &env},     {"command", &none},       {"numactl", &numactl},  {"nice", &none},
      {"ionice", &none}, {"stdbuf", &none},        {"taskset", &time},     {"timeout", &timeout},
      {"nsys", &nsys},   {"ncu", &nsys},           {"nvprof", &nsys},      {"dlprof", &nsys},
      {"conda", &conda}, {"mamba", &conda},        {"micromamba", &conda}, {"uv", &none},
      {"poetry", &none}, {"pipenv", &none},        {"catchsegv", &none},   {"unbuffer", &none},
      {"ltrace", &none}, {"perf", &none},          {"set_gpu", &none}};
  const auto found = rows.find(command);
  return found == rows.end() ? nullptr : found->second;
}

// A prefix counts only if exactly one long option begins with it.
std::string whole_option_name(std::string name, const LauncherSyntax& syntax) {
  const auto begins = [&](std::string_view option) { return option.starts_with(name); };
  const std::vector<std::string_view>& all = syntax.long_options;
  if (!name.starts_with("--") || has(all, name) || std::ranges::count_if(all, begins) != 1) return name;
  return std::string(*std::ranges::find_if(all, begins));
}

std::vector<LauncherOption> read_options(const std::vector<ShellWord>& words, std::size_t& i,
                                         const LauncherSyntax& syntax) {
  std::vector<LauncherOption> out;
  for (; i < words.size(); ++i) {
    if (syntax.starts_python && may_be_options(words, i)) continue;
    if (words[i].text.size() < 2 || words[i].text[0] != '-') break;
    const std::string& text = words[i].text;
    // "--" ends the options by convention.
    if (text == "--") return ++i, out;
    const std::size_t equals = text.find('=');
    std::string name = text.substr(0, equals);
    // torchrun and others accept --nproc_per_node and --nproc-per-node.
    std::replace(name.begin(), name.end(), '_', '-');
    name = whole_option_name(std::move(name), syntax);
    const bool is_letter = text[1] != '-' && syntax.joins_values;
    if (equals != std::string::npos && !is_letter) {
      out.push_back({std::move(name), text.substr(equals + 1), &words[i]});
    } else if (has(syntax.flags, name)) {
      out.push_back({std::move(name), {}, &words[i]});
    } else if (text.size() > 2 && text[1] != '-' &&
               (syntax.joins_values || (text[2] >= '0' && text[2] <= '9'))) {
      // A letter may have its value joined, as in -n4.
      out.push_back({text.substr(0, 2), text.substr(2), &words[i]});
    } else {
      const std::size_t values = has(syntax.pairs, name) ? 2 : 1;
      const std::size_t last = std::min(i + values, words.size() - 1);
      out.push_back({std::move(name), last > i ? words[i + 1].text : std::string(),
                     last > i ? &words[i + 1] : &words[i]});
      i = last;
    }
  }
  return out;
}

const LauncherOption* find_option(const std::vector<LauncherOption>& options,
                                  std::initializer_list<std::string_view> names) {
  // The last of several options counts, as in the launchers' parsers.
  for (auto option = options.rbegin(); option != options.rend(); ++option) {
    if (std::find(names.begin(), names.end(), option->name) != names.end()) return &*option;
  }
  return nullptr;
}

}  // namespace foretrain
