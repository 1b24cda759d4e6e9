// Resizes and purposes as notes: a storage stays what it was, a thread makes what it works for.
#include <gtest/gtest.h>

#include "tidemark/libtorch/attribution/run.h"

namespace tidemark::attribution {
namespace {

constexpr StorageKey kObject = 1000, kOther = 2000;

Note note_of(NoteKind kind, StorageKey key, std::int64_t bytes = 0, std::uint32_t thread = 0) {
  Note made;
  made.kind = kind;
  made.key = key;
  made.bytes = bytes;
  made.thread = thread;
  return made;
}

Note resizing(StorageKey memory, StorageKey object, std::uint32_t thread = 0) {
  return note_of(NoteKind::Resizing, memory, static_cast<std::int64_t>(object), thread);
}

std::int64_t total(const Attribution& attribution) {
  return attribution.current().size() ? attribution.current()[0].total : 0;
}

// A parameter at 8 whose object is left without memory.
Attribution with_emptied_parameter() {
  Attribution attribution;
  attribution.label(8, 100, 0, Category::Parameter);
  attribution.take(resizing(8, kObject));
  attribution.take(note_of(NoteKind::Died, 8));
  attribution.take(note_of(NoteKind::Resized, 0, 0));
  return attribution;
}

TEST(Resize, AStorageStaysWhatItWasInItsNewMemory) {
  Attribution attribution;
  attribution.label(8, 100, 0, Category::Parameter);
  attribution.take(resizing(8, kObject));
  attribution.take(
      note_of(NoteKind::Born, 16, 200));  // the new memory comes before the old one goes
  attribution.take(note_of(NoteKind::Died, 8));
  attribution.take(note_of(NoteKind::Resized, 16, 200));
  EXPECT_EQ(attribution.category_of(16), Category::Parameter);
  EXPECT_EQ(total(attribution), 200);
}

TEST(Resize, IsInThePeakAtOnce) {
  Attribution attribution;
  attribution.label(8, 100, 0, Category::Parameter);
  attribution.take(resizing(8, kObject));
  attribution.take(note_of(NoteKind::Resized, 8, 300));  // meta memory keeps its name
  attribution.take(resizing(8, kObject));
  attribution.take(note_of(NoteKind::Resized, 8, 100));
  EXPECT_EQ(total(attribution), 100);
  EXPECT_EQ(attribution.peak()[0].total, 300);
}

TEST(Resize, AStorageIsRememberedWhileItHasNoMemory) {
  Attribution attribution = with_emptied_parameter();
  EXPECT_EQ(total(attribution), 0);
  for (int i = 0; i < 2; ++i) {
    attribution.take(resizing(0, kObject));
    attribution.take(note_of(NoteKind::Resized, 16, 400));
    EXPECT_EQ(attribution.category_of(16), Category::Parameter);
    EXPECT_EQ(total(attribution), 400);
    attribution.take(resizing(16, kObject));
    attribution.take(note_of(NoteKind::Died, 16));
    attribution.take(note_of(NoteKind::Resized, 0, 0));
    EXPECT_EQ(total(attribution), 0);
  }
}

TEST(Resize, AnObjectThatIsGoneIsNotTakenForTheNextAtItsAddress) {
  Attribution attribution = with_emptied_parameter();
  attribution.take(note_of(NoteKind::Forgotten, kObject));
  attribution.take(resizing(0, kObject));
  attribution.take(note_of(NoteKind::Resized, 16, 400));
  EXPECT_EQ(attribution.category_of(16), std::nullopt);
  EXPECT_EQ(total(attribution), 0);
}

TEST(Resize, AStorageThatNobodyKnowsStaysUnknown) {
  Attribution attribution;
  attribution.take(resizing(8, kObject));
  attribution.take(note_of(NoteKind::Resized, 16, 400));
  EXPECT_EQ(total(attribution), 0);
}

TEST(Resize, ThreadsDoNotMixTheirs) {
  Attribution attribution = with_emptied_parameter();
  attribution.take(resizing(0, kObject, 1));
  attribution.take(resizing(0, kOther, 2));
  attribution.take(note_of(NoteKind::Resized, 24, 400, 2));
  attribution.take(note_of(NoteKind::Resized, 16, 400, 1));
  EXPECT_EQ(attribution.category_of(16), Category::Parameter);
  EXPECT_EQ(attribution.category_of(24), std::nullopt);
}

TEST(Purpose, AppliesToWhatTheThreadMakesBetweenItsNotes) {
  attribution::Run run(Attribution(), nullptr);
  run.start(true);
  run.take(note_of(NoteKind::Purposed, 0, static_cast<std::int64_t>(Category::AllGather), 1));
  run.take(note_of(NoteKind::Born, 8, 100, 1));
  run.take(note_of(NoteKind::Born, 16, 100, 2));
  run.take(note_of(NoteKind::Purposed, 0, -1, 1));
  run.take(note_of(NoteKind::Born, 24, 100, 1));
  EXPECT_EQ(run.attribution().category_of(8), Category::AllGather);
  EXPECT_EQ(run.attribution().category_of(16), Category::Activation);
  EXPECT_EQ(run.attribution().category_of(24), Category::Activation);
}

}  // namespace
}  // namespace tidemark::attribution
