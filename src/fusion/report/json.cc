// The explanation as the JSON object that `atb explain --json` promises.
#include <atb/explain.h>

#include <nlohmann/json.hpp>

namespace atb {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace); }

void put_figures(Json& json, const ExplainFigures& before, const ExplainFigures& after) {
  json["kernels_before"] = before.kernels;
  json["kernels_after"] = after.kernels;
  json["round_trips_before"] = before.round_trips;
  json["round_trips_after"] = after.round_trips;
  json["bytes_before"] = static_cast<int64_t>(before.bytes);
  json["bytes_after"] = static_cast<int64_t>(after.bytes);
  json["us_before"] = before.us;
  json["us_after"] = after.us;
}

Json region_object(const ExplainedRegion& explained) {
  const Region& r = explained.region;
  return {{"name", r.name},
          {"layer", r.layer},
          {"rules", r.rules},
          {"operators", explained.operators},
          {"capacity_used_bytes", r.capacity_used},
          {"capacity_available_bytes", r.capacity_available},
          {"tile_rows", explained.tile_rows},
          {"round_trips_before", explained.before.round_trips},
          {"round_trips_after", explained.after.round_trips},
          {"bytes_saved", r.bytes_saved},
          {"us_saved", 1e6 * r.seconds_saved}};
}

Json layer_object(const ExplainedLayer& layer) {
  Json json{{"name", layer.name}};
  put_figures(json, layer.before, layer.after);
  for (const char* key : {"regions", "near_misses", "conflicts"}) json[key] = Json::array();
  for (const ExplainedRegion& region : layer.regions) json["regions"].push_back(region_object(region));
  for (const NearMiss& m : layer.near_misses)
    json["near_misses"].push_back({{"rule", m.rule}, {"node", m.node}, {"clause", m.clause}, {"detail", m.detail}});
  for (const Conflict& c : layer.conflicts)
    json["conflicts"].push_back({{"winner", c.winner},
                                 {"loser", c.loser},
                                 {"winner_us_saved", 1e6 * c.winner_seconds},
                                 {"loser_us_saved", 1e6 * c.loser_seconds}});
  return json;
}

Json roles_of(const RegionDim& dim) {
  Json roles = Json::array();
  if (dim.parallel) roles.push_back("parallel");
  if (dim.reduce) roles.push_back("reduce");
  if (dim.contract) roles.push_back("contract");
  return roles;
}

Json value_object(const RegionValue& v) {
  return {{"name", v.name}, {"dtype", v.dtype},         {"dims", v.dims},
          {"role", v.role}, {"placement", v.placement}, {"layout", v.layout}};
}

Json stage_object(const RegionStage& s) {
  return {{"node", s.node},         {"operation", s.operation},     {"phase", s.phase},
          {"parallel", s.parallel}, {"reduce", s.reduce},           {"contract", s.contract},
          {"start", s.start},       {"accumulator", s.accumulator}, {"algorithm", s.algorithm},
          {"rounding", s.rounding}, {"epilogue", s.epilogue}};
}

}  // namespace

std::string explain_json(const Explanation& e) {
  Json json{{"model", e.model}, {"device", e.device}};
  json["device_source"] = e.device_source;
  json["seq"] = e.request.tokens;
  json["batch"] = e.request.batch;
  json["past"] = e.request.past;
  json["fuse_ms"] = e.fuse_ms;
  json["totals"] = Json::object();
  put_figures(json["totals"], e.before, e.after);
  json["layers"] = Json::array();
  for (const ExplainedLayer& layer : e.layers) json["layers"].push_back(layer_object(layer));
  return dump(json);
}

std::string region_json(const RegionSpec& spec) {
  Json json{{"name", spec.name}, {"layer", spec.layer}, {"rules", spec.rules}, {"numerics", spec.numerics}};
  for (const char* key : {"dims", "values", "stages"}) json[key] = Json::array();
  for (const RegionDim& dim : spec.dims)
    json["dims"].push_back({{"name", dim.name}, {"size", dim.size}, {"bound", dim.bound}, {"roles", roles_of(dim)}});
  for (const RegionValue& value : spec.values) json["values"].push_back(value_object(value));
  for (const RegionStage& stage : spec.stages) json["stages"].push_back(stage_object(stage));
  json["tile"] = Json::object();
  for (const auto& [name, size] : spec.tile) json["tile"][name] = size;
  json["workspace_bytes"] = spec.workspace_bytes;
  json["workspace_available_bytes"] = spec.workspace_available_bytes;
  return dump(json);
}

}  // namespace atb
