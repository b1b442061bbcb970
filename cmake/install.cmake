# What a C++ project needs to use the library: `cmake --install <build> --component development` puts the static
# library, the public headers and the package for find_package(atb) under the prefix. The static libraries that atb
# uses inside are copied along, so that the installed folder links on its own.
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/atb")

set(ATB_BUNDLED_NAMES "")  # separated by spaces, below <libdir>/atb
foreach(library IN ITEMS "${ATB_PCRE2_LIBRARY}" "${ATB_UTF8PROC_LIBRARY}")
  get_filename_component(name "${library}" NAME)
  file(REAL_PATH "${library}" file)
  install(FILES "${file}" DESTINATION "${CMAKE_INSTALL_LIBDIR}/atb" RENAME "${name}" COMPONENT development)
  string(APPEND ATB_BUNDLED_NAMES " ${name}")
endforeach()

install(TARGETS atb EXPORT atbTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/atb" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development)
install(EXPORT atbTargets NAMESPACE atb:: DESTINATION "${package_dir}" COMPONENT development)

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/atbConfig.cmake.in" "${PROJECT_BINARY_DIR}/atbConfig.cmake"
                              INSTALL_DESTINATION "${package_dir}" PATH_VARS CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/atbConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/atbConfig.cmake" "${PROJECT_BINARY_DIR}/atbConfigVersion.cmake"
        DESTINATION "${package_dir}" COMPONENT development)
