#include "base/cpu.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atb/error.h>

#include <bit>
#include <cstring>
#include <vector>

#include "base/text.h"

namespace atb {
namespace {

constexpr uint32_t bit(Isa isa) noexcept { return 1u << static_cast<int>(isa); }

// One row per Isa, in its order. `below` are the ISAs that stay usable when this one is the maximum: those whose
// instructions it contains, where AVX-512 VNNI stands for AVX-VNNI too, but AVX-512 alone has no VNNI.
struct IsaRow {
  const char* name;
  bool CpuFeatures::*feature;  // nullptr: always there
  uint32_t below;
};
constexpr uint32_t kUpToAvx2 = bit(Isa::kPortable) | bit(Isa::kAvx2);
constexpr uint32_t kUpToVnni = kUpToAvx2 | bit(Isa::kAvx2Vnni) | bit(Isa::kAvx512) | bit(Isa::kAvx512Vnni);
constexpr IsaRow kIsas[] = {
    {"portable", nullptr, bit(Isa::kPortable)},
    {"avx2", &CpuFeatures::avx2, kUpToAvx2},
    {"avx2_vnni", &CpuFeatures::avx_vnni, kUpToAvx2 | bit(Isa::kAvx2Vnni)},
    {"avx512", &CpuFeatures::avx512, kUpToAvx2 | bit(Isa::kAvx512)},
    {"avx512_vnni", &CpuFeatures::avx512_vnni, kUpToVnni},
    {"avx512_bf16", &CpuFeatures::avx512_bf16, kUpToVnni | bit(Isa::kAvx512Bf16)},
    {"amx", &CpuFeatures::amx, kUpToVnni | bit(Isa::kAvx512Bf16) | bit(Isa::kAmx)},
};
static_assert(sizeof(kIsas) / sizeof(kIsas[0]) == kIsaCount);

const IsaRow& row(Isa isa) noexcept { return kIsas[static_cast<int>(isa)]; }

uint32_t supported_mask(const CpuFeatures& features) noexcept {
  uint32_t mask = 0;
  for (int i = 0; i < kIsaCount; ++i)
    if (features.supports(static_cast<Isa>(i))) mask |= 1u << i;
  return mask;
}

Isa highest(uint32_t mask) noexcept { return static_cast<Isa>(std::bit_width(mask) - 1); }

std::string names_of(uint32_t mask) {
  std::vector<std::string> names;
  for (int i = 0; i < kIsaCount; ++i)
    if ((mask >> i) & 1u) names.emplace_back(kIsas[i].name);
  return join(names, ", ");
}

constexpr bool has_bit(uint32_t word, int index) noexcept { return (word >> index) & 1u; }
constexpr bool has_all(uint64_t word, uint64_t bits) noexcept { return (word & bits) == bits; }

// State components of XCR0 (Intel SDM volume 1, chapter 13): SSE and AVX; opmask, ZMM_Hi256, Hi16_ZMM; TILECFG,
// TILEDATA.
constexpr uint64_t kXcr0Avx = 0x6, kXcr0Avx512 = kXcr0Avx | 0xe0, kXcr0Amx = 0x60000;
constexpr unsigned kTileDataComponent = 18;

// Leaf 0x1d: palette 1 must be the one that the kernels are written for, 8 tiles of 16 rows of 64 bytes.
bool palette1_as_expected(const CpuProbe& probe, uint32_t max_leaf) {
  if (max_leaf < 0x1d || probe.cpuid(0x1d, 0).eax < 1) return false;
  const auto palette = probe.cpuid(0x1d, 1);
  const uint32_t bytes_per_tile = palette.eax >> 16, bytes_per_row = palette.ebx & 0xffff;
  const uint32_t tiles = palette.ebx >> 16, rows = palette.ecx & 0xffff;
  return bytes_per_tile == 1024 && bytes_per_row == 64 && tiles == 8 && rows == 16;
}

std::string read_brand(const CpuProbe& probe) {
  constexpr uint32_t kFirst = 0x80000002, kLast = 0x80000004;
  if (probe.cpuid(0x80000000, 0).eax < kLast) return "";
  char text[3 * sizeof(CpuProbe::Regs) + 1] = {};
  for (uint32_t leaf = kFirst; leaf <= kLast; ++leaf) {
    const auto regs = probe.cpuid(leaf, 0);
    std::memcpy(text + (leaf - kFirst) * sizeof regs, &regs, sizeof regs);
  }
  return std::string(trim(text));
}

class ThisCpu : public CpuProbe {
 public:
  Regs cpuid(uint32_t leaf, uint32_t subleaf) const override {
    Regs r;
    __cpuid_count(leaf, subleaf, r.eax, r.ebx, r.ecx, r.edx);
    return r;
  }
  uint64_t xcr0() const override {
    uint32_t low, high;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t{high} << 32) | low;
  }
  bool request_amx_permission() const override {
    constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM, newer than Debian's headers
    return syscall(SYS_arch_prctl, kRequestPermission, kTileDataComponent) == 0;
  }
};

}  // namespace

const char* isa_name(Isa isa) noexcept { return row(isa).name; }

std::optional<Isa> parse_isa(std::string_view name) noexcept {
  for (int i = 0; i < kIsaCount; ++i)
    if (name == kIsas[i].name) return static_cast<Isa>(i);
  return std::nullopt;
}

const CpuProbe& this_cpu() {
  static const ThisCpu probe;
  return probe;
}

bool CpuFeatures::supports(Isa isa) const noexcept {
  const auto feature = row(isa).feature;
  return feature == nullptr || this->*feature;
}

Isa CpuFeatures::best() const noexcept { return highest(supported_mask(*this)); }

// Each feature needs all that the compiler may use in its kernel files (cmake/isa.cmake), hence the chain.
CpuFeatures detect_cpu(const CpuProbe& probe) {
  CpuFeatures found;
  found.brand = read_brand(probe);
  const uint32_t max_leaf = probe.cpuid(0, 0).eax;
  if (max_leaf < 7) return found;
  const uint32_t leaf1 = probe.cpuid(1, 0).ecx;
  const auto leaf7 = probe.cpuid(7, 0);
  const uint32_t leaf7_1 = leaf7.eax >= 1 ? probe.cpuid(7, 1).eax : 0;
  const uint64_t state = has_bit(leaf1, 27) ? probe.xcr0() : 0;  // OSXSAVE

  const bool avx_fma_f16c = has_bit(leaf1, 28) && has_bit(leaf1, 12) && has_bit(leaf1, 29);
  found.avx2 = avx_fma_f16c && has_bit(leaf7.ebx, 5) && has_all(state, kXcr0Avx);
  found.avx_vnni = found.avx2 && has_bit(leaf7_1, 4);
  constexpr uint32_t kFDqBwVl = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;
  found.avx512 = found.avx2 && has_all(leaf7.ebx, kFDqBwVl) && has_all(state, kXcr0Avx512);
  found.avx512_vnni = found.avx512 && has_bit(leaf7.ecx, 11);
  found.avx512_bf16 = found.avx512_vnni && has_bit(leaf7_1, 5);
  constexpr uint32_t kTileBf16Int8 = 1u << 24 | 1u << 22 | 1u << 25;
  found.amx = found.avx512_bf16 && has_all(leaf7.edx, kTileBf16Int8) && has_all(state, kXcr0Amx) &&
              palette1_as_expected(probe, max_leaf) && probe.request_amx_permission();
  return found;
}

const CpuFeatures& cpu_features() {
  static const CpuFeatures features = detect_cpu(this_cpu());
  return features;
}

IsaSet::IsaSet(const CpuFeatures& features, std::optional<Isa> max) : mask_(supported_mask(features)) {
  if (!max) return;
  if (!features.supports(*max))
    throw Error(ErrorCode::kUsage, "this CPU does not have " + std::string(isa_name(*max)), "ATB_MAX_ISA",
                "it has " + names_of(mask_));
  mask_ &= row(*max).below;
}

Isa IsaSet::best() const noexcept { return highest(mask_); }

}  // namespace atb
