// The rules of what comes in pairs: calls and their returns, segments mapped and unmapped, pools
// used and released.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "tidemark/engine/base/diagnostics.h"
#include "tidemark/engine/tape/tape.h"

namespace tidemark {

// Takes events in their order and names those without a partner. Calls need not nest, since threads
// run at once: a return ends the newest open call of its operator, whatever its signature.
class PairRules {
 public:
  explicit PairRules(const Tables& tables) : tables_(&tables) {}

  void check(std::size_t event, const Event& e);
  // With the calls that never returned. Segments may stay: a process ends with its memory.
  Diagnostics final_diagnostics() const;

 private:
  using Segment = std::pair<DeviceId, std::uint32_t>;
  using Pool = std::pair<DeviceId, std::uint32_t>;

  StringId operator_of(const Event& e) const;
  void check_return(std::size_t event, const Event& e);
  void check_map(std::size_t event, const Event& e);
  void check_unmap(std::size_t event, const Event& e);
  void check_pool(std::size_t event, const Event& e);

  const Tables* tables_;
  Diagnostics found_;
  std::map<StringId, std::vector<std::size_t>> open_calls_;  // by operator, newest last
  std::map<Segment, std::int64_t> mapped_bytes_;
  std::map<Pool, bool> has_user_;  // of the private pools that births came from
};

}  // namespace tidemark
