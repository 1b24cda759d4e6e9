// Several ranks as JSON.
#include "tidemark/engine/answers/ranks.h"
#include "tidemark/engine/reports/json.h"
#include "tidemark/engine/reports/json_parts.h"

namespace tidemark {
namespace {

void write_rank(JsonWriter& json, const RankPeak& rank) {
  json.begin_object();
  json.member("name", rank.name);
  json.member("rank", rank.rank);
  json.member_if_known("device", rank.device);
  json.member("allocated_bytes", rank.allocated_bytes);
  write_moment(json, "at", rank.at);
  write_categories(json, "categories", rank.categories);
  json.end_object();
}

void write_spreads(JsonWriter& json, std::string_view key, const std::vector<Spread>& spreads) {
  json.key(key);
  json.begin_array();
  for (const Spread& one : spreads) {
    json.begin_object(JsonShape::Flat);
    json.member("name", one.name);
    json.member("least", one.least);
    json.member("least_rank", one.least_rank);
    json.member("most", one.most);
    json.member("most_rank", one.most_rank);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string json_report(const RanksAnswer& answer) {
  JsonWriter json;
  begin_report(json, "ranks");
  json.member("worst", answer.worst);
  json.key("ranks");
  json.begin_array();
  for (const RankPeak& rank : answer.ranks) write_rank(json, rank);
  json.end_array();
  write_spreads(json, "categories", answer.categories);
  write_spreads(json, "scopes", answer.scopes);
  write_spreads(json, "ops", answer.ops);
  return end_report(json, answer.diagnostics);
}

}  // namespace tidemark
