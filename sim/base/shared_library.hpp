// A shared library that is opened at run time, so that the program starts on machines without it.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace foretrain {

/// A library that is opened at run time (dlopen). A program that was built without its headers can call it
/// where it is installed. A missing library is no error. Libraries stay open until the process ends.
class SharedLibrary {
 public:
  /// Tries the names in turn. The result converts to false when none of them opens.
  static SharedLibrary open(const std::vector<std::string>& names);
  explicit operator bool() const { return handle_ != nullptr; }
  /// Returns the address of a function, or nullptr if there is none of this name.
  void* symbol(const char* name) const;
  /// Sets a typed function pointer. Returns false if there is no function of this name.
  template <class Function>
  bool load(Function*& target, const char* name) const {
    target = reinterpret_cast<Function*>(symbol(name));
    return target != nullptr;
  }

 private:
  std::shared_ptr<void> handle_;
};

}  // namespace foretrain
