// What other people's files say of a network, as a model file of ours, and the formats that are known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// Weights inside an ONNX file are skipped, not kept: only the file itself must fit.
inline constexpr std::size_t kLargestModelFile = std::size_t{2} << 30;

/// What the user says besides the file.
struct ModelImportOptions {
  std::optional<std::int64_t> sequence;      ///< tokens of a sample
  std::optional<std::int64_t> image;         ///< pixels of a side
  std::optional<std::int64_t> batch{};       ///< of a trace: samples of the recorded step
  std::optional<std::int64_t> parameters{};  ///< of a trace: those of the network
  std::string gpu{};   ///< of a trace: the catalog's GPU that it was recorded on; empty: as the trace says
  std::string name{};  ///< of a trace: what the network is called; empty: as the file
};

/// A model file and what people must know of it.
struct ImportedModel {
  std::string text;                  ///< TOML, read by sim/scenario/schema/schema_model.cpp
  std::vector<std::string> remarks;  ///< what was assumed, left out, or not understood
};

/// A format is told by what a file holds, never by its name.
struct ModelFormat {
  std::string_view name;
  std::string_view what;  ///< one line for people
  bool (*recognises)(std::string_view text) = nullptr;
  ImportedModel (*read)(const SourceText& source, const ModelImportOptions& options,
                        Diagnostics& diagnostics) = nullptr;
};

/// In the order of trying.
const std::vector<ModelFormat>& model_formats();

/// Of the first format that recognises it; what comes out has been read as a model file. Throws InputError
/// with every mistake, or with the formats that are known.
ImportedModel import_model(const SourceText& source, const ModelImportOptions& options);

}  // namespace foretrain
