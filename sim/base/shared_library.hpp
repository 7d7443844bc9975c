// A shared library opened at run time, so that the program starts on machines without it.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace foretrain {

/// A library that is opened at run time (dlopen) and closed with the object. A program that is built without
/// its headers can call it where it is installed; a missing library is a sentence, not an error.
class SharedLibrary {
 public:
  /// Tries the names in turn; the result is false as a bool when none opens.
  static SharedLibrary open(const std::vector<std::string>& names);
  explicit operator bool() const { return handle_ != nullptr; }
  /// nullptr when there is no such function.
  void* symbol(const char* name) const;
  /// Sets a typed pointer; false when there is no such function.
  template <class Function>
  bool load(Function*& target, const char* name) const {
    target = reinterpret_cast<Function*>(symbol(name));
    return target != nullptr;
  }

 private:
  std::shared_ptr<void> handle_;
};

}  // namespace foretrain
