// Declares the import of a network: which formats are known, and how a file of one becomes a model file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// Largest file that is read, in bytes. Weights inside an ONNX file are skipped, but the file is held in
/// memory.
inline constexpr std::size_t kLargestModelFile = std::size_t{2} << 30;

/// Holds what the user gives on the command line besides the file. Empty values leave the choice to the
/// reader.
struct ModelImportOptions {
  /// Tokens of a sample (--sequence).
  std::optional<std::int64_t> sequence;
  /// Side of an image in pixels (--image).
  std::optional<std::int64_t> image;
  /// For a trace: samples of the recorded step.
  std::optional<std::int64_t> batch{};
  /// For a trace: parameters of the network.
  std::optional<std::int64_t> parameters{};
  /// For a trace: the catalog's name of the GPU that it was recorded on; empty: as the trace says.
  std::string gpu{};
  /// For a trace: the name of the network; empty: as the file. Readers with several variants in one file use
  /// it for their choice: the scale of a YOLO, the configuration of nnU-Net.
  std::string name{};
};

/// A model file, with remarks that the user has to know.
struct ImportedModel {
  /// TOML, as sim/scenario/schema/schema_model.cpp reads it.
  std::string text;
  /// Remarks on what was assumed, skipped, or not understood; one sentence each.
  std::vector<std::string> remarks;
};

/// A format of networks. It is recognised by the contents of a file, never by the file's name.
struct ModelFormat {
  /// Name in messages.
  std::string_view name;
  /// One line that describes the format for users.
  std::string_view what;
  /// Returns whether a text has this format. Cheap, and never throws.
  bool (*recognises)(std::string_view text) = nullptr;
  /// Reads a text of this format. Problems go to the diagnostics; the result is valid only when there are
  /// none.
  ImportedModel (*read)(const SourceText& source, const ModelImportOptions& options,
                        Diagnostics& diagnostics) = nullptr;
};

/// Returns all formats, in the order in which they are tried.
const std::vector<ModelFormat>& model_formats();

/// Returns the network that the first matching format reads, after the result has passed the check of a model
/// file. Throws InputError with all problems of the file, or with the list of known formats when none
/// matches.
ImportedModel import_model(const SourceText& source, const ModelImportOptions& options);

}  // namespace foretrain
