# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Write a C++ source with the contents of text files as constants:
#
#   cmake -DOUT=assets.cpp -DNAMES=a;b -DFILES=a.js;b.css -P embed.cmake
#
cmake_minimum_required(VERSION 3.25)
set(source "// made by embed.cmake\n#include \"html/assets.hpp\"\n\nnamespace kdp::tool::html {\n\n")
foreach(name file IN ZIP_LISTS NAMES FILES)
  file(READ "${file}" text)
  string(FIND "${text}" ")kdp_asset\"" end)
  if(NOT end EQUAL -1)
    message(FATAL_ERROR "${file} contains the end of the literal that it is to become")
  endif()
  string(APPEND source "const std::string_view ${name} = R\"kdp_asset(${text})kdp_asset\";\n\n")
endforeach()
string(APPEND source "}  // namespace kdp::tool::html\n")
file(WRITE "${OUT}" "${source}")
