// The launcher's options come first, then files, then what the program is given: the first that states a key
// counts.
// Variables count for the strategy that was found.
#include "sim/import/job_settings.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/import/launch_reader.hpp"
#include "sim/import/program_arguments.hpp"
#include "sim/import/settings/readers.hpp"
#include "sim/import/settings/trees.hpp"

namespace foretrain {

namespace {

/// Says whether an option of common tools names a file of settings.
bool names_settings_file(std::string_view option) {
  return is_one_of(option, {"--deepspeed", "--deepspeed_config", "--deepspeed-config", "--ds_config",
                            "--config", "-c", "--config_file", "--config-file", "--job.config_file",
                            "--job.config-file", "--fsdp_config", "--trainer.strategy.init_args.config"});
}

bool has_ending(std::string_view name) {
  return name.ends_with(".json") || name.ends_with(".yaml") || name.ends_with(".yml") ||
         name.ends_with(".toml");
}

/// A file of settings that the launch line names.
struct NamedFile {
  std::string option, name;
  SourceSpan span{};
};

/// Returns the files that arguments of the launcher and of the program name.
std::vector<NamedFile> named_files(const JobLaunch& launch) {
  std::vector<NamedFile> out;
  for (const ProgramArgument& argument : launch.arguments) {
    if (argument.key == "settings") out.push_back({argument.option, argument.value, argument.span});
  }
  const std::vector<ShellWord>& words = launch.program_words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t equals = words[i].text.find('=');
    const std::string option = words[i].text.substr(0, equals);
    if (!names_settings_file(option)) continue;
    const bool joined = equals != std::string::npos;
    if (!joined && i + 1 == words.size()) continue;
    const ShellWord& holder = joined ? words[i] : words[i + 1];
    const std::string name = joined ? words[i].text.substr(equals + 1) : holder.text;
    if (holder.known && has_ending(name)) out.push_back({option, name, holder.span});
  }
  return out;
}

/// Returns the processes of the job, else the GPUs that it reserves; 0 when unknown.
int gpus_of(const JobScript& script) {
  const Field<int>&each = script.launch.processes_per_node, &nodes = script.launch.nodes;
  const bool counts =
      each && nodes && each->value > 1 && nodes->value > 0 && each->value <= 1024 && nodes->value <= 100'000;
  if (counts) return each->value * nodes->value;
  return script.resources.gpus ? std::max(0, script.resources.gpus->value) : 0;
}

/// Returns accelerate's options in the shape of its file, so that one reader serves both.
YamlNode accelerate_tree(const std::vector<ShellWord>& words) {
  YamlNode out{SettingKind::map, {}, {}, {}, {1, 1, 1}};
  YamlNode fsdp = out, deepspeed = out, megatron = out;
  const auto says = [](const YamlNode& value) { return value.text == "true"; };
  for (auto& [name, value] : tree_of_words(words).entries) {
    std::string type = name == "use_fsdp" && says(value)          ? "FSDP"
                       : name == "use_deepspeed" && says(value)   ? "DEEPSPEED"
                       : name == "use_megatron_lm" && says(value) ? "MEGATRON_LM"
                       : name == "multi_gpu" && says(value)       ? "MULTI_GPU"
                                                                  : "";
    if (!type.empty())
      out.entries.emplace_back("distributed_type",
                               YamlNode{SettingKind::scalar, std::move(type), {}, {}, value.span});
    else if (name.starts_with("fsdp_"))
      fsdp.entries.emplace_back(name, value);
    else if (name.starts_with("megatron_lm_"))
      megatron.entries.emplace_back(name, value);
    else if (name.starts_with("deepspeed_") || name.starts_with("offload_") || name.starts_with("zero") ||
             name == "gradient_accumulation_steps" || name == "gradient_clipping")
      deepspeed.entries.emplace_back(name, value);
    else if (name == "mixed_precision" || name == "dynamo_backend")
      out.entries.emplace_back(name, value);
  }
  for (auto& [name, part] : {std::pair<const char*, YamlNode*>{"fsdp_config", &fsdp},
                             {"deepspeed_config", &deepspeed},
                             {"megatron_lm_config", &megatron}}) {
    if (!part->entries.empty()) out.entries.emplace_back(name, std::move(*part));
  }
  return out;
}

/// Reads the settings of one job. read() adds them in the order of precedence, and then derives the rest.
class JobSettingsReader {
 public:
  JobSettingsReader(const SourceText& text, JobScript& script, const ScriptFinder& find)
      : text_(text), script_(script), find_(find) {}

  JobSettings read() {
    context_.gpus = gpus_of(script_);
    context_.arguments = &script_.launch.arguments;
    context_.find = find_;
    read_launcher();
    for (const NamedFile& file : named_files(script_.launch)) read_file(file);
    read_words();
    read_program();
    take_data_parallel();
    take_strategy();
    read_variables();
    take_host_threads();
    take_processes();
    return std::move(out_);
  }

 private:
  /// Reads a named file. A file of a program's own making is not a known format and is left alone.
  void read_file(const NamedFile& named) {
    const auto text = find_ ? find_(named.name) : std::nullopt;
    if (!text) {
      script_.remarks.push_back(
          {named.span, named.name,
           fmt::format("{} {} does not lie beside the script: what it sets is not known", named.option,
                       named.name)});
      return;
    }
    if (!is_settings(*text)) return;
    add([&] { return read_settings(*text, context_); });
    drop_open_count(named.span);
  }

  /// Drops the remark that accelerate's number of processes is in a file, once a file has stated it.
  void drop_open_count(const SourceSpan& span) {
    if (out_.files.empty() || out_.files.back().processes == 0) return;
    std::erase_if(script_.not_understood, [&](const NotUnderstood& open) {
      return open.span.line == span.line && open.text == "accelerate launch";
    });
  }

  template <class Read>
  void add(Read read) {
    try {
      out_.files.push_back(read());
    } catch (const InputError& error) {
      out_.mistakes.insert(out_.mistakes.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
  }

  SourceText holder() const {
    return script_.launch.file.empty() ? SourceText{text_.name, text_.text}
                                       : SourceText{script_.launch.file, ""};
  }

  void read_words() {
    if (script_.launch.program && base_name(script_.launch.program->value) == "yolo") return read_yolo();
    SettingsContext context = context_;
    // Files that the line names are read already.
    if (!out_.files.empty()) context.find = nullptr;
    add_words(script_.launch.program_words, context);
  }

  /// Reads Ultralytics' command, whose words have no dashes.
  void read_yolo() {
    const YamlNode tree = tree_of_yolo_words(script_.launch.program_words);
    for (const SettingsFormat& format : settings_formats()) {
      if (format.recognises == is_ultralytics && !tree.entries.empty())
        add([&] { return read_settings_tree(holder(), tree, format, context_); });
    }
  }

  /// Reads the program itself if it lies beside the script: calls with literal arguments. What it leaves to
  /// its own arguments is unknown.
  void read_program() {
    const Field<std::string>& program = script_.launch.program;
    if (!program || !program->value.ends_with(".py") || !find_) return;
    const auto text = find_(program->value);
    if (!text || !is_settings(*text)) return;
    SettingsContext context = context_;
    context.find = nullptr;
    context.words = &script_.launch.program_words;
    try {
      TrainingSettings read = read_settings(*text, context);
      if (read.format != "calls in Python") return;
      std::erase_if(read.keys, [](const ReadKey& key) {
        return key.fate != KeyFate::effect && key.path != kNetworkOfProgram;
      });
      if (!out_.files.empty()) drop_default_strategy(read);
      take_own_processes(read);
      if (!read.keys.empty()) out_.files.push_back(std::move(read));
    } catch (const InputError&) {
      // A program is not a settings file: what is wrong in it is its own affair.
    }
  }

  /// Takes processes that a library starts: it does so as torchrun does, on the node where the program runs.
  void take_own_processes(const TrainingSettings& read) {
    JobLaunch& launch = script_.launch;
    const bool is_plain = launch.started_by && launch.started_by->value == StartedBy::python;
    if (!read.starts_processes || !is_plain || read.processes < 2) return;
    launch.started_by->value = StartedBy::torchrun;
    launch.processes_per_node = Found<int>{read.processes, launch.started_by->span};
  }

  /// Reads the launcher's own options, which go before its file.
  void read_launcher() {
    if (!script_.launch.started_by) return;
    const SourceText source = holder();
    const bool accelerate = script_.launch.started_by->value == StartedBy::accelerate;
    const YamlNode tree = accelerate ? accelerate_tree(script_.launch.launcher_words)
                                     : tree_of_words(script_.launch.launcher_words);
    const auto recognises = accelerate ? is_accelerate : is_horovodrun;
    for (const SettingsFormat& format : settings_formats()) {
      if (format.recognises == recognises && recognises(tree))
        add([&] { return read_settings_tree(source, tree, format, context_); });
    }
  }

  void add_words(const std::vector<ShellWord>& words, const SettingsContext& context) {
    try {
      if (auto read = read_settings_of_words(holder(), words, context)) {
        // A strategy in files is better evidence than the default of a program without options.
        if (!out_.files.empty()) drop_default_strategy(*read);
        out_.files.push_back(std::move(*read));
      }
    } catch (const InputError& error) {
      out_.mistakes.insert(out_.mistakes.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
  }

  static void drop_default_strategy(TrainingSettings& read) {
    for (ReadKey& key : read.keys) {
      if (key.path.empty())
        std::erase_if(key.effects, [](const SettingEffect& effect) { return effect.key == "strategy.name"; });
    }
    std::erase_if(read.keys, [](const ReadKey& key) { return key.path.empty() && key.effects.empty(); });
  }

  void take_strategy() {
    for (const TrainingSettings& settings : out_.files) {
      const ReadKey* key = said_by(settings, "strategy.name");
      if (key == nullptr || !script_.launch.strategy.empty()) continue;
      const std::string quoted = value_of(settings, "strategy.name");
      script_.launch.strategy = quoted.substr(1, quoted.size() - 2);
      script_.launch.strategy_said_by =
          key->span.line > 0 ? fmt::format("{}:{}: {}", base_name(key->file), key->span.line, key->path)
                             : fmt::format("{}: {}", base_name(key->file), key->note);
    }
  }

  /// Takes DataParallel for Hugging Face's Trainer in one process that sees several GPUs, unless its
  /// arguments choose something else.
  void take_data_parallel() {
    JobLaunch& launch = script_.launch;
    const Field<int>& gpus = script_.resources.gpus_per_node;
    const bool is_plain = launch.started_by && launch.started_by->value == StartedBy::python;
    if (!is_plain || !launch.strategy.empty() || !gpus || gpus->value < 2) return;
    for (const TrainingSettings& settings : out_.files) {
      const ReadKey* chosen = said_by(settings, "strategy.name");
      if (chosen == nullptr) continue;
      const bool by_default = chosen->path.empty() && value_of(settings, "loop.hooks") == "\"huggingface\"";
      if (!by_default) return;
      launch.strategy = "data_parallel";
      launch.strategy_said_by =
          fmt::format("line {}: Trainer in one process is DataParallel over the GPUs it sees",
                      launch.started_by->span.line);
      return;
    }
  }

  /// Returns the last line of the script that sets a variable.
  SourceSpan line_of(const std::string& name) const {
    SourceSpan span{};
    int number = 0;
    std::string_view rest = text_.text;
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n');
      const std::string_view line = rest.substr(0, end);
      ++number;
      const std::size_t at = line.find(name + "=");
      if (at != std::string_view::npos)
        span = {number, static_cast<int>(at) + 1, static_cast<int>(name.size())};
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
    return span;
  }

  void read_variables() {
    YamlNode tree{SettingKind::map, {}, {}, {}, {1, 1, 1}};
    const bool updates_on_host = offloads();
    const auto put = [&](const LibraryVariable& variable, const SourceSpan& span) {
      if (variable.name == "OMP_NUM_THREADS" && !updates_on_host) return;
      if (span.line == 0) return;  // set by the batch system, not by the script
      tree.entries.emplace_back(variable.name, YamlNode{SettingKind::scalar, variable.value, {}, {}, span});
    };
    for (const LibraryVariable& variable : script_.variables) put(variable, line_of(variable.name));
    for (const LibraryVariable& variable : script_.launch.variables) put(variable, variable.span);
    for (const SettingsFormat& format : settings_formats()) {
      if (format.recognises != is_environment || !is_environment(tree)) continue;
      add([&] {
        TrainingSettings read = read_settings_tree(holder(), tree, format, context_);
        drop_default_strategy(read);
        const bool horovod =
            script_.launch.started_by && script_.launch.started_by->value == StartedBy::horovodrun;
        const std::string strategy = !script_.launch.strategy.empty() ? script_.launch.strategy
                                     : horovod                        ? "horovod"
                                                                      : named_strategy();
        if (!strategy.empty()) keep_options_of(strategy, read);
        return read;
      });
    }
  }

  /// Says whether the settings leave the optimizer to the host's cores.
  bool offloads() const {
    return std::ranges::any_of(out_.files, [](const TrainingSettings& settings) {
      for (const char* key :
           {"strategy.offload_optimizer", "strategy.offload_param", "strategy.offload_params"}) {
        const std::string value = value_of(settings, key);
        if (!value.empty() && value != "\"none\"" && value != "false") return true;
      }
      return false;
    });
  }

  /// Sets the threads of a rank that updates on the host. torchrun and accelerate set OMP_NUM_THREADS to 1 if
  /// they start several processes on a node and it is not set; deepspeed --bind_cores_to_rank shares the
  /// cores out.
  void take_host_threads() {
    const JobLaunch& launch = script_.launch;
    const bool is_said = std::ranges::any_of(out_.files, [](const TrainingSettings& settings) {
      return said_by(settings, "strategy.cpu_threads");
    });
    if (!launch.started_by || is_said || !offloads()) return;
    const StartedBy starter = launch.started_by->value;
    const bool sets_one = (starter == StartedBy::torchrun || starter == StartedBy::accelerate) &&
                          launch.processes_per_node && launch.processes_per_node->value > 1;
    const ProgramArgument* binds = find_argument(launch.arguments, "bind_cores");
    if (!sets_one && binds == nullptr) return;
    TrainingSettings read;
    read.file = holder().name, read.format = name_of(starter);
    const SettingEffect effect = sets_one ? SettingEffect{"strategy.cpu_threads", "1"}
                                          : SettingEffect{"strategy.bind_cores_to_rank", "true"};
    read.keys.push_back({read.file,
                         sets_one ? launch.started_by->span : binds->span,
                         sets_one ? "OMP_NUM_THREADS" : "--bind_cores_to_rank",
                         sets_one ? "1" : "true",
                         KeyFate::effect,
                         {effect},
                         fmt::format("{} sets it", name_of(starter))});
    out_.files.push_back(std::move(read));
  }

  /// Returns the strategy for the options of variables. Horovod's variables in a script that mpirun starts
  /// mean that Horovod trains.
  std::string named_strategy() {
    const ProgramArgument* named = find_argument(script_.launch.arguments, "strategy");
    if (named != nullptr) return named->value;
    const bool by_mpi = script_.launch.started_by && script_.launch.started_by->value == StartedBy::mpirun;
    const auto is_horovod = [](const LibraryVariable& row) { return row.name.starts_with("HOROVOD_"); };
    if (!by_mpi || (std::ranges::none_of(script_.variables, is_horovod) &&
                    std::ranges::none_of(script_.launch.variables, is_horovod)))
      return "ddp";
    script_.launch.strategy = "horovod";
    script_.launch.strategy_said_by = "mpirun, and variables of Horovod";
    return "horovod";
  }

  void take_processes() {
    for (const TrainingSettings& settings : out_.files) {
      if (settings.processes == 0 || script_.launch.processes_per_node) continue;
      const int nodes = settings.machines > 0  ? settings.machines
                        : script_.launch.nodes ? std::max(1, script_.launch.nodes->value)
                                               : 1;
      script_.launch.processes_per_node = Found<int>{(settings.processes + nodes - 1) / nodes, {}};
      if (settings.machines > 0) script_.launch.nodes = Found<int>{settings.machines, {}};
    }
  }

  const SourceText& text_;
  JobScript& script_;
  const ScriptFinder& find_;
  SettingsContext context_;
  JobSettings out_;
};

}  // namespace

JobSettings read_job_settings(const SourceText& text, JobScript& script, const ScriptFinder& find) {
  return JobSettingsReader(text, script, find).read();
}

}  // namespace foretrain
