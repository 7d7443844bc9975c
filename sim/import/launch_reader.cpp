// Every launcher has a function that counts its processes and continues with the rest of the line. The
// recursion ends at a Python program.
#include "sim/import/launch_reader.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/program_arguments.hpp"

namespace foretrain {

namespace {

/// Limit of scripts inside of scripts.
constexpr int kDeepestScript = 4;

/// Says whether a word is a Python interpreter: python3.11, /usr/bin/python, a profiler that runs programs,
/// or a variable called PYTHON… that is set elsewhere.
bool is_python(const ShellWord& word) {
  const std::string name = lower_case(base_name(word.text));
  if (!word.known) return name.starts_with("${python");
  if (name == "ipython" || name == "ipython3" || name == "kernprof" || name == "scalene") return true;
  return name.starts_with("python") && name.find_first_not_of("0123456789.", 6) == std::string::npos;
}

/// Says whether a word names a shell script.
bool is_script(std::string_view text) { return text.ends_with(".sh") || text.ends_with(".bash"); }

/// Says whether a script only sets up an environment, by its name.
bool sets_up(std::string_view text) {
  const std::string_view name = base_name(text);
  return is_one_of(name,
                   {"conda.sh", "activate", "profile", "modules.sh", "lmod.sh", "bash.sh", "init.sh"}) ||
         name.starts_with("Mini") || name.starts_with("Anaconda") || name.starts_with("Mamba") ||
         name.starts_with("setup") || name.starts_with("env");
}

/// Says whether a Python file stands in the rest of a line.
bool holds_python_file(const std::vector<ShellWord>& words, std::size_t from) {
  return std::any_of(words.begin() + static_cast<std::ptrdiff_t>(from), words.end(),
                     [](const ShellWord& word) { return word.text.ends_with(".py"); });
}

/// Says whether the launcher counts the GPUs itself, as torchrun and fabric do.
bool counts_gpus(const LauncherOption& option) { return is_one_of(option.value, {"gpu", "auto"}); }

/// Returns the nodes that a launcher waits for: of "2:4" the fewest; no value when unknown.
Field<int> awaited_nodes(const LauncherOption* option) {
  if (option == nullptr || !option->word->known) return {};
  const auto count = whole_number(std::string_view(option->value).substr(0, option->value.find(':')));
  if (!count || *count < 1 || *count > 1'000'000) return {};
  return Found<int>{static_cast<int>(*count), option->word->span};
}

}  // namespace

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') == std::string_view::npos ? 0 : path.rfind('/') + 1);
}

/// A command of the script begins on the first node, outside of all launchers.
void LaunchReader::read(const ShellCommand& command) {
  Way way;
  way.certain = command.certain, way.repeated = command.repeated;
  read_words(command.words, 0, way);
}

/// The cases stand in the order of certainty: interpreters, known programs, then files by their names.
void LaunchReader::read_words(const Words& words, std::size_t i, const Way& way) {
  if (i >= words.size() || way.depth > kDeepestScript) return;
  const std::string_view name = base_name(words[i].text);
  if (is_python(words[i])) return read_python(words, i, way);
  if (!words[i].known) return read_unknown(words, i);
  if (read_launcher(name, words, i, way) || read_wrapper(name, words, i, way)) return;
  if (name.ends_with(".py") && !is_one_of(name, {"setup.py"}))
    return add_program(words, i, begin(words[i], StartedBy::python, way));
  if (is_script(name)) return read_other_script(words, i, way);
  read_unknown(words, i);
}

// These programs start the processes of a training.
bool LaunchReader::read_launcher(std::string_view name, const Words& words, std::size_t i, const Way& way) {
  if (name == "srun") return read_srun(words, i + 1, way), true;
  if (name == "torchrun") return read_torchrun(words, i, way), true;
  if (name == "jsrun") return read_jsrun(words, i + 1, way), true;
  if (name == "flux" && i + 1 < words.size() && is_one_of(words[i + 1].text, {"run", "submit", "mini"}))
    return read_flux_run(words, i + (words[i + 1].text == "mini" ? 3 : 2), way), true;
  if (is_one_of(name, {"ssh", "pbsdsh", "blaunch"})) return read_remote_shell(name, words, i + 1, way), true;
  if (is_one_of(name, {"mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun", "aprun", "mpirun_rsh"}))
    return read_mpirun(words, i, way, StartedBy::mpirun), true;
  if (name == "horovodrun") return read_mpirun(words, i, way, StartedBy::horovodrun), true;
  if (name == "deepspeed") return read_deepspeed(words, i, way), true;
  if (name == "llamafactory-cli") return read_llamafactory(words, i, way), true;
  if (name == "axolotl") return read_axolotl(words, i, way), true;
  if (name == "litgpt") return read_litgpt(words, i, way), true;
  if (name == "yolo") return read_yolo(words, i, way), true;
  const std::string_view second =
      i + 1 < words.size() ? std::string_view(words[i + 1].text) : std::string_view();
  if (name == "accelerate" || name == "accelerate-launch") {
    if (second == "launch" || name == "accelerate-launch") read_accelerate(words, i, way);
    return true;
  }
  if ((name == "fabric" || name == "lightning") && second == "run")
    return read_lightning(words, i, way), true;
  return false;
}

// These programs start the rest of their line once, in another environment.
bool LaunchReader::read_wrapper(std::string_view name, const Words& words, std::size_t i, const Way& way) {
  if (is_one_of(name, {"bash", "sh", "zsh", "eval", "source", "."})) return read_shell(words, i, way), true;
  const std::string_view second =
      i + 1 < words.size() ? std::string_view(words[i + 1].text) : std::string_view();
  if (name == "singularity_wrapper" || name == "apptainer_wrapper")
    return read_words(words, second == "exec" || second == "run" ? i + 2 : i + 1, way), true;
  const bool container = name == "singularity" || name == "apptainer",
             docker = name == "docker" || name == "podman" || name == "podman-hpc";
  if (container || docker || name == "shifter") {
    if (name != "shifter" && second != "exec" && second != "run") return true;
    std::size_t at = name == "shifter" ? i + 1 : i + 2;
    read_options(words, at, docker ? docker_syntax() : container_syntax());
    return read_words(words, name == "shifter" ? at : at + 1, way), true;
  }
  if (name == "enroot") {
    std::size_t at = i + 2;
    if (second != "start") return true;
    read_options(words, at, enroot_syntax());
    return read_words(words, at + 1, way), true;
  }
  const LauncherSyntax* prefix = prefix_syntax(words[i].text);
  if (prefix == nullptr) return false;
  std::size_t at = i + 1;
  read_options(words, at, *prefix);
  const bool has_run = at < words.size() && is_one_of(words[at].text, {"run", "profile", "stat", "record"});
  if (is_one_of(name, {"conda", "mamba", "micromamba", "uv", "poetry", "pipenv"}) && !has_run) return true;
  if (has_run) read_options(words, ++at, *prefix);
  if (name == "timeout") ++at;
  while (name == "env" && at < words.size() && words[at].text.find('=') != std::string::npos) ++at;
  return read_words(words, at, way), true;
}

void LaunchReader::read_script(std::string_view text, int first_line, const Way& way, ShellValues values) {
  if (--scripts_left_ < 0) return;
  for (const ShellCommand& command : read_commands(text, values, first_line)) {
    Way inner = way;
    inner.certain = way.certain && command.certain, inner.repeated = way.repeated || command.repeated;
    ++inner.depth;
    read_words(command.words, 0, inner);
  }
}

/// Reads "bash -c '…'", "bash script.sh" or "source script.sh".
void LaunchReader::read_shell(const Words& words, std::size_t i, const Way& way) {
  if (words[i].text == "eval") {
    std::string text;
    for (std::size_t k = i + 1; k < words.size(); ++k) text += words[k].text + " ";
    return read_script(text, words[i].span.line, way, values_);
  }
  for (++i; i < words.size() && words[i].text.size() > 1 && words[i].text[0] == '-'; ++i) {
    const bool is_command = words[i].text[1] != '-' && words[i].text.ends_with('c');
    if (is_command && i + 1 < words.size())
      return read_script(words[i + 1].text, words[i + 1].span.line, way, values_);
  }
  if (i < words.size() && !(words[i].known && sets_up(words[i].text))) read_other_script(words, i, way);
}

// The arguments of a script become its $1 to $9.
void LaunchReader::read_other_script(const Words& words, std::size_t i, const Way& way) {
  const std::string& name = words[i].text;
  const bool can_find = find_ && words[i].known && way.depth < kDeepestScript;
  if (const auto script = can_find ? find_(name) : std::nullopt) {
    ShellValues values = values_;
    for (std::size_t k = i + 1; k < words.size() && k - i < 10; ++k) {
      if (words[k].known) values.set(std::to_string(k - i), words[k].text);
    }
    Way inner = way;
    inner.file = name;
    return read_script(script->text, 1, inner, values);
  }
  if (is_script(name) || !words[i].known)
    unread_.push_back({words[i].span, name, "starts another script, which is not read here"});
}

// Commands that handle files may name a Python file without starting it.
void LaunchReader::read_unknown(const Words& words, std::size_t i) {
  const std::string_view name = base_name(words[i].text);
  const bool handles_files =
      is_one_of(name, {"cp",   "mv",    "ls",    "cat",      "tar",    "rsync", "sed",    "echo",   "chmod",
                       "cd",   "ln",    "git",   "pip",      "black",  "diff",  "touch",  "printf", "tee",
                       "wc",   "head",  "tail",  "grep",     "rm",     "which", "export", "scp",    "wget",
                       "curl", "unzip", "mkdir", "dos2unix", "sbcast", "test"});
  if (handles_files || !holds_python_file(words, i)) return;
  unknown_.push_back({words[i].span, words[i].text,
                      words[i].known ? fmt::format("{} is no launcher that is read here", name)
                                     : "what it stands for is not known"});
}

// The launcher runs once, on the first node, if nothing starts it on several.
LaunchCandidate LaunchReader::begin(const ShellWord& word, StartedBy starter, const Way& way) const {
  LaunchCandidate out;
  const bool by_outer = starter == StartedBy::python && way.outer;
  out.launch.started_by = {by_outer ? *way.outer : starter, word.span};
  out.launch.under_srun = way.outer.has_value() && !by_outer;
  out.launch.repeated = way.repeated;
  out.launch.file = way.file;
  out.certain = way.certain;
  out.launch.nodes = way.outer ? way.nodes : Field<int>(Found<int>{1, word.span});
  out.launch.processes_per_node = way.outer ? way.per_node : Field<int>(Found<int>{1, word.span});
  out.launch.gpus_per_node = way.gpus_per_node;
  out.launch.cpus_per_node = way.cpus_per_node;
  out.launch.alone = way.alone;
  out.not_understood = way.open;
  out.launch.launcher_words = way.launcher_words;
  out.launch.variables = way.variables;
  return out;
}

void LaunchReader::add_program(const Words& words, std::size_t i, LaunchCandidate candidate) {
  if (i >= words.size()) return;
  const bool has_name =
      base_name(words[i].text).find('$') == std::string_view::npos;  // only the folder is not known
  if (words[i].known || has_name)
    candidate.launch.program = {words[i].text, words[i].span};
  else
    candidate.not_understood.push_back({words[i].span, words[i].text, "which program this is, is not known"});
  candidate.launch.arguments = read_arguments(words, i + 1, candidate.not_understood);
  settle_module(words, i, candidate);
  candidate.launch.program_words.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
  found_.push_back(std::move(candidate));
}

/// Returns the GPUs of a node by the request. No value if the request states none, since the site may give
/// out whole nodes.
Field<int> LaunchReader::gpus_per_node(const SourceSpan& span) const {
  if (!resources_.gpus_per_node || resources_.gpus_per_node->value < 1) return {};
  return Found<int>{resources_.gpus_per_node->value, span};
}

Field<int> LaunchReader::per_node(const Field<int>& all, const Field<int>& nodes) const {
  if (!all || !nodes || nodes->value < 1) return {};
  return Found<int>{(all->value + nodes->value - 1) / nodes->value, all->span};
}

Field<int> LaunchReader::times(const Field<int>& a, const Field<int>& b) {
  if (!a || !b) return {};
  const std::int64_t all = std::int64_t{a->value} * b->value;
  return Found<int>{static_cast<int>(std::min<std::int64_t>(all, 1'000'000'000)), a->span};
}

Field<int> LaunchReader::count_of(const LauncherOption& option, std::vector<NotUnderstood>& open) const {
  const SourceSpan& span = option.word->span;
  if (counts_gpus(option)) return gpus_per_node(span);
  const auto count = option.word->known ? whole_number(option.value) : std::nullopt;
  if (count && *count >= 1 && *count <= 1'000'000) return Found<int>{static_cast<int>(*count), span};
  open.push_back({span, option.name + " " + option.value,
                  option.word->known ? "is no number of processes or nodes"
                                     : "its value is not known before the script runs"});
  return {};
}

void LaunchReader::read_python(const Words& words, std::size_t i, const Way& way) {
  const ShellWord& python = words[i++];
  const std::string_view tool = base_name(python.text);
  static const LauncherSyntax kernprof{{"-l", "--line-by-line", "-b", "--builtin", "-v", "--view", "-r"}, {}};
  const Options options = read_options(words, i, tool == "kernprof" ? kernprof : python_syntax());
  if (find_option(options, {"-c", "-V", "--version", "--help", "-h"}) != nullptr) return;
  const LauncherOption* module = tool == "kernprof" ? nullptr : find_option(options, {"-m"});
  if (module == nullptr) {
    const bool prepares =
        i < words.size() && is_one_of(base_name(words[i].text), {"setup.py", "collect_env.py", "manage.py"});
    return prepares ? void() : add_program(words, i, begin(python, StartedBy::python, way));
  }
  const std::size_t at = static_cast<std::size_t>(module->word - words.data());
  const std::string& name = module->value;
  if (is_one_of(name, {"torch.distributed.run", "torch.distributed.launch", "torch.distributed.elastic"}))
    return read_torchrun(words, at, way);
  if (name == "accelerate.commands.launch") return read_accelerate(words, at, way);
  if (name == "deepspeed.launcher.runner" || name == "deepspeed") return read_deepspeed(words, at, way);
  if (is_one_of(name, {"cProfile", "torch.utils.bottleneck", "kernprof", "memory_profiler", "line_profiler",
                       "scalene", "viztracer"})) {
    i = at + 1;
    read_options(words, i, kernprof);
    return add_program(words, i, begin(python, StartedBy::python, way));
  }
  const std::string first = name.substr(0, name.find('.'));
  if (is_one_of(first, {"pip", "venv", "ensurepip", "site", "http", "json", "zipfile", "virtualenv", "wandb",
                        "ipykernel", "compileall", "pytest", "unittest", "sglang", "vllm"}))
    return;
  if (name != "torch.utils.collect_env") add_program(words, at, begin(python, StartedBy::python, way));
}

/// Reads torchrun; `i` is torchrun itself or the name of its module. Without --nproc_per_node it starts one
/// process.
void LaunchReader::read_torchrun(const Words& words, std::size_t i, const Way& way) {
  LaunchCandidate out = begin(words[i], StartedBy::torchrun, way);
  const std::size_t first = ++i;
  const Options options = read_options(words, i, torchrun_syntax());
  set_standalone(words, first, i, options, out.launch);
  const LauncherOption* each = find_option(options, {"--nproc-per-node"});
  out.launch.awaited_nodes = awaited_nodes(find_option(options, {"--nnodes"}));
  const auto from_environment = values_.find("PET_NPROC_PER_NODE");  // as Kubeflow sets it
  const auto set = from_environment ? whole_number(*from_environment) : std::nullopt;
  const int default_count = set && *set > 0 && *set <= 1024 ? static_cast<int>(*set) : 1;
  const Field<int> started = each != nullptr ? count_of(*each, out.not_understood)
                                             : Field<int>(Found<int>{default_count, words[i - 1].span});
  const Field<int> agents = out.launch.processes_per_node;
  out.launch.follows_gpus = each != nullptr && counts_gpus(*each);
  out.launch.processes_per_node =
      started && agents
          ? Field<int>(Found<int>{started->value * std::max(1, std::min(agents->value, 1024)), started->span})
          : Field<int>();
  add_program(words, i, std::move(out));
}

void LaunchReader::read_accelerate(const Words& words, std::size_t i, const Way& way) {
  LaunchCandidate out = begin(words[i], StartedBy::accelerate, way);
  if (i + 1 < words.size() && words[i + 1].text == "launch") ++i;
  const SourceSpan span = words[i].span;
  const std::size_t first = i + 1;
  const Options options = read_options(words, ++i, accelerate_syntax());
  set_standalone(words, first, i, options, out.launch);
  const auto at = [&](std::size_t word) {
    return words.begin() + static_cast<std::ptrdiff_t>(std::min(word, words.size()));
  };
  out.launch.launcher_words.assign(at(first), at(std::max(first, i)));
  const LauncherOption* all = find_option(options, {"--num-processes"});
  const LauncherOption* machines = find_option(options, {"--num-machines"});
  const LauncherOption* config = find_option(options, {"--config-file"});
  out.launch.awaited_nodes = awaited_nodes(machines);
  const Field<int> nodes = machines != nullptr ? count_of(*machines, out.not_understood)
                           : config == nullptr ? Field<int>(Found<int>{1, span})
                                               : Field<int>();
  out.launch.processes_per_node =
      all != nullptr ? per_node(count_of(*all, out.not_understood), nodes) : Field<int>();
  if (all == nullptr)
    out.not_understood.push_back(
        {span, "accelerate launch", "how many processes is said in a configuration file, not here"});
  for (const char* strategy : {"--use-deepspeed", "--use-fsdp"}) {
    if (const LauncherOption* found = find_option(options, {strategy}))
      out.launch.arguments.push_back({std::string(strategy).substr(6), strategy, "true", found->word->span});
  }
  if (config != nullptr && config->word->known)
    out.launch.arguments.push_back({"settings", config->name, config->value, config->word->span});
  const LauncherOption* precision = find_option(options, {"--mixed-precision"});
  const auto own = out.launch.arguments;
  add_program(words, i, std::move(out));
  if (found_.empty() || i >= words.size()) return;
  std::vector<ProgramArgument>& arguments = found_.back().launch.arguments;
  arguments.insert(arguments.begin(), own.begin(), own.end());
  if (precision != nullptr)
    arguments.push_back({"precision", precision->name, precision->value, precision->word->span});
}

/// Reads "fabric run --devices=4 --num-nodes=2 train.py", which starts processes through torchrun.
void LaunchReader::read_lightning(const Words& words, std::size_t i, const Way& way) {
  LaunchCandidate out = begin(words[i], StartedBy::lightning, way);
  i += 2;
  if (i < words.size() && words[i].text == "model") ++i;
  const std::size_t first = i;
  const Options options = read_options(words, i, lightning_syntax());
  set_standalone(words, first, i, options, out.launch);
  const LauncherOption* devices = find_option(options, {"--devices"});
  out.launch.awaited_nodes = awaited_nodes(find_option(options, {"--num-nodes"}));
  out.launch.follows_gpus = devices != nullptr && counts_gpus(*devices);
  out.launch.processes_per_node = devices != nullptr ? count_of(*devices, out.not_understood)
                                                     : Field<int>(Found<int>{1, out.launch.started_by->span});
  add_program(words, i, std::move(out));
}

/// Reads deepspeed, which takes all GPUs of the node unless --num_gpus states otherwise, and other nodes only
/// with a host file.
void LaunchReader::read_deepspeed(const Words& words, std::size_t i, const Way& way) {
  LaunchCandidate out = begin(words[i], StartedBy::deepspeed, way);
  const SourceSpan span = words[i].span;
  const std::size_t first = ++i;
  const Options options = read_options(words, i, deepspeed_syntax());
  set_standalone(words, first, i, options, out.launch);
  const LauncherOption* gpus = find_option(options, {"--num-gpus"});
  const LauncherOption* nodes = find_option(options, {"--num-nodes"});
  const bool has_hosts = find_option(options, {"--hostfile", "-H"}) != nullptr;
  out.launch.processes_per_node = gpus != nullptr ? count_of(*gpus, out.not_understood) : gpus_per_node(span);
  out.launch.follows_gpus = gpus == nullptr;
  if (nodes != nullptr)
    out.launch.nodes = count_of(*nodes, out.not_understood);
  else if (has_hosts)
    out.launch.nodes = resources_.nodes;
  const LauncherOption* binds = find_option(options, {"--bind-cores-to-rank"});
  const std::size_t before = found_.size();
  add_program(words, i, std::move(out));
  if (binds != nullptr && found_.size() > before)
    found_.back().launch.arguments.push_back({"bind_cores", binds->name, "true", binds->word->span});
}

}  // namespace foretrain
