# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# libkdp.so.N: the objects of the archive; what include/kdp marks KDP_API is exported.

# What programs are bound to: before 1.0 a minor version may break its interface, then a major one.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(KDP_SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
else()
  set(KDP_SOVERSION ${PROJECT_VERSION_MAJOR})
endif()

add_library(kdp_shared SHARED $<TARGET_OBJECTS:kdp>)
set_target_properties(kdp_shared PROPERTIES
  EXPORT_NAME kdp
  OUTPUT_NAME kdp
  VERSION ${PROJECT_VERSION}
  SOVERSION ${KDP_SOVERSION}
  LINKER_LANGUAGE CXX)
target_include_directories(kdp_shared INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include/uapi>
  $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(kdp_shared INTERFACE cxx_std_20)
target_link_libraries(kdp_shared PRIVATE
  fmt::fmt PkgConfig::LIBURING PkgConfig::LIBNL PkgConfig::RDMA Threads::Threads)

# Hidden visibility leaves instances of the standard library's templates visible; this hides them,
# and binds programs to symbols of this interface's version.
set(KDP_EXPORTS ${CMAKE_CURRENT_BINARY_DIR}/libkdp.map)
configure_file(libkdp.map.in ${KDP_EXPORTS} @ONLY)
target_link_options(kdp_shared PRIVATE LINKER:--version-script=${KDP_EXPORTS})
set_property(TARGET kdp_shared APPEND PROPERTY LINK_DEPENDS ${KDP_EXPORTS})
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # with clang the sanitizers' symbols come from the program
  target_link_options(kdp_shared PRIVATE LINKER:--no-undefined)
endif()
