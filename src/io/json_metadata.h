// config.json as Metadata.
#pragma once

#include <string>

#include "io/json.h"
#include "io/metadata.h"

namespace atb {

/// Members of nested objects become "outer.inner"; arrays of one kind of plain values stay arrays, others become
/// "key.0", "key.1", ...; null is as if the key were absent. Error{kFile} naming `file` and the key when two keys
/// become the same, or one longer than 256 bytes.
Metadata flatten_json(const Json::Object& object, const std::string& file);

}  // namespace atb
