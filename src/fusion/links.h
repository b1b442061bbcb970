// Where the rules join the operators of a graph, and where one of their clauses stands against it.
#pragma once

#include <string>
#include <vector>

#include "fusion/rule.h"

namespace atb {

/// Two nodes that a rule joins. `on` says whether the switches allow it.
struct Link {
  const rules::Rule* rule;
  NodeId producer, consumer;
  ValueId value;              ///< as in rules::Site
  std::vector<NodeId> views;  ///< between them; they go into a region with both
  bool siblings;
  bool yields;    ///< `value` may also be read outside of the region
  ValueId open;   ///< a second operand of the consumer that may come from the region; or kNoValue
  uint8_t kinds;  ///< FusionKind bits, the block resolved
  bool on;
};

/// A near miss before it is known whether a region took its nodes in another way.
struct Refused {
  const rules::Rule* rule;
  NodeId producer, consumer, node;
  const char* clause;
  std::string detail;
};

struct Links {
  std::vector<Link> links;  ///< by consumer
  std::vector<Refused> refused;
};

struct Switches;
Links find_links(const Facts& facts, const Switches& switches, bool training);

}  // namespace atb
