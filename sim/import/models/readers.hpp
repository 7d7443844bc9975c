// Declares the readers behind the rows of the catalog of network files. The file of each reader describes its
// format.
//
// A function is_… looks at the contents alone, is cheap and never throws. A function read_… requires that
// is_… holds; it reports problems to the diagnostics, and its result is valid only when there are none.
#pragma once

#include <string_view>

#include "sim/import/models/model_file.hpp"

namespace foretrain {

/// config.json of Hugging Face transformers (config.cpp).
bool is_network_config(std::string_view text);
ImportedModel read_network_config(const SourceText& source, const ModelImportOptions& options,
                                  Diagnostics& diagnostics);

/// plans.json of nnU-Net (nnunet_plans.cpp).
bool is_nnunet_plans(std::string_view text);
ImportedModel read_nnunet_plans(const SourceText& source, const ModelImportOptions& options,
                                Diagnostics& diagnostics);

/// YAML of Ultralytics' YOLO networks (sim/import/yolo/reader.cpp).
bool is_ultralytics_yaml(std::string_view text);
ImportedModel read_ultralytics_yaml(const SourceText& source, const ModelImportOptions& options,
                                    Diagnostics& diagnostics);

/// Summaries that Keras, torchsummary and torchinfo print (summary.cpp).
bool is_network_summary(std::string_view text);
ImportedModel read_network_summary(const SourceText& source, const ModelImportOptions& options,
                                   Diagnostics& diagnostics);

/// Archives of torch.export.save(), .pt2 (exported_program.cpp).
bool is_exported_program(std::string_view text);
ImportedModel read_exported_program(const SourceText& source, const ModelImportOptions& options,
                                    Diagnostics& diagnostics);

/// Graphs in ONNX's binary format (onnx.cpp).
bool is_onnx(std::string_view text);
ImportedModel read_onnx(const SourceText& source, const ModelImportOptions& options,
                        Diagnostics& diagnostics);

}  // namespace foretrain
