// A random tape with spoiled copies of its rows in between, and one breach of each rule at its end.
#include "tests/property/odd_tape.h"

#include <algorithm>

#include "tests/property/random_tape.h"
#include "tidemark/engine/tape/file_format.h"

namespace tidemark::test {
namespace {

constexpr std::array<std::int64_t, 7> kOddSizes = {0, 1, 5, -1, -700, INT64_MIN, INT64_MAX};
// Storages of the breaches at the end; no spoiled row names them.
constexpr std::uint32_t kFirstOfBreaches = 1000;
constexpr std::uint32_t kFarAhead = 100'000;

class Spoiler {
 public:
  Spoiler(TapeBuilder& builder, std::uint64_t seed) : builder_(builder), random_(seed) {}

  // Writes the last row once more with some of its columns changed.
  void write_spoiled() {
    Event row = builder_.last();
    for (std::uint64_t changes = 1 + random_.below(3); changes > 0; --changes) change(row);
    if (make_possible(row)) builder_.append(row);
  }

 private:
  template <class IdType, class Rows>
  IdType any(const Rows& rows) {
    const std::uint64_t chosen = random_.below(rows.size() + 1);
    return chosen == rows.size() ? IdType() : IdType(static_cast<typename IdType::rep>(chosen));
  }

  void change(Event& row) {
    const Tables& tables = builder_.tables();
    switch (random_.below(10)) {
      case 0: row.time_ns = static_cast<std::int64_t>(random_.below(UINT64_MAX)); break;
      case 1: row.bytes = random_.pick(kOddSizes); break;
      case 2: row.subject = any_number(); break;
      case 3: row.scope = any<ScopeId>(tables.scopes()); break;
      case 4: row.stack = any<StackId>(tables.stacks()); break;
      case 5: row.call = any<CallId>(tables.calls()); break;
      case 6: row.kind = static_cast<Kind>(random_.below(kKindCount)); break;
      case 7: row.category = static_cast<Category>(random_.below(kCategoryCount)); break;
      case 8: row.phase = static_cast<Phase>(random_.below(kPhaseCount)); break;
      default: row.device = any<DeviceId>(tables.devices()); break;
    }
  }

  std::uint32_t any_number() {
    if (random_.chance(0.01)) return kFarAhead + static_cast<std::uint32_t>(random_.below(30'000));
    return random_.chance(0.1) ? UINT32_MAX : static_cast<std::uint32_t>(random_.below(300));
  }

  // False where the tables have nothing that the row could name.
  bool make_possible(Event& row) {
    const Tables& tables = builder_.tables();
    if (needs_device(row.kind) && !row.device) {
      if (tables.devices().empty()) return false;
      row.device = DeviceId(0);
    }
    if (is_about_storage(row.kind) && row.subject >= builder_.size() + kStoragesAhead)
      row.subject = static_cast<std::uint32_t>(random_.below(300));
    if (row.kind != Kind::Mark) return true;
    if (tables.strings.size() == 0) return false;
    row.subject %= static_cast<std::uint32_t>(tables.strings.size());
    return true;
  }

  TapeBuilder& builder_;
  Random random_;
};

void break_rules_of_storages(TapeBuilder& builder) {
  const DeviceId full = builder.tables().device("full");
  std::uint32_t next = kFirstOfBreaches;
  const auto born = [&](std::int64_t bytes) {
    builder.alloc_as(StorageId(next), full, bytes, Category::Other);
    return StorageId(next++);
  };
  const StorageId freed = born(1);
  builder.free(freed);
  builder.free(freed);
  builder.free(StorageId(next++));
  builder.alloc_as(born(2), full, 3, Category::Input);
  builder.input(StorageId(next++));
  born(-5);
  builder.free(born(5));
  Event wrong_free = builder.last();
  wrong_free.subject = born(6).value;
  builder.append(wrong_free);
  born(INT64_MAX);
}

void break_rules_of_scopes(TapeBuilder& builder) {
  builder.end_scope(builder.tables().scope("never begun"));
  builder.begin_scope(builder.tables().scope("never ended"));
}

void break_rules_of_pairs(TapeBuilder& builder) {
  builder.end_call(builder.tables().call("never called"));
  builder.begin_call(builder.tables().call("never returns"));
  const DeviceId device = builder.tables().device("full");
  builder.map_segment(device, 1, 5);
  builder.map_segment(device, 1, 6);
  builder.unmap_segment(device, 1, 7);
  builder.unmap_segment(device, 1, 7);
  builder.release_pool(device, 1);
}

}  // namespace

Tape odd_tape(std::uint64_t seed) {
  TapeBuilder builder;
  Spoiler spoiler(builder, seed ^ 0x9e3779b9);
  Random choices(seed ^ 0x85ebca6b);
  if (choices.chance(0.3)) builder.tables().device("named by nobody");
  write_random_tape(builder, seed, [&] {
    if (choices.chance(0.3)) spoiler.write_spoiled();
  });
  break_rules_of_storages(builder);
  break_rules_of_scopes(builder);
  break_rules_of_pairs(builder);
  builder.set_time(INT64_MAX);
  builder.begin_step();
  builder.set_time(INT64_MIN);
  builder.begin_step();
  return builder.finish();
}

}  // namespace tidemark::test
