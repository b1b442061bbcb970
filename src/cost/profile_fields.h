// The fields of a profile, once: reading, writing, checking and documenting them go through this table.
#pragma once

#include <span>
#include <variant>

#include "cost/profile.h"

namespace atb {

struct ProfileField {
  const char* key;
  std::variant<std::string DeviceProfile::*, double DeviceProfile::*, int DeviceProfile::*, bool DeviceProfile::*>
      member;
  double low, high;  ///< range of a number, both ends included
  bool required;     ///< of a user's file
  const char *unit, *meaning;
};
std::span<const ProfileField> profile_fields();

}  // namespace atb
