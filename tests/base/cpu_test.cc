// Case 51: illegal instructions on VMs and old CPUs come from trusting CPUID alone.
#include "base/cpu.h"

#include <atb/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace atb {
namespace {

using ::testing::HasSubstr;

/// A CPU that has everything; tests take parts away. Bits as in the Intel SDM, volume 2, CPUID.
class FakeCpu : public CpuProbe {
 public:
  FakeCpu() {
    leaf(0, 0) = {0x20, 0, 0, 0};
    leaf(1, 0).ecx = 1u << 12 | 1u << 27 | 1u << 28 | 1u << 29;  // FMA, OSXSAVE, AVX, F16C
    leaf(7, 0) = {1, 1u << 5 | 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31, 1u << 11, 1u << 22 | 1u << 24 | 1u << 25};
    leaf(7, 1).eax = 1u << 4 | 1u << 5;  // AVX-VNNI, AVX512-BF16
    leaf(0x1d, 0).eax = 1;
    leaf(0x1d, 1) = {1024u << 16 | 8192, 8u << 16 | 64, 16, 0};
    leaf(0x80000000, 0).eax = 0x80000004;
    const char brand[] = "  Example CPU @ 2.00GHz";
    std::memcpy(&leaf(0x80000002, 0), brand, 16);
    std::memcpy(&leaf(0x80000003, 0), brand + 16, sizeof brand - 16);
  }
  Regs& leaf(uint32_t leaf, uint32_t subleaf) { return leaves_[{leaf, subleaf}]; }

  Regs cpuid(uint32_t leaf, uint32_t subleaf) const override {
    const auto found = leaves_.find({leaf, subleaf});
    return found == leaves_.end() ? Regs{} : found->second;
  }
  uint64_t xcr0() const override { return state; }
  bool request_amx_permission() const override {
    ++permission_requests;
    return permission;
  }

  uint64_t state = 0x600e7;  // x87, SSE, AVX, AVX-512 (3), AMX (2)
  bool permission = true;
  mutable int permission_requests = 0;

 private:
  std::map<std::pair<uint32_t, uint32_t>, Regs> leaves_;
};

TEST(Cpu, AllFeaturesOfAFullMachineAreFound) {
  const CpuFeatures features = detect_cpu(FakeCpu());
  for (int i = 0; i < kIsaCount; ++i)
    EXPECT_TRUE(features.supports(static_cast<Isa>(i))) << isa_name(static_cast<Isa>(i));
  EXPECT_EQ(features.best(), Isa::kAmx);
  EXPECT_EQ(features.brand, "Example CPU @ 2.00GHz");
}

struct Lack {
  const char* what;
  std::function<void(FakeCpu&)> take_away;
  Isa best;
};

class CpuWithout : public ::testing::TestWithParam<Lack> {};

TEST_P(CpuWithout, FallsToTheNextLowerPath) {
  FakeCpu cpu;
  GetParam().take_away(cpu);
  const CpuFeatures features = detect_cpu(cpu);
  EXPECT_EQ(features.best(), GetParam().best) << GetParam().what << ": " << isa_name(features.best());
  EXPECT_FALSE(features.amx) << GetParam().what;
}

constexpr auto clear = [](uint32_t& word, int bit) { word &= ~(1u << bit); };

INSTANTIATE_TEST_SUITE_P(
    Case51, CpuWithout,
    ::testing::Values(Lack{"AMX permission", [](FakeCpu& c) { c.permission = false; }, Isa::kAvx512Bf16},
                      Lack{"AMX tile data in XCR0", [](FakeCpu& c) { c.state &= ~0x40000ull; }, Isa::kAvx512Bf16},
                      Lack{"AMX tile config in XCR0", [](FakeCpu& c) { c.state &= ~0x20000ull; }, Isa::kAvx512Bf16},
                      Lack{"leaf 0x1d", [](FakeCpu& c) { c.leaf(0, 0).eax = 0x1c; }, Isa::kAvx512Bf16},
                      Lack{"palette 1", [](FakeCpu& c) { c.leaf(0x1d, 0).eax = 0; }, Isa::kAvx512Bf16},
                      Lack{"16 rows per tile", [](FakeCpu& c) { c.leaf(0x1d, 1).ecx = 8; }, Isa::kAvx512Bf16},
                      Lack{"8 tiles", [](FakeCpu& c) { c.leaf(0x1d, 1).ebx = 4u << 16 | 64; }, Isa::kAvx512Bf16},
                      Lack{"AMX-TILE", [](FakeCpu& c) { clear(c.leaf(7, 0).edx, 24); }, Isa::kAvx512Bf16},
                      Lack{"AMX-INT8", [](FakeCpu& c) { clear(c.leaf(7, 0).edx, 25); }, Isa::kAvx512Bf16},
                      Lack{"AMX-BF16", [](FakeCpu& c) { clear(c.leaf(7, 0).edx, 22); }, Isa::kAvx512Bf16},
                      Lack{"AVX512-BF16", [](FakeCpu& c) { clear(c.leaf(7, 1).eax, 5); }, Isa::kAvx512Vnni},
                      Lack{"AVX512-VNNI", [](FakeCpu& c) { clear(c.leaf(7, 0).ecx, 11); }, Isa::kAvx512},
                      Lack{"AVX512F", [](FakeCpu& c) { clear(c.leaf(7, 0).ebx, 16); }, Isa::kAvx2Vnni},
                      Lack{"AVX512DQ", [](FakeCpu& c) { clear(c.leaf(7, 0).ebx, 17); }, Isa::kAvx2Vnni},
                      Lack{"AVX512BW", [](FakeCpu& c) { clear(c.leaf(7, 0).ebx, 30); }, Isa::kAvx2Vnni},
                      Lack{"AVX512VL", [](FakeCpu& c) { clear(c.leaf(7, 0).ebx, 31); }, Isa::kAvx2Vnni},
                      Lack{"opmasks in XCR0", [](FakeCpu& c) { c.state &= ~0x20ull; }, Isa::kAvx2Vnni},
                      Lack{"upper ZMM registers in XCR0", [](FakeCpu& c) { c.state &= ~0x80ull; }, Isa::kAvx2Vnni},
                      Lack{"AVX-512 in XCR0 and AVX-VNNI",
                           [](FakeCpu& c) {
                             c.state &= ~0xe0ull;
                             clear(c.leaf(7, 1).eax, 4);
                           },
                           Isa::kAvx2},
                      Lack{"subleaf 7.1 and AVX-512",
                           [](FakeCpu& c) {
                             c.leaf(7, 0).eax = 0;
                             clear(c.leaf(7, 0).ebx, 16);
                           },
                           Isa::kAvx2},
                      Lack{"AVX in XCR0", [](FakeCpu& c) { c.state = 0x3; }, Isa::kPortable},
                      Lack{"OSXSAVE", [](FakeCpu& c) { clear(c.leaf(1, 0).ecx, 27); }, Isa::kPortable},
                      Lack{"AVX", [](FakeCpu& c) { clear(c.leaf(1, 0).ecx, 28); }, Isa::kPortable},
                      Lack{"FMA", [](FakeCpu& c) { clear(c.leaf(1, 0).ecx, 12); }, Isa::kPortable},
                      Lack{"F16C", [](FakeCpu& c) { clear(c.leaf(1, 0).ecx, 29); }, Isa::kPortable},
                      Lack{"AVX2", [](FakeCpu& c) { clear(c.leaf(7, 0).ebx, 5); }, Isa::kPortable},
                      Lack{"leaf 7", [](FakeCpu& c) { c.leaf(0, 0).eax = 6; }, Isa::kPortable}));

TEST(Cpu, PermissionIsOnlyAskedForWhereAmxWouldWork) {
  FakeCpu without_state;
  without_state.state &= ~0x60000ull;
  detect_cpu(without_state);
  EXPECT_EQ(without_state.permission_requests, 0);
  FakeCpu full;
  detect_cpu(full);
  EXPECT_EQ(full.permission_requests, 1);
}

TEST(Cpu, IsaNamesParseBack) {
  for (int i = 0; i < kIsaCount; ++i) EXPECT_EQ(parse_isa(isa_name(static_cast<Isa>(i))), static_cast<Isa>(i));
  EXPECT_EQ(parse_isa("sse2"), std::nullopt);
}

TEST(IsaSet, WithoutAMaximumIsAllThatTheCpuHas) {
  const CpuFeatures features = detect_cpu(FakeCpu());
  const IsaSet set(features, std::nullopt);
  for (int i = 0; i < kIsaCount; ++i) EXPECT_TRUE(set.has(static_cast<Isa>(i)));
  EXPECT_EQ(set.best(), Isa::kAmx);
}

TEST(IsaSet, MaximumIsTheBestAndContainsOnlyWhatItIncludes) {
  const CpuFeatures features = detect_cpu(FakeCpu());
  for (int i = 0; i < kIsaCount; ++i) {
    const IsaSet set(features, static_cast<Isa>(i));
    EXPECT_EQ(set.best(), static_cast<Isa>(i));
    EXPECT_TRUE(set.has(Isa::kPortable));
  }
  EXPECT_FALSE(IsaSet(features, Isa::kAvx512).has(Isa::kAvx2Vnni));
  EXPECT_TRUE(IsaSet(features, Isa::kAvx512Vnni).has(Isa::kAvx2Vnni));
  EXPECT_FALSE(IsaSet(features, Isa::kAvx2).has(Isa::kAvx512));
}

TEST(IsaSet, MaximumBelowIsKeptWithinWhatTheCpuHas) {
  FakeCpu cpu;
  clear(cpu.leaf(7, 1).eax, 4);  // no AVX-VNNI, as on an Ice Lake server
  EXPECT_FALSE(IsaSet(detect_cpu(cpu), Isa::kAvx512Vnni).has(Isa::kAvx2Vnni));
}

TEST(IsaSet, MaximumThatTheCpuLacksIsAnErrorThatSaysWhatItHas) {
  FakeCpu cpu;
  cpu.permission = false;
  try {
    IsaSet(detect_cpu(cpu), Isa::kAmx);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_EQ(error.where(), "ATB_MAX_ISA");
    EXPECT_THAT(error.message(), HasSubstr("amx"));
    EXPECT_THAT(error.hint(), HasSubstr("portable, avx2, avx2_vnni, avx512, avx512_vnni, avx512_bf16"));
  }
}

// What the kernel lists is also cut down to what it saves, so it is an independent answer for this machine.
TEST(Cpu, ThisMachineAgreesWithTheKernelsFlags) {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string flags;
  while (std::getline(cpuinfo, flags) && flags.rfind("flags", 0) != 0) {
  }
  const auto listed = [&](const char* flag) {
    return (flags + " ").find(" " + std::string(flag) + " ") != std::string::npos;
  };
  const CpuFeatures& features = cpu_features();
  EXPECT_EQ(features.avx2, listed("avx2") && listed("fma") && listed("f16c"));
  EXPECT_EQ(features.avx_vnni, features.avx2 && listed("avx_vnni"));
  EXPECT_EQ(features.avx512, listed("avx512f") && listed("avx512bw") && listed("avx512dq") && listed("avx512vl"));
  EXPECT_EQ(features.avx512_vnni, features.avx512 && listed("avx512_vnni"));
  EXPECT_EQ(features.avx512_bf16, features.avx512_vnni && listed("avx512_bf16"));
  EXPECT_LE(features.amx, listed("amx_tile") && listed("amx_bf16") && listed("amx_int8"));
}

}  // namespace
}  // namespace atb
