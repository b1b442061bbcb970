# Flags that every target of the project shares. ISA flags live in isa.cmake only.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# Debian's own compiler cache, when it is there: repeated builds in other folders cost seconds.
find_program(ATB_CCACHE ccache)
if(ATB_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${ATB_CCACHE}")
endif()

add_library(atb_options INTERFACE)
target_compile_options(atb_options INTERFACE -Wall -Wextra -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(atb_options INTERFACE -Wno-restrict)  # false alarms on std::string sums, GCC bug 105651
endif()
if(ATB_SANITIZE)
  target_compile_options(atb_options INTERFACE
    -fsanitize=${ATB_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(atb_options INTERFACE -fsanitize=${ATB_SANITIZE})
endif()

find_package(Threads REQUIRED)
find_package(spdlog REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
