// Properties of the caching allocator's model: against a slow twin, and what holds for any
// settings.
#include <array>
#include <list>
#include <map>

#include "tests/property/properties.h"
#include "tests/property/slow_allocator.h"
#include "tests/support/numbers.h"
#include "tidemark/engine/allocator/caching_allocator.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/replay/block_accounting.h"
#include "tidemark/engine/tape/builder.h"

namespace tidemark::test {
namespace {

constexpr int kRequests = 40;

constexpr std::array<const char*, 7> kSettings = {
    "",
    "max_split_size_mb:20",
    "max_split_size_mb:40",
    "roundup_power2_divisions:4",
    "roundup_power2_divisions:[4:2,16:8,>:1]",
    "max_split_size_mb:32,max_non_split_rounding_mb:24",
    "large_segment_size_mb:30"};

AllocatorOptions random_options(Random& random) {
  AllocatorOptions options;
  options.settings = parse_allocator_settings(random.pick(kSettings));
  options.settings.tie_break = TieBreak::Registration;
  if (random.chance(0.5))
    options.device_bytes = static_cast<std::int64_t>(64 + random.below(128)) * kMiB;
  return options;
}

// Few sizes, so that blocks fit each other often.
std::int64_t random_bytes(Random& random) {
  constexpr std::array<std::int64_t, 6> kSteps = {1, 512, 100'000, kMiB / 2, 3 * kMiB, 11 * kMiB};
  const std::int64_t step = random.pick(kSteps);
  return step * static_cast<std::int64_t>(1 + random.below(6));
}

// No gap and no overlap, neighbours that are free together have joined, and the sums are right.
void expect_sound(const CachingAllocator& model) {
  std::int64_t allocated = 0, active = 0, reserved = 0, end = 0;
  for (const SegmentFacts& segment : model.snapshot()) {
    expect(segment.address >= end, "segments overlap");
    std::int64_t at = segment.address;
    bool was_free = false;
    for (const BlockFacts& block : segment.blocks) {
      expect_equal(block.address, at, "a block begins where the one before it ends");
      expect(block.size > 0 && block.requested <= block.size, "a block is as large as asked for");
      expect(!(was_free && !block.is_active), "free neighbours have joined");
      was_free = !block.is_active;
      at += block.size;
      allocated += block.is_allocated ? block.size : 0;
      active += block.is_active ? block.size : 0;
    }
    expect_equal(at - segment.address, segment.size, "blocks fill their segment");
    end = at;
    reserved += segment.size;
  }
  const PoolCounters& all = model.counters().all;
  expect_equal(all.allocated.current, allocated, "allocated bytes");
  expect_equal(all.active.current, active, "active bytes");
  expect_equal(all.reserved.current, reserved, "reserved bytes");
  expect(allocated <= active && active <= reserved, "allocated, active, reserved rise");
}

void allocator_equals_its_slow_twin(const Sample& sample) {
  Random random = sample.choices();
  const AllocatorOptions options = random_options(random);
  CachingAllocator model(options);
  SlowAllocator slow(options.settings, options.device_bytes);
  std::vector<std::pair<BlockId, SlowAllocator::Place>> alive;
  for (int i = 0; i < kRequests; ++i) {
    const auto stream = static_cast<std::uint32_t>(random.below(2));
    if (!alive.empty() && random.chance(0.4)) {
      const std::size_t which = random.below(alive.size());
      if (random.chance(0.3)) {
        model.record_stream(alive[which].first, stream);
        slow.record_stream(alive[which].second, stream);
      }
      model.free(alive[which].first);
      slow.free(alive[which].second);
      alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(which));
    } else if (random.chance(0.03)) {
      model.empty_cache();
      slow.empty_cache();
    } else {
      const std::int64_t bytes = random_bytes(random);
      const BlockId block = model.malloc(bytes, stream);
      const auto place = slow.malloc(bytes, stream);
      expect_equal(block != kNoBlock, place.has_value(), "a block for ", bytes, " bytes");
      if (!place) continue;
      expect_equal(model.size_of(block), slow.size_of(*place), "bytes of a block");
      alive.emplace_back(block, *place);
    }
    const PoolCounters& all = model.counters().all;
    expect_equal(all.allocated.current, slow.allocated(), "allocated bytes after ", i);
    expect_equal(all.active.current, slow.active(), "active bytes after ", i);
    expect_equal(all.reserved.current, slow.reserved(), "reserved bytes after ", i);
    expect_equal(all.segments.current, static_cast<std::int64_t>(slow.segment_count()), "segments");
    expect_equal(model.counters().retries, slow.retries(), "retries");
  }
  expect_sound(model);
}

// Also with segments that grow, garbage that is collected, and private pools.
void allocator_is_sound(const Sample& sample) {
  Random random = sample.choices();
  AllocatorOptions options = random_options(random);
  options.settings.expandable_segments = random.chance(0.6);
  options.settings.tie_break = random.chance(0.5) ? TieBreak::Address : TieBreak::Registration;
  options.address_bytes = 256 * kMiB;
  if (random.chance(0.3)) {
    options.settings.garbage_threshold = 0.5;
    options.limit_bytes = 128 * kMiB;
  }
  CachingAllocator model(options);
  const PoolId pool = model.add_pool();
  std::vector<BlockId> alive;
  for (int i = 0; i < kRequests; ++i) {
    if (!alive.empty() && random.chance(0.4)) {
      const std::size_t which = random.below(alive.size());
      if (random.chance(0.2)) model.record_stream(alive[which], 1);
      model.free(alive[which]);
      alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(which));
    } else {
      const BlockId block =
          model.malloc(random_bytes(random), static_cast<std::uint32_t>(random.below(2)),
                       random.chance(0.2) ? pool : kDefaultPool);
      if (block != kNoBlock) alive.push_back(block);
    }
    if (random.chance(0.05)) model.empty_cache();
    if (i % 8 == 0) expect_sound(model);
  }
  // Splits and joins undo each other: what is freed wholly can be given back wholly.
  for (const BlockId block : alive) model.free(block);
  model.release_pool(pool);
  model.empty_cache();
  expect_sound(model);
  expect_equal(model.counters().all.reserved.current, 0, "reserved bytes of nothing");
  expect_equal(model.counters().all.inactive_split.current, 0, "split bytes of nothing");
}

// A GPU whose pools are slow allocators of their own.
class SlowPools {
 public:
  explicit SlowPools(const AllocatorSettings& settings) : settings_(settings) { add(0); }

  void use(std::uint32_t number) {
    if (!used_.contains(number)) add(number);
    number_ = number;
  }
  void release(std::uint32_t number) {
    const auto used = used_.find(number);
    if (number == 0 || used == used_.end()) return;
    used->second->is_released = true;
    used_.erase(used);
  }
  // While births come from a private pool only released ones are emptied.
  void empty(std::uint32_t number) {
    for (One& one : all_) {
      const bool is_meant = number == 0 || &one == newest_[number];
      if (is_meant && (one.is_released || (one.number == 0 && number_ == 0)))
        one.slow.empty_cache();
    }
  }
  std::pair<SlowAllocator*, SlowAllocator::Place> malloc(std::int64_t bytes) {
    SlowAllocator& slow = used_.at(number_)->slow;
    return {&slow, slow.malloc(bytes, 0).value()};
  }
  bool comes_from_used() const { return used_.contains(number_); }
  std::int64_t reserved() const {
    std::int64_t sum = 0;
    for (const One& one : all_) sum += one.slow.reserved();
    return sum;
  }

 private:
  struct One {
    std::uint32_t number;
    SlowAllocator slow;
    bool is_released = false;
  };
  void add(std::uint32_t number) {
    all_.push_back({number, SlowAllocator(settings_, AllocatorSettings::kUnlimited)});
    used_[number] = newest_[number] = &all_.back();
  }

  AllocatorSettings settings_;
  std::list<One> all_;
  std::map<std::uint32_t, One*> used_, newest_;  // by number
  std::uint32_t number_ = 0;
};

// The replay's accounting of a tape with pools; numbers of released ones come again.
class PoolReplay {
 public:
  PoolReplay(Random& random, const AllocatorOptions& options)
      : random_(random), blocks_(builder_.tables(), options), slow_(options.settings) {}

  void step() {
    const auto number = static_cast<std::uint32_t>(random_.below(4));
    if (random_.chance(0.15) || !slow_.comes_from_used()) use(number);
    else if (random_.chance(0.05)) tell([&] { builder_.release_pool(gpu_, number); }, number, 'R');
    else if (random_.chance(0.08)) tell([&] { builder_.empty_cache(gpu_, number); }, number, 'E');
    else if (!alive_.empty() && random_.chance(0.45)) free(random_.below(alive_.size()));
    else alloc(random_bytes(random_));
    const CachingAllocator* model = blocks_.allocator(gpu_);
    expect_equal(model ? model->counters().all.reserved.current : 0, slow_.reserved(), "reserved");
  }
  void finish() {
    while (!alive_.empty()) free(alive_.size() - 1);
    if (blocks_.allocator(gpu_)) expect_sound(*blocks_.allocator(gpu_));
  }

 private:
  struct Alive {
    StorageId storage;
    std::int64_t bytes;
    SlowAllocator* slow;
    SlowAllocator::Place place;
  };
  void use(std::uint32_t number) {
    builder_.use_pool(gpu_, number);
    blocks_.take_pool(builder_.last());
    slow_.use(number);
  }
  // A released pool that is never emptied again is not told apart from one that is.
  template <class Write>
  void tell(const Write& write, std::uint32_t number, char what) {
    write();
    blocks_.take_pool(builder_.last());
    if (what == 'R') slow_.release(number);
    else slow_.empty(number);
  }
  void alloc(std::int64_t bytes) {
    const StorageId storage = builder_.alloc(gpu_, bytes);
    blocks_.take(builder_.last(), {}, builder_.storages()[storage]);
    const auto [slow, place] = slow_.malloc(bytes);
    alive_.push_back({storage, bytes, slow, place});
  }
  void free(std::size_t which) {
    const Alive dead = alive_[which];
    const StorageState before = builder_.storages()[dead.storage];
    builder_.free(dead.storage);
    blocks_.take(builder_.last(), before, builder_.storages()[dead.storage]);
    dead.slow->free(dead.place);
    alive_.erase(alive_.begin() + static_cast<std::ptrdiff_t>(which));
  }

  Random& random_;
  TapeBuilder builder_;
  const DeviceId gpu_ = builder_.tables().device("cuda:0");
  BlockAccounting blocks_;
  SlowPools slow_;
  std::vector<Alive> alive_;
};

void pools_are_allocators_of_their_own(const Sample& sample) {
  Random random = sample.choices();
  AllocatorOptions options = random_options(random);
  options.device_bytes = AllocatorSettings::kUnlimited;
  PoolReplay replay(random, options);
  for (int i = 0; i < 2 * kRequests; ++i) replay.step();
  replay.finish();
}

// Pieces of settings in any order: they are read, or refused with a place and a hint.
void bad_settings_are_refused(const Sample& sample) {
  Random random = sample.choices();
  constexpr std::array<const char*, 20> kPieces = {"expandable_segments",
                                                   "max_split_size_mb",
                                                   "roundup_power2_divisions",
                                                   "True",
                                                   "False",
                                                   "128",
                                                   "4",
                                                   "0.5",
                                                   "-1",
                                                   ":",
                                                   ":",
                                                   ":",
                                                   ",",
                                                   ",",
                                                   "[",
                                                   "]",
                                                   ">",
                                                   " ",
                                                   "x",
                                                   "\xff"};
  std::string text;
  for (std::uint64_t i = 1 + random.below(9); i > 0; --i) text += random.pick(kPieces);
  try {
    parse_allocator_settings(text);
  } catch (const Error& error) {
    expect(error.code() == ErrorCode::BadArgument, "another error for ", text);
    expect(!error.where().empty() && !error.hint().empty(), "no place or hint for ", text);
  }
}

}  // namespace

std::vector<Property> allocator_properties() {
  return {{"the caching allocator equals its slow twin", allocator_equals_its_slow_twin},
          {"the caching allocator is sound under any settings", allocator_is_sound},
          {"private pools are allocators of their own", pools_are_allocators_of_their_own},
          {"bad settings of the allocator are refused", bad_settings_are_refused}};
}

}  // namespace tidemark::test
