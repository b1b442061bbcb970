// What this CPU can run: CPUID says what the silicon has, XCR0 what the kernel saves, arch_prctl whether AMX is
// allowed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace atb {

/// Instruction sets in ascending order of preference. The names are the values of ATB_MAX_ISA and the suffixes of
/// kernel files (x86_<name>.cc); avx2_vnni and avx512 are alternatives, not steps: a CPU may have one without the
/// other.
enum class Isa : uint8_t { kPortable, kAvx2, kAvx2Vnni, kAvx512, kAvx512Vnni, kAvx512Bf16, kAmx };
inline constexpr int kIsaCount = 7;

const char* isa_name(Isa isa) noexcept;
std::optional<Isa> parse_isa(std::string_view name) noexcept;

/// The machine as the detector sees it; tests hand in a fake one.
class CpuProbe {
 public:
  struct Regs {
    uint32_t eax, ebx, ecx, edx;
  };
  virtual ~CpuProbe() = default;
  virtual Regs cpuid(uint32_t leaf, uint32_t subleaf) const = 0;
  virtual uint64_t xcr0() const = 0;                ///< only called when CPUID says OSXSAVE
  virtual bool request_amx_permission() const = 0;  ///< arch_prctl(ARCH_REQ_XCOMP_PERM, XTILEDATA)
};

const CpuProbe& this_cpu();

struct CpuFeatures {
  bool avx2 = false;  ///< AVX2 with FMA and F16C
  bool avx_vnni = false;
  bool avx512 = false;  ///< F, BW, DQ, VL
  bool avx512_vnni = false;
  bool avx512_bf16 = false;
  bool amx = false;  ///< TILE, INT8 and BF16, palette 1 present, permission granted
  std::string brand;

  bool supports(Isa isa) const noexcept;
  Isa best() const noexcept;
};

CpuFeatures detect_cpu(const CpuProbe& probe);

/// Features of this machine, detected once.
const CpuFeatures& cpu_features();

/// The ISAs that kernels may use: all that the CPU has and that `max` (ATB_MAX_ISA) contains. `avx512` does not
/// contain `avx2_vnni`; the AVX-512 VNNI levels do.
/// Throws Error{kUsage} naming the variable when `max` is not supported here, with what is.
class IsaSet {
 public:
  IsaSet(const CpuFeatures& features, std::optional<Isa> max);
  bool has(Isa isa) const noexcept { return (mask_ >> static_cast<int>(isa)) & 1u; }
  Isa best() const noexcept;

 private:
  uint32_t mask_;
};

}  // namespace atb
