// Playing and replaying.
#include "tidemark/engine/graph/tournaments.h"

namespace tidemark {

Tournaments::Tournaments(const Rows<NodeId>& members, const Slots& slots, Wins wins)
    : slots_(&slots), wins_(wins), begins_(members.begins), places_(2 * members.values.size()) {
  for (std::size_t group = 0; group < members.size(); ++group) {
    const std::size_t count = size(group);
    NodeId* const place = places_.data() + 2 * std::size_t(begins_[group]);
    for (std::size_t i = 0; i < count; ++i) place[count + i] = members[group][i];
    for (std::size_t i = count; i-- > 1;) place[i] = better(place[2 * i], place[2 * i + 1]);
  }
}

void Tournaments::replay(std::size_t group, std::uint32_t member) {
  NodeId* const place = places_.data() + 2 * std::size_t(begins_[group]);
  for (std::size_t i = (size(group) + member) / 2; i >= 1; i /= 2)
    place[i] = better(place[2 * i], place[2 * i + 1]);
}

}  // namespace tidemark
