// The unknowns of a graph by number and by name: batch, length, s77.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

// One unknown of a graph, with what is known of it.
struct Dimension {
  std::string name;
  std::optional<std::int64_t> hint;  // the value it had when the graph was captured
  std::optional<std::int64_t> lower, upper;
};

// In the order they were first named. Finding one costs O(log n).
class Dimensions {
 public:
  bool empty() const { return all_.empty(); }
  std::size_t size() const { return all_.size(); }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }
  const Dimension& operator[](std::size_t number) const { return all_[number]; }
  // For hints and ranges; the name stays what it is.
  Dimension& operator[](std::size_t number) { return all_[number]; }

  // The number of the one with this name, which is added where it is new.
  std::size_t number_of(std::string_view name);
  const Dimension* find(std::string_view name) const;  // null: there is none
  Dimension* find(std::string_view name);
  // Forgets all from this number on.
  void cut(std::size_t size);

 private:
  std::vector<Dimension> all_;
  std::map<std::string, std::size_t, std::less<>> numbers_;
};

}  // namespace tidemark
