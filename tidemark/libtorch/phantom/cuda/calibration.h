// What calls took on a real GPU beyond their results, where somebody has measured them.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "tidemark/libtorch/phantom/cuda/pieces.h"

namespace tidemark::phantom {

class Calibration {
 public:
  // The operator with overload, its arguments as a tape has them.
  void add(std::string_view op, std::string_view signature, Pieces pieces) {
    calls_[key(op, signature)] = std::move(pieces);
  }
  // Null for a call that nobody has measured.
  const Pieces* find(std::string_view op, std::string_view signature) const {
    if (calls_.empty()) return nullptr;
    const auto found = calls_.find(key(op, signature));
    return found == calls_.end() ? nullptr : &found->second;
  }

 private:
  static std::string key(std::string_view op, std::string_view signature) {
    return std::string(op).append(signature);
  }

  std::unordered_map<std::string, Pieces> calls_;
};

}  // namespace tidemark::phantom
