// The readers behind the rows of the catalog of network files; each is described where it is defined.
#pragma once

#include <string_view>

#include "sim/import/models/model_file.hpp"

namespace foretrain {

bool is_network_config(std::string_view text);
ImportedModel read_network_config(const SourceText& source, const ModelImportOptions& options,
                                  Diagnostics& diagnostics);

bool is_nnunet_plans(std::string_view text);
ImportedModel read_nnunet_plans(const SourceText& source, const ModelImportOptions& options,
                                Diagnostics& diagnostics);

bool is_ultralytics_yaml(std::string_view text);
ImportedModel read_ultralytics_yaml(const SourceText& source, const ModelImportOptions& options,
                                    Diagnostics& diagnostics);

bool is_network_summary(std::string_view text);
ImportedModel read_network_summary(const SourceText& source, const ModelImportOptions& options,
                                   Diagnostics& diagnostics);

bool is_exported_program(std::string_view text);
ImportedModel read_exported_program(const SourceText& source, const ModelImportOptions& options,
                                    Diagnostics& diagnostics);

bool is_onnx(std::string_view text);
ImportedModel read_onnx(const SourceText& source, const ModelImportOptions& options,
                        Diagnostics& diagnostics);

}  // namespace foretrain
