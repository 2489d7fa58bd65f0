# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# What others need: headers, the libraries, kdpConfig.cmake and kdp.pc. An installed tree can be
# moved: nothing in it names the prefix. Components: library, what programs run with; development,
# what they are built with; the tool has its own.
include(CMakePackageConfigHelpers)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/kdp ${PROJECT_SOURCE_DIR}/include/uapi/kdp
                  ${PROJECT_BINARY_DIR}/include/kdp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

# Two sets of targets, since only who links the archive needs to have what it was built with.
set(KDP_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/kdp)
install(TARGETS kdp EXPORT kdpStaticTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(EXPORT kdpStaticTargets NAMESPACE kdp:: DESTINATION ${KDP_CMAKE_DIR}
        COMPONENT development)
if(TARGET kdp_shared)
  install(TARGETS kdp_shared EXPORT kdpSharedTargets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
                  COMPONENT library NAMELINK_COMPONENT development)
  install(EXPORT kdpSharedTargets NAMESPACE kdp:: DESTINATION ${KDP_CMAKE_DIR}
          COMPONENT development)
endif()
configure_package_config_file(kdpConfig.cmake.in kdpConfig.cmake
  INSTALL_DESTINATION ${KDP_CMAKE_DIR} NO_SET_AND_CHECK_MACRO)
# 0.2.1 serves who asks for 0.2.0, 0.3.0 does not; at 1.0 this becomes SameMajorVersion.
write_basic_package_version_file(kdpConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/kdpConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/kdpConfigVersion.cmake
        DESTINATION ${KDP_CMAKE_DIR} COMPONENT development)

# `pkg-config --static` adds what is private. Without libkdp.so there is only the static way.
set(requires "fmt liburing libnl-3.0 libnl-genl-3.0 libibverbs librdmacm")
if(TARGET kdp_shared)
  set(KDP_PC_LINK "Requires.private: ${requires}\nLibs: -L\${libdir} -lkdp\nLibs.private: -pthread")
else()
  set(KDP_PC_LINK "Requires: ${requires}\nLibs: -L\${libdir} -lkdp -pthread")
endif()
file(RELATIVE_PATH KDP_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(kdp.pc.in kdp.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/kdp.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT development)
