# The only place with -m flags. A file named x86_<isa>.cc is compiled for that ISA and for nothing else;
# every other file is compiled for the baseline (x86-64 with SSE2).
set(ATB_ISA_FLAGS_avx2 -mavx2 -mfma -mf16c)
set(ATB_ISA_FLAGS_avx2_vnni ${ATB_ISA_FLAGS_avx2} -mavxvnni)
set(ATB_ISA_FLAGS_avx512 ${ATB_ISA_FLAGS_avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512)
set(ATB_ISA_FLAGS_avx512_vnni ${ATB_ISA_FLAGS_avx512} -mavx512vnni)
set(ATB_ISA_FLAGS_avx512_bf16 ${ATB_ISA_FLAGS_avx512_vnni} -mavx512bf16)
set(ATB_ISA_FLAGS_amx ${ATB_ISA_FLAGS_avx512_bf16} -mamx-tile -mamx-bf16 -mamx-int8)

# atb_set_isa_flags(<source>...): gives each x86_<isa>.cc its flags. Fused multiply-add is only used where a kernel
# says so (-ffp-contract=off), so that a result does not depend on what the compiler happened to contract. GCC 12 calls
# the undefined pass-through operand inside its own AVX-512 intrinsics (maybe-)uninitialized (GCC bug 105593).
function(atb_set_isa_flags)
  foreach(source IN LISTS ARGN)
    get_filename_component(name "${source}" NAME_WE)
    if(name MATCHES "^x86_(.+)$")
      set(isa "${CMAKE_MATCH_1}")
      if(NOT DEFINED ATB_ISA_FLAGS_${isa})
        message(FATAL_ERROR "${source}: no flags for ISA '${isa}' in cmake/isa.cmake")
      endif()
      set_source_files_properties("${source}" PROPERTIES COMPILE_OPTIONS
        "${ATB_ISA_FLAGS_${isa}};-ffp-contract=off;-Wno-maybe-uninitialized;-Wno-uninitialized")
    endif()
  endforeach()
endfunction()
