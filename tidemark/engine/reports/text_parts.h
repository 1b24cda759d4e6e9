// The pieces that text reports share: words for moments and places, and whole sections.
#pragma once

#include "tidemark/engine/answers/overview.h"
#include "tidemark/engine/reports/page.h"

namespace tidemark {

// "at step 2, backward, aten::mm in layers.3.mlp (train.py:41)"; long names elided to `longest`.
std::string moment_words(const When& when, std::size_t longest);

// "1 forward", "before 1": for narrow columns that say "in step".
std::string stage_words(std::int64_t step, Phase phase);

// "layers.3.mlp aten::mm train.py:41": its ends survive eliding.
std::string place_words(std::string_view scope, std::string_view op, std::string_view source);

// "1 storage", "12 storages".
std::string counted(std::int64_t count, std::string_view noun);

// "12-80", "12" for a range of one, "-" for none.
std::string range_words(std::int64_t first, std::int64_t last);

// The numbers that name storages in the tape's text form: "s12".
std::string storage_name(std::int64_t storage);

// " of cuda:0" where an answer has several devices, else nothing.
std::string of_device(std::string_view device, std::size_t device_count);

// How much and when, a device after the other; `is_brief` leaves the small facts out, and most of
// many devices.
void add_peak_headlines(Page& page, const PeakAnswer& answer, bool is_brief = false);
// What the peak is made of, as bars.
void add_categories(Page& page, const DevicePeak& peak, const std::string& suffix,
                    std::size_t most = SIZE_MAX);
// At most so many of each; nothing where no line, or no storage, is known.
// Parameters that were put together from the ranks' shards then; nothing where there are none.
bool has_gathered(const DevicePeak& peak);
void add_gathered(Page& page, const DevicePeak& peak, const std::string& suffix);
void add_gathered_sentence(Page& page, const DevicePeak& peak, std::size_t most);
void add_lines(Page& page, const DevicePeak& peak, const std::string& suffix, std::size_t most);
void add_sites(Page& page, const DevicePeak& peak, const std::string& suffix, std::size_t most);
// What each module owns of the peak, and how high memory rises while it runs.
void add_module_tree(Page& page, const ScopesAnswer& scopes, const DevicePeak& peak,
                     const std::string& suffix, Detail detail);

// Whether it fits, in a sentence; the parts of that; where it runs out first.
void add_verdict(Page& page, const VerdictAnswer& answer);
void add_budget(Page& page, const VerdictAnswer& answer);
void add_out_of_memory(Page& page, const OutOfMemory& first);

// The tree of modules with the peak of each phase; nothing when there are none.
void add_modules(Page& page, const ScopesAnswer& answer);
// The device's chart; nothing where it has no bytes.
void add_chart(Page& page, const TimelineAnswer& answer, const std::string& device,
               std::size_t rows);
// Each diagnostic with its count and first place.
void add_diagnostics(Page& page, const Diagnostics& diagnostics);
// The same under a title; nothing when there are none. Past `most` only their number is told.
void add_notes(Page& page, const Diagnostics& diagnostics, std::size_t most = SIZE_MAX);

}  // namespace tidemark
