// Tools that start their own processes for a training that a settings file describes: llamafactory-cli,
// axolotl, litgpt and yolo.
#include <algorithm>

#include <fmt/format.h>

#include "sim/import/launch_reader.hpp"

namespace foretrain {

namespace {

/// Says whether a word names a file of settings.
bool is_settings_name(const ShellWord& word) {
  const std::string& text = word.text;
  return word.known && (text.ends_with(".yaml") || text.ends_with(".yml") || text.ends_with(".json"));
}

/// Returns the first file of settings in words[from, …) as an argument of the program.
std::optional<ProgramArgument> settings_in(const std::vector<ShellWord>& words, std::size_t from,
                                           const std::string& tool) {
  for (std::size_t i = from; i < words.size(); ++i) {
    if (is_settings_name(words[i])) return ProgramArgument{"settings", tool, words[i].text, words[i].span};
  }
  return std::nullopt;
}

/// Returns the value of an option that may stand anywhere, with "-" and "_" alike: "--num-processes 4" or
/// "--launcher=python".
/// `word` is set to the option's word; it is unchanged if there is none.
std::string value_of_option(const std::vector<ShellWord>& words, std::size_t from,
                            std::initializer_list<std::string_view> names, const ShellWord*& word) {
  for (std::size_t i = from; i < words.size(); ++i) {
    const std::size_t equals = std::min(words[i].text.find('='), words[i].text.size());
    std::string name = words[i].text.substr(0, equals);
    std::replace(name.begin() + std::min<std::ptrdiff_t>(2, std::ssize(name)), name.end(), '_', '-');
    if (std::ranges::find(names, name) == names.end()) continue;
    word = &words[i];
    if (equals < words[i].text.size()) return words[i].text.substr(equals + 1);
    return i + 1 < words.size() ? words[i + 1].text : "";
  }
  return "";
}

/// The module that axolotl's own command runs.
constexpr std::string_view kAxolotlModule = "axolotl.cli.train";

}  // namespace

/// Returns the number that an option states. If it is not known before the script runs, `open` says so.
Field<int> LaunchReader::stated_count(const Words& words, std::size_t from,
                                      std::initializer_list<std::string_view> names,
                                      std::vector<NotUnderstood>& open) const {
  const ShellWord* word = nullptr;
  const std::string value = value_of_option(words, from, names, word);
  if (word == nullptr) return {};
  return count_of({word->text.substr(0, word->text.find('=')), value, word}, open);
}

/// Reads "llamafactory-cli train settings.yaml", which starts torchrun with a process for each GPU that it
/// sees.
void LaunchReader::read_llamafactory(const Words& words, std::size_t i, const Way& way) {
  if (i + 1 >= words.size() || words[i + 1].text != "train") return;
  LaunchCandidate out = begin(words[i], StartedBy::torchrun, way);
  // The number is set now if the request states GPUs, else when the cluster is known.
  out.launch.follows_gpus = true;
  out.launch.processes_per_node = gpus_per_node(words[i].span);
  add_tool(words, i, std::move(out), settings_in(words, i + 2, "llamafactory-cli train"));
}

/// Reads "axolotl train settings.yml [--launcher accelerate|torchrun|python] [-- options of the launcher]".
/// accelerate, the default, starts a process for each GPU that it sees.
void LaunchReader::read_axolotl(const Words& words, std::size_t i, const Way& way) {
  if (i + 1 >= words.size() || words[i + 1].text != "train") return;
  // The launcher is chosen by an option, and each starts its processes in its own way.
  const ShellWord* word = nullptr;
  const std::string launcher = value_of_option(words, i + 2, {"--launcher"}, word);
  const StartedBy starter = launcher == "torchrun" ? StartedBy::torchrun
                            : launcher == "python" ? StartedBy::python
                                                   : StartedBy::accelerate;
  LaunchCandidate out = begin(words[i], starter, way);
  const Field<int> said =
      stated_count(words, i + 2, {"--num-processes", "--nproc-per-node"}, out.not_understood);
  const Field<int> nodes = stated_count(words, i + 2, {"--num-machines", "--nnodes"}, out.not_understood);
  out.launch.awaited_nodes = nodes;
  if (starter == StartedBy::accelerate) {
    out.launch.follows_gpus = !said;
    out.launch.processes_per_node =
        said ? per_node(said, nodes ? nodes : Field<int>(Found<int>{1, words[i].span}))
             : gpus_per_node(words[i].span);
  } else if (said) {
    out.launch.processes_per_node = said;
  }
  add_tool(words, i, std::move(out), settings_in(words, i + 2, "axolotl train"));
}

/// Adds the settings that `python -m axolotl.cli.train settings.yml` reads, and the processes that accelerate
/// starts of it where no option states them.
void LaunchReader::settle_module(const Words& words, std::size_t i, LaunchCandidate& candidate) const {
  if (words[i].text != kAxolotlModule) return;
  if (const auto settings = settings_in(words, i + 1, std::string(kAxolotlModule)))
    candidate.launch.arguments.insert(candidate.launch.arguments.begin(), *settings);
  if (candidate.launch.started_by->value != StartedBy::accelerate || candidate.launch.processes_per_node)
    return;
  // A configuration file states the number of processes, and is read with the settings.
  const bool has_file = std::ranges::any_of(candidate.launch.launcher_words, [](const ShellWord& word) {
    return word.text.starts_with("--config");
  });
  if (has_file) return;
  std::erase_if(candidate.not_understood,
                [](const NotUnderstood& open) { return open.text == "accelerate launch"; });
  candidate.launch.follows_gpus = true;
  candidate.launch.processes_per_node = gpus_per_node(words[i].span);
}

/// Reads "litgpt finetune|pretrain … --devices 4 --num_nodes 2". Lightning Fabric starts the processes of its
/// node, with FSDP for more than one; under srun the tasks are the processes.
void LaunchReader::read_litgpt(const Words& words, std::size_t i, const Way& way) {
  const std::string command = i + 1 < words.size() ? words[i + 1].text : "";
  if (!command.starts_with("finetune") && command != "pretrain") return;
  LaunchCandidate out = begin(words[i], way.outer ? StartedBy::python : StartedBy::lightning, way);
  const Field<int> devices = stated_count(words, i + 2, {"--devices"}, out.not_understood);
  out.launch.awaited_nodes = stated_count(words, i + 2, {"--num-nodes"}, out.not_understood);
  if (!way.outer)
    out.launch.processes_per_node = devices ? devices : Field<int>(Found<int>{1, words[i].span});
  const Field<int>& each = out.launch.processes_per_node;
  // The other commands of finetune train adapters.
  if (command != "pretrain" && command != "finetune_full")
    out.not_understood.push_back(
        {words[i].span, "litgpt " + command, "trains adapters (LoRA and the like), which are not modelled"});
  std::optional<ProgramArgument> strategy;
  if (each && each->value > 1) strategy = ProgramArgument{"strategy", "litgpt", "fsdp", words[i].span};
  add_tool(words, i, std::move(out), strategy);
}

/// Reads "yolo [detect] train device=0,1,2,3 …". Ultralytics starts torchrun for several devices, on its own
/// node.
void LaunchReader::read_yolo(const Words& words, std::size_t i, const Way& way) {
  bool trains = false;
  std::string devices;
  for (std::size_t k = i + 1; k < words.size(); ++k) {
    const std::size_t dashes = std::min(words[k].text.find_first_not_of('-'), words[k].text.size());
    const std::string word = words[k].text.substr(dashes);
    trains = trains || word == "train" || word == "mode=train";
    if (word.starts_with("device=")) devices = words[k].known ? word.substr(7) : "?";
  }
  if (!trains) return;
  // Devices are a list; a single one, or none, is one process.
  const int count = static_cast<int>(std::min<std::ptrdiff_t>(std::ranges::count(devices, ',') + 1, 1024));
  LaunchCandidate out = begin(words[i], count > 1 ? StartedBy::torchrun : StartedBy::python, way);
  if (count > 1) out.launch.processes_per_node = Found<int>{count, words[i].span};
  if (way.outer && way.nodes && way.nodes->value > 1)
    out.launch.alone = {"yolo, which trains on one node", words[i].span};
  if (devices == "?")
    out.not_understood.push_back({words[i].span, "device", "its value is not known before the script runs"});
  add_tool(words, i, std::move(out), std::nullopt);
}

/// Adds a tool as the program; `more` stands before the arguments of its line.
void LaunchReader::add_tool(const Words& words, std::size_t i, LaunchCandidate candidate,
                            const std::optional<ProgramArgument>& more) {
  const std::size_t before = found_.size();
  add_program(words, i, std::move(candidate));
  // There is no program if the line ends before it.
  if (found_.size() == before || !more) return;
  std::vector<ProgramArgument>& arguments = found_.back().launch.arguments;
  arguments.insert(arguments.begin(), *more);
}

}  // namespace foretrain
