// The recorder's allocators and those that other libraries put on top of them.
#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "tests/threads/counting_taker.h"
#include "tests/threads/torch_stand_in.h"

namespace tidemark::recorder {
namespace {

constexpr std::array kTypes = {c10::kCPU, c10::kMeta};

// Asks the one that it found, as a library does that counts or pads.
class Above final : public c10::Allocator {
 public:
  explicit Above(c10::DeviceType type) : type_(type), found_(c10::GetAllocator(type)) {
    c10::SetAllocator(type, this);
  }
  ~Above() override { c10::SetAllocator(type_, std::exchange(found_, nullptr)); }
  c10::DataPtr allocate(std::size_t bytes) override {
    ++asked_;
    return found_->allocate(bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override { return found_->raw_deleter(); }
  void copy_data(void*, const void*, std::size_t) const override {}
  int asked() const { return asked_; }

 private:
  c10::DeviceType type_;
  c10::Allocator* found_;
  int asked_ = 0;
};

class RecorderAllocators : public testing::TestWithParam<c10::DeviceType> {
 protected:
  // Births and deaths heard while one block lives.
  int notes_of_a_block() {
    CountingTaker taker;
    c10::GetAllocator(GetParam())->allocate(64);
    return taker.heard();
  }
};

TEST_P(RecorderAllocators, OneThatCameOnTopMeanwhileIsNotPutBelowItself) {
  c10::Allocator* const own = c10::GetAllocator(GetParam());
  Recorder::instance().start({});
  {
    const Above above(GetParam());
    Recorder::instance().stop({});
    EXPECT_EQ(c10::GetAllocator(GetParam()), &above);
    for (int i = 0; i < 3; ++i) {
      Recorder::instance().start({});
      EXPECT_EQ(notes_of_a_block(), 2);
      const int asked = above.asked();
      c10::GetAllocator(GetParam())->allocate(64);
      EXPECT_EQ(above.asked(), asked + 1);
      Recorder::instance().stop({});
    }
  }
  Recorder::instance().start({});
  Recorder::instance().stop({});
  EXPECT_EQ(c10::GetAllocator(GetParam()), own);
}

TEST_P(RecorderAllocators, OneThatHasTakenTheirPlaceIsHeard) {
  c10::Allocator* const own = c10::GetAllocator(GetParam());
  Recorder::instance().start({});
  c10::SetAllocator(GetParam(), own);
  Recorder::instance().stop({});
  Recorder::instance().start({});
  EXPECT_NE(c10::GetAllocator(GetParam()), own);
  EXPECT_EQ(notes_of_a_block(), 2);
  Recorder::instance().stop({});
  EXPECT_EQ(c10::GetAllocator(GetParam()), own);
}

// Blocks that it gave before may live, and go back through the deleter that was known then.
TEST(RecorderAllocatorsOfTheCpu, OneWithAnotherDeleterIsLeftAlone) {
  struct Other final : c10::Allocator {
    static void nothing(void*) {}
    c10::DataPtr allocate(std::size_t) override { return {}; }
    c10::DeleterFnPtr raw_deleter() const override { return &nothing; }
    void copy_data(void*, const void*, std::size_t) const override {}
  } other;
  c10::Allocator* const own = c10::GetAllocator(c10::kCPU);
  Recorder::instance().start({});
  Recorder::instance().stop({});
  c10::SetAllocator(c10::kCPU, &other);
  Recorder::instance().start({});
  EXPECT_EQ(c10::GetAllocator(c10::kCPU), &other);
  Recorder::instance().stop({});
  c10::SetAllocator(c10::kCPU, own);
}

// It asks for what is large, and cuts small blocks itself.
TEST(RecorderAllocatorsOfTheCpu, OneThatHandsOnInPartIsKnownByItsDeleter) {
  struct Cutting final : c10::Allocator {
    explicit Cutting(c10::Allocator* found) : found(found) {}
    c10::DataPtr allocate(std::size_t bytes) override {
      return bytes > 64 ? found->allocate(bytes) : c10::DataPtr();
    }
    c10::DeleterFnPtr raw_deleter() const override { return found->raw_deleter(); }
    void copy_data(void*, const void*, std::size_t) const override {}
    c10::Allocator* found;
  };
  c10::Allocator* const own = c10::GetAllocator(c10::kCPU);
  Recorder::instance().start({});
  Cutting cutting(c10::GetAllocator(c10::kCPU));
  c10::SetAllocator(c10::kCPU, &cutting);
  Recorder::instance().stop({});
  Recorder::instance().start({});
  EXPECT_EQ(c10::GetAllocator(c10::kCPU), &cutting);
  cutting.allocate(128);  // and comes to an end
  Recorder::instance().stop({});
  c10::SetAllocator(c10::kCPU, own);
}

INSTANTIATE_TEST_SUITE_P(CpuAndMeta, RecorderAllocators, testing::ValuesIn(kTypes));

}  // namespace
}  // namespace tidemark::recorder
