#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The reference of libkdp in HTML, from the public headers and Documentation/libkdp.md. What is
# public and not documented is an error.
#
#   scripts/doc.sh BUILD OUTPUT    BUILD: a CMake build directory, for version.hpp

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:?which build directory? usage: scripts/doc.sh BUILD OUTPUT}
output=${2:?where to? usage: scripts/doc.sh BUILD OUTPUT}

version=$(sed -n 's/^project(kdp VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
rm -rf "$output/html"
mkdir -p "$output"
{
	cat Documentation/api/Doxyfile
	echo "PROJECT_NUMBER = $version"
	echo "OUTPUT_DIRECTORY = \"$output\""
	echo "INPUT = Documentation/libkdp.md include/kdp \"$build/include/kdp\""
	echo "STRIP_FROM_PATH = include \"$build/include\""
	echo "STRIP_FROM_INC_PATH = include \"$build/include\""
} | doxygen -
echo "$output/html/index.html"
