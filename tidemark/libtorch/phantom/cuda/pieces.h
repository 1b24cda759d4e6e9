// What happens inside a call, in its order: memory is taken and given back, and results are born.
//
// A result that no piece names is there before the first of them.
#pragma once

#include <c10/util/SmallVector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace tidemark::phantom {

struct Piece {
  enum class Kind : std::uint8_t { Result, Take, GiveBack };
  Kind kind = Kind::Take;
  // Result: which of the call's tensors. Take: bytes. GiveBack: which of those that were taken.
  std::int64_t value = 0;
};

class Pieces {
 public:
  void add(const Piece& piece) { all_.push_back(piece); }  // as somebody has measured it
  void add_result(std::int64_t number) { add({Piece::Kind::Result, number}); }
  // Which of those that are taken it is; nothing for no bytes.
  std::optional<std::int64_t> take(std::int64_t bytes) {
    if (bytes <= 0) return std::nullopt;
    all_.push_back({Piece::Kind::Take, bytes});
    return taken_++;
  }
  void give_back(std::optional<std::int64_t> number) {
    if (number) all_.push_back({Piece::Kind::GiveBack, *number});
  }
  // A peak.
  void add_brief(std::int64_t bytes) { give_back(take(bytes)); }
  // Amounts that are held to the end, the last one given back first; so many of them are taken
  // before the results.
  template <class Amounts>
  void add_nested(const Amounts& amounts, std::size_t before_results, std::int64_t results) {
    const std::int64_t first = taken_;
    for (std::size_t i = 0; i < amounts.size(); ++i) {
      take(amounts[i]);
      for (std::int64_t r = 0; i + 1 == before_results && r < results; ++r) add_result(r);
    }
    for (std::int64_t i = taken_; i-- > first;) give_back(i);
  }

  bool is_empty() const { return all_.empty(); }
  bool names_result(std::size_t number) const {
    return std::any_of(all_.begin(), all_.end(), [&](const Piece& piece) {
      return piece.kind == Piece::Kind::Result && piece.value == static_cast<std::int64_t>(number);
    });
  }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  c10::SmallVector<Piece, 6> all_;
  std::int64_t taken_ = 0;
};

}  // namespace tidemark::phantom
