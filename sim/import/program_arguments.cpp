// The options of training programs, with a row for each spelling. "-" and "_" are the same in all of them.
#include "sim/import/program_arguments.hpp"

#include <algorithm>
#include <array>

namespace foretrain {

namespace {

/// A spelling of an option with its key.
struct Spelling {
  std::string_view option, key;
  /// True if it needs no value; it then has the value "true".
  bool is_flag = false;
};

/// Spellings of common programs and libraries; a batch is of one process unless its name says otherwise.
constexpr Spelling kSpellings[] = {{"--batch_size", "batch"},
                                   {"--batchsize", "batch"},
                                   {"--train_batch_size", "batch"},
                                   {"--bs", "batch"},
                                   {"-b", "batch"},
                                   {"--per_device_train_batch_size", "batch_per_gpu"},
                                   {"--batch_size_per_device", "batch_per_gpu"},
                                   {"--batch_size_per_gpu", "batch_per_gpu"},
                                   {"--per_gpu_batch_size", "batch_per_gpu"},
                                   {"--micro_batch_size", "batch_per_gpu"},
                                   {"--train_micro_batch_size_per_gpu", "batch_per_gpu"},
                                   {"--train.micro_batch_size", "batch_per_gpu"},
                                   {"--global_batch_size", "global_batch"},
                                   {"--train.global_batch_size", "global_batch"},
                                   {"--epochs", "epochs"},
                                   {"--train.epochs", "epochs"},
                                   {"--epoch", "epochs"},
                                   {"--max_epochs", "epochs"},
                                   {"--num_epochs", "epochs"},
                                   {"--n_epochs", "epochs"},
                                   {"--train_epochs", "epochs"},
                                   {"--num_train_epochs", "epochs"},
                                   {"--total_epochs", "epochs"},
                                   {"--workers", "workers"},
                                   {"--num_workers", "workers"},
                                   {"--n_workers", "workers"},
                                   {"--dataloader_num_workers", "workers"},
                                   {"--data_workers", "workers"},
                                   {"--loader_workers", "workers"},
                                   {"-j", "workers"},
                                   {"--gradient_accumulation_steps", "accumulation"},
                                   {"--accumulate_grad_batches", "accumulation"},
                                   {"--grad_accumulation_steps", "accumulation"},
                                   {"--grad_accum", "accumulation"},
                                   {"--strategy", "strategy"},
                                   {"--distribution_strategy", "strategy"},
                                   {"--distributed_backend", "strategy"},
                                   {"--variable_update", "strategy"},
                                   {"--precision", "precision"},
                                   {"--mixed_precision", "precision"},
                                   {"--dtype", "precision"},
                                   {"--fp16", "fp16", true},
                                   {"--use_fp16", "fp16", true},
                                   {"--amp", "fp16", true},
                                   {"--use_amp", "fp16", true},
                                   {"--bf16", "bf16", true},
                                   {"--gpus", "gpus"},
                                   {"--num_gpus", "gpus"},
                                   {"--n_gpus", "gpus"},
                                   {"--ngpus", "gpus"},
                                   {"--devices", "gpus"},
                                   {"--model", "model"},
                                   {"--arch", "model"},
                                   {"-a", "model"},
                                   {"--model_name", "model"},
                                   {"--model_name_or_path", "model"},
                                   {"--pretrained_model_name_or_path", "model"},
                                   {"--model_id", "model"},
                                   {"--base_model", "model"},
                                   {"--backbone", "model"},
                                   {"--network", "model"},
                                   {"--max_grad_norm", "clip"},
                                   {"--no_cuda", "no_gpu", true},
                                   {"--deepspeed", "deepspeed", true},
                                   {"--deepspeed_config", "deepspeed", true},
                                   {"--fsdp", "fsdp", true},
                                   {"--use_fsdp", "fsdp", true}};

/// Returns the row of an option; nullptr for unknown ones. The leading dashes stay.
const Spelling* find_spelling(std::string option) {
  std::replace(option.begin() + std::min<std::ptrdiff_t>(2, std::ssize(option)), option.end(), '-', '_');
  const auto found = std::find_if(std::begin(kSpellings), std::end(kSpellings),
                                  [&](const Spelling& row) { return row.option == option; });
  return found == std::end(kSpellings) ? nullptr : found;
}

/// Says whether a word is an option and no negative number.
bool is_option(const ShellWord& word) {
  return word.text.size() > 1 && word.text[0] == '-' && (word.text[1] < '0' || word.text[1] > '9');
}

/// The options by which YOLOv5's train.py names its network.
constexpr std::string_view kNetworkFiles[] = {"--weights", "--cfg"};

/// Adapts the arguments to YOLOv5's train.py, which names its network by a file and whose --batch-size is
/// that of all GPUs together.
void take_yolov5(const std::vector<ShellWord>& words, std::size_t from, std::vector<ProgramArgument>& out) {
  for (std::size_t i = from; i + 1 < words.size(); ++i) {
    if (std::ranges::find(kNetworkFiles, words[i].text) == std::end(kNetworkFiles) || !words[i + 1].known)
      continue;
    const std::string& file = words[i + 1].text;
    const std::string name = file.substr(file.rfind('/') + 1);
    if (!name.starts_with("yolov5")) continue;
    for (ProgramArgument& argument : out)
      // The batch was read as that of one process before the network was known.
      if (argument.key == "batch") argument.key = "global_batch";
    out.push_back({"model", words[i].text, name, words[i].span});
    return;
  }
}

}  // namespace

std::vector<ProgramArgument> read_arguments(const std::vector<ShellWord>& words, std::size_t from,
                                            std::vector<NotUnderstood>& not_understood) {
  // Every word is looked at, because positional arguments may stand between options.
  std::vector<ProgramArgument> out;
  for (std::size_t i = from; i < words.size(); ++i) {
    const std::string& text = words[i].text;
    const std::size_t equals = text.find('=');
    const std::string option = text.substr(0, equals);
    const Spelling* row = is_option(words[i]) ? find_spelling(option) : nullptr;
    // Unknown options are the program's own affair.
    if (row == nullptr) continue;
    // The next word is the value unless it is an option itself.
    const bool has_next = equals == std::string::npos && i + 1 < words.size() && !is_option(words[i + 1]);
    const ShellWord& holder = has_next ? words[i + 1] : words[i];
    // A flag may be followed by a positional argument, so the next word is not its value.
    const bool has_value = equals != std::string::npos || (has_next && !row->is_flag);
    if (!has_value && !row->is_flag) continue;
    if (has_value && !holder.known) {
      not_understood.push_back({words[i].span, has_next ? text + " " + holder.text : text,
                                "its value is not known before the script runs"});
      continue;
    }
    const std::string value = equals != std::string::npos ? text.substr(equals + 1)
                              : has_value                 ? holder.text
                                                          : "true";
    out.push_back({std::string(row->key), option, value, words[i].span});
  }
  take_yolov5(words, from, out);
  return out;
}

const ProgramArgument* find_argument(const std::vector<ProgramArgument>& arguments, std::string_view key) {
  // The last of several options counts, as in most parsers.
  const auto found = std::find_if(arguments.rbegin(), arguments.rend(),
                                  [key](const ProgramArgument& argument) { return argument.key == key; });
  return found == arguments.rend() ? nullptr : &*found;
}

}  // namespace foretrain
