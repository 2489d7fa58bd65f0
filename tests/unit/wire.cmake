# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The unit tests of the wire format (include/nvmf); included by CMakeLists.txt here.
set(KDP_WIRE_TESTS
    ${CMAKE_CURRENT_LIST_DIR}/wire_capsule.cpp
    ${CMAKE_CURRENT_LIST_DIR}/wire_command.cpp
    ${CMAKE_CURRENT_LIST_DIR}/wire_fabrics.cpp
    ${CMAKE_CURRENT_LIST_DIR}/wire_identify.cpp
    ${CMAKE_CURRENT_LIST_DIR}/wire_ns_identity.cpp
    ${CMAKE_CURRENT_LIST_DIR}/wire_rdma.cpp
    ${CMAKE_CURRENT_LIST_DIR}/wire_tcp.cpp)
