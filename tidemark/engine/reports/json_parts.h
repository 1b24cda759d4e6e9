// The pieces that JSON reports share. Each writes members into the object that is open.
#pragma once

#include "tidemark/engine/answers/overview.h"
#include "tidemark/engine/reports/json_writer.h"

namespace tidemark {

// Opens the report's object with "schema_version" and "report".
void begin_report(JsonWriter& json, std::string_view report);
// Writes "diagnostics", closes the report's object and hands out the text.
std::string end_report(JsonWriter& json, const Diagnostics& diagnostics);

void write_moment(JsonWriter& json, std::string_view key, const When& when);
// Only the categories that have bytes, most first: the order of the bars.
void write_categories(JsonWriter& json, std::string_view key, const CategoryBytes& categories);
// The members of a storage's object.
void write_storage(JsonWriter& json, const StorageFact& fact);

// The member "gpu".
void write_gpu(JsonWriter& json, const GpuFacts& gpu);

// The member "allocator".
void write_allocator(JsonWriter& json, const AllocatorPeak& peak);

// Answers that stand alone and inside the overview: all members but the diagnostics.
void write_answer(JsonWriter& json, const PeakAnswer& answer);
void write_answer(JsonWriter& json, const ScopesAnswer& answer);
void write_answer(JsonWriter& json, const TimelineAnswer& answer);
void write_answer(JsonWriter& json, const VerdictAnswer& answer);

}  // namespace tidemark
