# One CMake target per folder of src/. ATB_LAYERS is ordered from the top down; a layer may use the layers after it.
# tests/repo/layers_test.py reads this list and checks every #include against it.
set(ATB_LAYERS engine models runtime fusion cost kernels tokenizer io ir base)

# atb_layer(<name> [DEPENDS <layer or library>...]): the library atb_<name> of all .cc files below the current folder.
function(atb_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "*.cc")
  add_library(atb_${name} STATIC ${sources})
  atb_set_isa_flags(${sources})
  target_include_directories(atb_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
  target_link_libraries(atb_${name} PUBLIC $<BUILD_INTERFACE:atb_options> ${arg_DEPENDS})
endfunction()
