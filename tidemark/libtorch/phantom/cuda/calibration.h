// What calls took on a real GPU beyond their results, where somebody has measured them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tidemark::phantom {

class Calibration {
 public:
  // The operator with overload, its arguments as a tape has them.
  void add(std::string_view op, std::string_view signature, std::int64_t bytes) {
    calls_[key(op, signature)] = bytes;
  }
  std::optional<std::int64_t> find(std::string_view op, std::string_view signature) const {
    if (calls_.empty()) return std::nullopt;
    const auto found = calls_.find(key(op, signature));
    return found == calls_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  static std::string key(std::string_view op, std::string_view signature) {
    return std::string(op).append(signature);
  }

  std::unordered_map<std::string, std::int64_t> calls_;
};

}  // namespace tidemark::phantom
