// Reads what `yolo detect train key=value …`, YOLO("…").train(…) and an args.yaml give:
//
//   yolo detect train model=yolo11m.pt data=coco.yaml batch=64 device=0,1,2,3
//
// The rules are those of ultralytics/engine/trainer.py 8.4: `batch` is that of all GPUs, gradients are summed
// in every micro-step, and the library starts a process for each device itself. Augmentation, losses and
// learning rates have no influence.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/models/config_family_files.hpp"
#include "sim/import/models/model_file.hpp"
#include "sim/import/settings/readers.hpp"
#include "sim/import/settings/trees.hpp"
#include "sim/scenario/catalog.hpp"

namespace foretrain {

namespace {

// Largest number of frozen modules.
constexpr std::int64_t kMostFrozenModules = 1000;
/// Samples of an optimizer step where `nbs` gives none, samples of a micro-step by default, and the largest
/// batch.
constexpr std::int64_t kNominalBatch = 64, kUsualYoloBatch = 16, kMostYoloBatch = 1'000'000;
// Side of an image by default and at most, in pixels, and loader workers by default.
constexpr std::int64_t kUsualPixels = 640, kMostPixels = 16'384, kUsualYoloWorkers = 8;
/// Steps above which the `auto` optimizer is MuSGD, otherwise AdamW.
constexpr double kStepsOfShortRuns = 10'000;

/// Reads the keys below a path; `model` is the path of the network's key, which a call of YOLO(…) has.
class UltralyticsKeys {
 public:
  UltralyticsKeys(SettingsReading& reading, std::string above, std::string model)
      : reading_(reading), above_(std::move(above)), model_(std::move(model)) {}

  /// Reads everything. The number of GPUs comes first, because the batch is that of all of them.
  void read() {
    const std::int64_t gpus = read_devices();
    read_model();
    read_batch(gpus);
    read_precision();
    read_optimizer();
    read_data();
    read_rest();
    if (gpus > 1)
      reading_.by_default("Ultralytics trains several devices with DDP",
                          {{"strategy.name", "\"ddp\""}, {"strategy.find_unused_parameters", "true"}});
  }

 private:
  /// Returns the path of a key.
  std::string path(std::string_view key) const { return above_ + std::string(key); }

  /// Returns the number of GPUs in "0,1,2,3", [0, 1], 0 or "cuda:1"; 1 where nothing is given. "-1" is the
  /// GPU with most free memory.
  std::int64_t read_devices() {
    const YamlNode* node = reading_.find({path("device")});
    if (node == nullptr) return 1;
    // A list counts by its items, a text by its commas.
    std::string words = node->text;
    std::int64_t count = static_cast<std::int64_t>(node->items.size());
    if (node->kind == SettingKind::scalar) count = std::ranges::count(words, ',') + 1;
    if (lower_case(words).starts_with("cpu") || lower_case(words).starts_with("mps"))
      return reading_.fate(KeyFate::not_modelled, "no GPU trains"), 1;
    if (count < 1 || count > 1024 || words == kNotKnown)
      return reading_.fate(KeyFate::open, "which GPUs is not known"), 1;
    reading_.effect({{"run.gpus", gpu_list(count)}});
    reading_.out().processes = static_cast<int>(count);
    reading_.out().starts_processes = true;
    return count;
  }

  /// Reads the network: one of the catalog by its file's name, or a YAML beside the script. `imgsz` is the
  /// side of its image.
  void read_model() {
    const auto pixels = reading_.integer({path("imgsz")}, 32, kMostPixels);
    if (pixels) reading_.fate(KeyFate::usual, "the image's side");
    const std::int64_t side = pixels.value_or(kUsualPixels);
    const YamlNode* node = reading_.find({model_});
    if (node == nullptr) return;
    const std::string file = node->text;
    const bool is_yaml = file.ends_with(".yaml") || file.ends_with(".yml");
    const auto text = is_yaml && reading_.context().find ? reading_.context().find(file) : std::nullopt;
    if (text) return describe(*text, side);
    const std::string name = model_named(file);
    if (name.empty()) return reading_.fate(KeyFate::open, "which network it is; --model NAME says it");
    // A network of another size of image is made from its family, where it has one.
    const std::optional<std::string> sized = side == kUsualPixels ? std::nullopt : family_of_side(name, side);
    if (sized)
      reading_.effect({{"model.network", fmt::format("'''\n{}'''", *sized)}},
                      fmt::format("{} at {} x {} pixels", name, side, side));
    else
      reading_.effect({{"model.name", toml_text(name)}});
    if (pixels && *pixels != kUsualPixels && !sized)
      reading_.fate_of(path("imgsz"), KeyFate::not_modelled, "the network has one size of image here");
  }

  /// Makes the network of a YAML; a file that cannot be read leaves the network open.
  void describe(const SourceText& text, std::int64_t side) {
    ModelImportOptions options;
    options.image = side;
    try {
      reading_.effect({{"model.network", fmt::format("'''\n{}'''", import_model(text, options).text)}});
    } catch (const InputError& error) {
      reading_.fate(KeyFate::open, error.first_message());
    }
  }

  /// Reads the batch of all GPUs. AutoBatch (-1, or a share of the memory) works on one GPU; several get the
  /// default batch.
  void read_batch(std::int64_t gpus) {
    const auto said = reading_.number({path("batch")});
    if (!said && reading_.has(path("batch"))) return;  // open, or a mistake
    // AutoBatch searches the batch that fits into the memory.
    if (said && (*said < 1 || *said != std::floor(*said))) {
      if (gpus > 1) return put_batch(kUsualYoloBatch, "AutoBatch is of one GPU; several get 16");
      return reading_.fate(KeyFate::open,
                           "the library fits it to the GPU's memory (60 %, or that share); --batch N "
                           "says what it found");
    }
    if (said && *said > kMostYoloBatch) return reading_.mistake("more samples than a step can have");
    put_batch(said ? static_cast<std::int64_t>(*said) : kUsualYoloBatch, "of all GPUs", said.has_value());
    const std::int64_t batch = said ? static_cast<std::int64_t>(*said) : kUsualYoloBatch;
    if (batch % gpus != 0)
      reading_.mistake_at(path("batch"), fmt::format("batch = {} is no multiple of {} GPUs", batch, gpus),
                          fmt::format("as in batch={}", 8 * gpus));
    const auto nominal = reading_.integer({path("nbs")}, 1, kMostYoloBatch);
    // Python's round() goes to the even neighbour, as nearbyint does.
    const double steps = std::max(1.0, std::nearbyint(static_cast<double>(nominal.value_or(kNominalBatch)) /
                                                      static_cast<double>(batch)));
    if (nominal) reading_.fate(KeyFate::usual, "decides how many micro-steps make a step");
    if (steps < 2 || steps > 4096) return;
    std::vector<SettingEffect> effects{{"strategy.accumulation", fmt::format("{:.0f}", steps)}};
    if (gpus > 1) effects.push_back({"strategy.no_sync", "false"});
    reading_.by_default(fmt::format("Ultralytics steps after {} samples (nbs), and sums gradients before",
                                    nominal.value_or(kNominalBatch)),
                        std::move(effects));
  }

  /// Tells the batch, as said or as the library's default.
  void put_batch(std::int64_t batch, const std::string& note, bool is_said = true) {
    std::vector<SettingEffect> effects{{"model.global_batch", std::to_string(batch)}};
    if (is_said)
      reading_.effect_of(path("batch"), std::move(effects), note);
    else
      reading_.by_default("Ultralytics' batch", std::move(effects));
  }

  /// Reads precision and memory layout; the library trains with AMP and channels last by default.
  void read_precision() {
    const std::string word = reading_.word({path("amp")}).value_or("");
    const bool is_off = word == "false" || word == "fp32" || word == "0";
    const std::string precision = is_off ? "\"fp32\"" : word == "bf16" ? "\"bf16\"" : "\"amp_fp16\"";
    if (word.empty())
      reading_.by_default("Ultralytics trains with AMP", {{"model.precision", precision}});
    else
      reading_.effect({{"model.precision", precision}});
    // Images are laid out with channels last unless the key says otherwise.
    const auto layout = reading_.flag({path("channels_last")});
    if (layout)
      reading_.effect({{"framework.layout", *layout ? "\"channels_last\"" : "\"channels_first\""}});
    else
      reading_.by_default("Ultralytics 8.4 lays images out with channels last",
                          {{"framework.layout", "\"channels_last\""}});
  }

  /// Reads the optimizer. `auto` is taken as that of long runs.
  void read_optimizer() {
    const std::string word = reading_.word({path("optimizer")}).value_or("auto");
    if (word == "auto")
      reading_.by_default("Ultralytics' automatic optimizer of long runs; MuSGD's products are not counted",
                          {{"model.optimizer", "\"nesterov\""}});
    else if (word == "sgd" || word == "musgd")
      reading_.effect({{"model.optimizer", "\"nesterov\""}},
                      word == "sgd" ? "" : "as SGD: its products are not counted");
    else if (!put_optimizer(reading_, word))
      reading_.fate(KeyFate::not_modelled, "an optimizer that is not known");
    reading_.by_default("Ultralytics decays weights and clips gradients in every step",
                        {{"model.weight_decay", "true"}, {"loop.clip_grad_norm", "\"on_device\""}});
  }

  /// Reads the data set and the loader. COCO is in the catalog; the size of another data set is the user's to
  /// give.
  void read_data() {
    if (const auto workers = reading_.integer({path("workers")}, 0, 256))
      reading_.effect({{"data.workers_per_gpu", std::to_string(*workers)}}, "of a process");
    // The name of the file stands for the data set.
    if (const auto data = reading_.word({path("data")})) {
      const std::string name = data->substr(data->rfind('/') + 1);
      if (name == "coco.yaml" || name == "coco")
        reading_.effect({{"data.name", "\"coco\""}}, "mosaics of four pictures are not counted");
      else
        reading_.fate(KeyFate::usual, "its pictures: --set data.samples=N");
    }
    if (const auto epochs = reading_.integer({path("epochs")}, 1, 1'000'000))
      reading_.effect({{"run.epochs", std::to_string(*epochs)}});
    if (const auto word = reading_.word({path("cache")}))
      reading_.fate(*word == "false" ? KeyFate::usual : KeyFate::not_modelled, "pictures kept decoded");
    if (const auto word = reading_.word({path("compile")})) {
      if (*word == "false")
        reading_.fate(KeyFate::usual);
      else
        reading_.effect({{"framework.execution", "\"compiled\""}});
    }
  }

  /// Reads how many modules are frozen. A list of modules has no key of the scenario.
  void read_freeze() {
    const YamlNode* node = reading_.find({path("freeze")});
    if (node == nullptr || node->kind == SettingKind::list) return;
    const auto count = reading_.integer({path("freeze")}, 0, kMostFrozenModules);
    if (count && *count == 0) reading_.fate(KeyFate::usual);
    if (count && *count > 0) reading_.effect({{"model.trainable", fmt::format("[\"from:{}\"]", *count)}});
  }

  /// Reads the rest. Below a path, unknown keys have no influence; at the top they are told as unknown.
  void read_rest() {
    read_freeze();
    struct Row {
      std::string_view key;
      KeyReads reads;
      std::string_view note{}, harmless{};
    };
    static constexpr Row kRows[] = {
        {"multi_scale", KeyReads::unmodelled, "images of several sizes", "0.0"},
        {"freeze", KeyReads::unmodelled,
         "the first layers are not trained; --set model.trainable says which are"},
        {"fraction", KeyReads::unmodelled, "a part of the pictures", "1.0"},
        {"rect", KeyReads::unmodelled, "images that are not square"},
        {"time", KeyReads::unmodelled, "epochs until a time is over"},
        {"quantize", KeyReads::unmodelled, "training for 8 bits"},
        {"*", KeyReads::nothing}};
    // Rules refer to the paths, which therefore live until apply() has run.
    std::vector<std::string> paths;
    for (const Row& row : kRows) paths.push_back(path(row.key));
    std::vector<KeyRule> rules;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (above_.empty() && kRows[i].key == "*") continue;
      rules.push_back({paths[i], kRows[i].reads, {}, kRows[i].note, kRows[i].harmless});
    }
    reading_.apply(rules);
    if (above_.empty())
      for (const char* idle : kIdle) reading_.fate_of(idle, KeyFate::no_influence);
  }

  /// Keys of default.yaml that neither time nor memory depends on: output, learning rates, weights of the
  /// losses, augmentation (which the loader does beside training), masks, validation, and files.
  static constexpr const char* kIdle[] = {"task",
                                          "mode",
                                          "patience",
                                          "save",
                                          "save_period",
                                          "project",
                                          "name",
                                          "exist_ok",
                                          "pretrained",
                                          "verbose",
                                          "seed",
                                          "deterministic",
                                          "single_cls",
                                          "cos_lr",
                                          "resume",
                                          "profile",
                                          "val",
                                          "plots",
                                          "lr0",
                                          "lrf",
                                          "momentum",
                                          "warmup_bias_lr",
                                          "weight_decay",
                                          "warmup_epochs",
                                          "warmup_momentum",
                                          "box",
                                          "cls",
                                          "dfl",
                                          "pose",
                                          "kobj",
                                          "close_mosaic",
                                          "hsv_h",
                                          "hsv_s",
                                          "hsv_v",
                                          "degrees",
                                          "translate",
                                          "scale",
                                          "shear",
                                          "perspective",
                                          "flipud",
                                          "fliplr",
                                          "bgr",
                                          "mosaic",
                                          "mixup",
                                          "cutmix",
                                          "copy_paste",
                                          "copy_paste_mode",
                                          "auto_augment",
                                          "erasing",
                                          "overlap_mask",
                                          "mask_ratio",
                                          "dropout",
                                          "split",
                                          "save_json",
                                          "conf",
                                          "iou",
                                          "max_det",
                                          "half",
                                          "dnn",
                                          "save_dir",
                                          "cfg",
                                          "tracker",
                                          "cls_remap"};

  SettingsReading& reading_;
  std::string above_, model_;
};

/// Returns a node for a text.
YamlNode scalar_of(std::string text, const SourceSpan& span) {
  return {SettingKind::scalar, std::move(text), {}, {}, span};
}

}  // namespace

/// A network and a side of images, with one more key of the tool.
bool is_ultralytics(const YamlNode& tree) {
  return !tree.at("imgsz").is_null() && !tree.at("model").is_null() &&
         (!tree.at("task").is_null() || !tree.at("nbs").is_null() || !tree.at("data").is_null());
}

void read_ultralytics(SettingsReading& reading) { UltralyticsKeys(reading, "", "model").read(); }

/// The keys are those of train(…), the network is that of the class.
void read_ultralytics_calls(SettingsReading& reading) {
  const char* loaded = reading.has("YOLO.model") ? "YOLO.model" : "RTDETR.model";
  UltralyticsKeys(reading, "train.", loaded).read();
}

/// Lists lose their brackets and quotes: they are taken as texts with commas.
YamlNode tree_of_yolo_words(const std::vector<ShellWord>& words) {
  YamlNode out{SettingKind::map, {}, {}, {}, {1, 1, 1}};
  for (const ShellWord& word : words) {
    const std::size_t dashes = std::min(word.text.find_first_not_of('-'), word.text.size());
    const std::size_t equals = word.text.find('=');
    if (equals == std::string::npos || equals <= dashes) continue;
    std::string value = word.known ? word.text.substr(equals + 1) : std::string(kNotKnown);
    std::erase_if(value, [](char c) { return c == '[' || c == ']' || c == '\'' || c == '"' || c == ' '; });
    const bool is_null = value.empty() || value == "None";
    YamlNode node = scalar_of(std::move(value), word.span);
    if (is_null) node.kind = SettingKind::null;
    out.entries.emplace_back(word.text.substr(dashes, equals - dashes), std::move(node));
  }
  return out;
}

}  // namespace foretrain
