// One pointer per thread: every reader of the program ends in read_text_file(), which asks for it.
#include "sim/scenario/toml/given_files.hpp"

#include <algorithm>
#include <cassert>
#include <filesystem>
#include <utility>

namespace foretrain {

namespace {

const GivenFiles*& files_of_thread() {
  thread_local const GivenFiles* files = nullptr;
  return files;
}

}  // namespace

GivenFiles::GivenFiles(std::vector<SourceText> files, std::vector<std::string> folders)
    : files_(std::move(files)), folders_(std::move(folders)) {
  assert(files_of_thread() == nullptr);
  files_of_thread() = this;
}

GivenFiles::~GivenFiles() { files_of_thread() = nullptr; }

const GivenFiles* GivenFiles::current() { return files_of_thread(); }

const SourceText* GivenFiles::find(std::string_view name) const {
  const auto found = std::ranges::find(files_, name, &SourceText::name);
  return found == files_.end() ? nullptr : &*found;
}

bool GivenFiles::lets_read(const std::string& path) const {
  const std::string whole = std::filesystem::path(path).lexically_normal().string();
  return std::ranges::any_of(folders_, [&whole](const std::string& folder) {
    return whole.starts_with(std::filesystem::path(folder).lexically_normal().string() + "/");
  });
}

}  // namespace foretrain
