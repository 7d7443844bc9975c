// Options of `model import`, and the values of --layers of `model show`. The help lists the formats from the
// catalog of readers, so that a new reader appears there by itself.
#include "sim/app/options/model_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace foretrain {

namespace {

// Largest length, image side or batch; a shape in a model file has the same limit.
constexpr std::int64_t kLongestSide = 1'000'000'000;

}  // namespace

// Options that only matter for one kind of file are ignored for the others; their texts begin with that kind.
void add_model_import(CLI::App& model, ImportModelCommand& command) {
  CLI::App* imported = model.add_subcommand(
      "import",
      "A model file from what other tools wrote of a network: its layers, exact as far as they tell");
  imported->add_option("FILE", command.file, "Told apart by what it holds; - for standard input")->required();
  imported
      ->add_option("--sequence", command.options.sequence,
                   "Tokens of a sample; otherwise what the network takes, or a usual length")
      ->check(CLI::Range(std::int64_t{1}, kLongestSide))
      ->type_name("N");
  imported->add_option("--image", command.options.image, "Pixels of a side; otherwise as the file says")
      ->check(CLI::Range(std::int64_t{1}, kLongestSide))
      ->type_name("N");
  imported
      ->add_option("--batch", command.options.batch,
                   "Of a trace: samples of the recorded step, where it does not say")
      ->check(CLI::Range(std::int64_t{1}, kLongestSide))
      ->type_name("N");
  imported
      ->add_option("--parameters", command.options.parameters,
                   "Of a trace: parameters of the network, where it does not say their sizes")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))
      ->type_name("N");
  imported
      ->add_option(
          "--gpu", command.options.gpu,
          "Of a trace: the GPU of the catalog that it was recorded on, where its own name is not known")
      ->type_name("NAME");
  imported
      ->add_option("--name", command.options.name,
                   "Of a trace: the network's, otherwise the file's; of nnU-Net's plans: the configuration")
      ->type_name("NAME");
  imported->add_option("-o,--output", command.output, "Write to a file instead of standard output")
      ->type_name("FILE");
  // The footer ends with one line for each format that can be read.
  std::string formats;
  for (const ModelFormat& format : model_formats())
    formats += fmt::format("\n  {:<20} {}", format.name, format.what);
  imported->footer(
      "Examples:\n  foretrain model import config.json --sequence 512 -o mine.toml\n  foretrain model show "
      "./mine.toml\n  foretrain model import trace.json.gz --batch 32 -o traced.toml\nFormats:\n  "
      "torch.profiler "
      "trace, execution trace: docs/models/imports.md" +
      formats);
  imported->callback([&command] { run_model_import(command); });
}

// The first name is the default.
const std::vector<std::string>& layer_listings() {
  static const std::vector<std::string> names{"folded", "all", "none"};
  return names;
}

// Only the names of layer_listings() arrive here, so the last case is "folded".
LayerListing listing_named(std::string_view name) {
  if (name == "all") return LayerListing::all;
  return name == "none" ? LayerListing::none : LayerListing::folded;
}

}  // namespace foretrain
