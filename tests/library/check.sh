#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# libkdp as others have it: installed, moved, found, linked, run; what it exports
#
#   tests/library/check.sh [BUILD]
#
# BUILD (build/user) is where CMake has built everything: `make tools`. Its installation goes to
# a temporary directory, where the examples are built from a copy, by CMake and by pkg-config,
# with libkdp.so and with libkdp.a, and read a regular file. Each point is a line; the status is
# 0 only if all hold.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
top=$PWD
build=$(realpath "${1:-build/user}")
tmp=$(mktemp -d) || exit
trap 'rm -rf "$tmp"' EXIT
prefix=$tmp/moved
headers=$prefix/include
warnings='-Wall -Wextra -Wpedantic -Werror -O1'
failed=0

# With ccache, where it is: the same source below another temporary directory.
launcher=''
if command -v ccache >/dev/null; then
	launcher=ccache
	export CCACHE_DIR=${CCACHE_DIR:-${KDP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kdp}/ccache}
	export CCACHE_BASEDIR=$tmp CCACHE_NOHASHDIR=1
fi

# point TEXT COMMAND...: its output only if it fails.
point() {
	local text=$1 output
	shift
	if output=$("$@" 2>&1); then
		echo "ok - $text"
	else
		echo "not ok - $text"
		printf '# %s\n' "${output//$'\n'/$'\n'# }"
		((++failed))
		return 1
	fi
}

complain() {
	printf '%s\n' "$*"
	return 1
}

# refused TEXT COMMAND...: it fails, and says that.
refused() {
	local text=$1 output
	shift
	! output=$("$@" 2>&1) || complain "it went well: $*" || return
	[[ $output == *"$text"* ]] || complain "it did not say '$text':" "$output"
}

# --- installing -------------------------------------------------------------------

install_part() {
	DESTDIR=$tmp/root cmake --install "$build" --prefix /opt/kdp --component "$1"
}

# Where it was told to go nobody will find it: it is moved afterwards.
install_library() {
	install_part library && install_part development && mv "$tmp/root/opt/kdp" "$prefix"
}

files_in_place() {
	local file
	for file in include/kdp/{data_path,export,version}.hpp include/kdp/kdp_{ioctl,netlink}.h; do
		[[ -f $prefix/$file ]] || complain "no $file" || return
	done
	for file in libkdp.a libkdp.so "libkdp.so.$interface" "libkdp.so.$version" pkgconfig/kdp.pc \
		cmake/kdp/kdpConfig.cmake; do
		[[ -e $libdir/$file ]] || complain "no $file in ${libdir#"$prefix/"}" || return
	done
	[[ ! -e $prefix/include/nvmf ]] || complain "the wire format is installed, too"
}

# The tool links the archive: it needs nothing that is installed.
tool_says_version() {
	install_part tool && [[ -f $tmp/root/opt/kdp/share/man/man8/kdp.8 ]] &&
		[[ $("$tmp/root/opt/kdp/bin/kdp" --version) == "$version" ]]
}

names_no_place() {
	! grep -rnIF -e "$tmp" -e /opt/kdp -e "$top" -e "$build" "$headers" "$libdir/cmake" "$libdir/pkgconfig"
}

# --- headers ----------------------------------------------------------------------

# stands_alone HEADER COMPILER...: nothing before it; once more after itself.
stands_alone() {
	local header=$1
	shift
	printf '#include <kdp/%s>\n#include <kdp/%s>\n' "$header" "$header" >"$tmp/alone"
	# shellcheck disable=SC2086 # several words, or none
	(cd "$tmp" && $launcher "$@" $warnings -c -I"$headers" -o alone.o alone)
}

compile() {
	# shellcheck disable=SC2086 # several words
	g++ -std=c++20 $warnings -I"$headers" "$@"
}

by_name() {
	compile -o "$tmp/by_name" tests/library/by_name.cpp && "$tmp/by_name"
}

check_headers() {
	local header
	for header in "$headers"/kdp/*.hpp; do
		header=${header##*/}
		point "$header compiles alone, g++" stands_alone "$header" g++ -std=c++20 -x c++
		point "$header compiles alone, clang++" stands_alone "$header" clang++ -std=c++20 -x c++
	done
	for header in kdp_ioctl.h kdp_netlink.h; do
		point "$header compiles alone, C" stands_alone "$header" gcc -std=c11 -x c
		point "$header compiles alone, C++" stands_alone "$header" g++ -std=c++20 -x c++
	done
	point "options are given by name without a warning" by_name
}

# --- the shared library -------------------------------------------------------------

soname_is() {
	local soname
	soname=$(readelf -d "$libdir/libkdp.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
	[[ $soname == "$1" ]] || complain "it is $soname, not $1"
}

# What the headers declare and the library exports must be the same: exports.awk says how.
exports_agree() {
	nm -D --defined-only -C "$libdir/libkdp.so" >"$tmp/exported" &&
		nm --defined-only -C "$libdir/libkdp.a" >"$tmp/compiled" 2>/dev/null &&
		awk -f tests/library/exports.awk "$headers"/kdp/*.hpp part=exported "$tmp/exported" \
			part=compiled "$tmp/compiled"
}

# --- finding it ---------------------------------------------------------------------

# finds PREFIX ARGUMENTS-OF-FIND_PACKAGE...
finds() {
	local where=$1
	shift
	rm -rf "$tmp/finds"
	mkdir "$tmp/finds" &&
		printf 'cmake_minimum_required(VERSION 3.18)\nproject(finds NONE)\nfind_package(kdp %s REQUIRED)\n' \
			"$*" >"$tmp/finds/CMakeLists.txt" &&
		cmake -S "$tmp/finds" -B "$tmp/finds/build" -DCMAKE_PREFIX_PATH="$where"
}

pc() {
	PKG_CONFIG_PATH=$libdir/pkgconfig pkg-config "$@" kdp
}

pc_says() {
	local want=$1 got
	shift
	got=$(pc "$@") || complain "$got" || return
	[[ $got == "$want" ]] || complain "'$got', not '$want'"
}

# A shared library brings its own; an archive does not.
pc_separates() {
	[[ $(pc --libs) != *ibverbs* ]] || complain "--libs names libibverbs" || return
	[[ $(pc --static --libs) == *ibverbs* ]] || complain "--static --libs does not name libibverbs"
}

# As if libkdp.so had never been built. The archive is the same.
install_static_only() {
	cmake -S . -B "$tmp/static" -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF &&
		cp "$build/lib/libkdp.a" "$tmp/static/lib/" &&
		cmake --install "$tmp/static" --component development --prefix "$tmp/only-static"
}

pc_is_static() {
	local dir
	dir=$(find "$tmp/only-static" -name pkgconfig) &&
		[[ $(PKG_CONFIG_PATH=$dir pkg-config --libs kdp) == *ibverbs* ]] ||
		complain "what libkdp.a needs is private"
}

# --- the examples -------------------------------------------------------------------

# by_cmake DIR PREFIX OPTION...
by_cmake() {
	local dir=$1 where=$2
	shift 2
	cp -r examples "$dir" &&
		cmake -S "$dir" -B "$dir" -DCMAKE_PREFIX_PATH="$where" -DCMAKE_CXX_FLAGS="$warnings" \
			-DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" "$@" &&
		cmake --build "$dir" -j2
}

# by_make DIR ARGUMENT...
by_make() {
	local dir=$1
	shift
	cp -r examples "$dir" &&
		PKG_CONFIG_PATH=$libdir/pkgconfig make -j2 -C "$dir" CXX="$launcher g++" \
			CXXFLAGS="$warnings" "$@"
}

# reads DIR shared|static: what is in the file, by the library that is meant.
reads() {
	local program=$1/read_block needed want got
	needed=$(readelf -d "$program") || return
	if [[ $2 == shared ]]; then
		[[ $needed == *"[libkdp.so.$interface]"* ]] || complain "it does not use libkdp.so"
	else
		[[ $needed != *libkdp* ]] || complain "it uses libkdp.so"
	fi || return
	want=$(tail -c +1537 "$tmp/disk.img" | head -c 64 | od -An -v -tx1 | sed 's/^ //')
	got=$(LD_LIBRARY_PATH=$libdir "$program" "block:$tmp/disk.img" 3) || complain "$got" || return
	[[ $got == *"$want"* ]] || complain "it read" "$got" "and not" "$want"
}

compares() {
	local text
	text=$("$tmp/cmake-shared/compare_latency" "block:$tmp/disk.img" "block:$tmp/disk.img?mode=uring" 20) &&
		[[ $(grep -c " 20  block:" <<<"$text") == 2 ]] || complain "$text"
}

# page_example: the program at the top of libkdp.md, as it stands there.
page_example() {
	awk '/^```/ { inside = $0 == "```cpp"; next } inside' Documentation/libkdp.md >"$tmp/page.cpp" &&
		grep -q main "$tmp/page.cpp" &&
		compile -o "$tmp/page" "$tmp/page.cpp" \
			-L"$libdir" -lkdp &&
		LD_LIBRARY_PATH=$libdir "$tmp/page" "block:$tmp/disk.img" &&
		LD_LIBRARY_PATH=$libdir refused "No such file" "$tmp/page" "block:$tmp/missing"
}

check_examples() {
	local part=4096
	head -c $((16 * part)) /dev/urandom >"$tmp/disk.img"
	point "the program in Documentation/libkdp.md compiles and runs" page_example
	# The library alone must do: CMake may not even look for anything else.
	point "examples, CMake, libkdp.so, without its requirements" by_cmake "$tmp/cmake-shared" "$prefix" \
		-DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON -DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON &&
		point "... read a file" reads "$tmp/cmake-shared" shared &&
		point "... read a file by two paths" compares &&
		point "... refuse what is not there" refused "No such file" \
			"$tmp/cmake-shared/read_block" "block:$tmp/missing" &&
		point "... refuse a device without regions" refused "not the character device" \
			"$tmp/cmake-shared/uring_region" /dev/null
	point "examples, CMake, libkdp.a" by_cmake "$tmp/cmake-static" "$prefix" -DKDP_EXAMPLES_STATIC=ON &&
		point "... read a file" reads "$tmp/cmake-static" static
	point "examples, pkg-config, libkdp.so" by_make "$tmp/make-shared" &&
		point "... read a file" reads "$tmp/make-shared" shared
	point "examples, pkg-config, libkdp.a" by_make "$tmp/make-static" STATIC=1 &&
		point "... read a file" reads "$tmp/make-static" static
}

# ------------------------------------------------------------------------------------

version=$(sed -n 's/^project(kdp VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
interface=${version%%.*}
[[ $interface != 0 ]] || interface=${version%.*}
next=${version%%.*}.$(($(cut -d . -f 2 <<<"$version") + 1))

point "it installs, and can be moved" install_library || exit 1
libdir=$(dirname "$(find "$prefix" -name pkgconfig -type d)")
point "what belongs there is there" files_in_place
point "nothing in it names a place" names_no_place
point "the tool installs by itself, and says version $version" tool_says_version
check_headers
point "the soname is libkdp.so.$interface" soname_is "libkdp.so.$interface"
point "exported is what the headers declare, and nothing else" exports_agree
point "find_package(kdp ${version%.*})" finds "$prefix" "${version%.*}"
point "find_package(kdp $next) is refused" refused "requested version" \
	finds "$prefix" "$next"
point "find_package(kdp COMPONENTS other) is refused" refused "no other" \
	finds "$prefix" COMPONENTS other
point "kdp.pc has version $version" pc_says "$version" --modversion
point "kdp.pc: what is for the archive is private" pc_separates
check_examples
point "without libkdp.so: it installs" install_static_only &&
	point "... kdp.pc names all requirements" pc_is_static &&
	point "... examples, CMake" by_cmake "$tmp/cmake-only-static" "$tmp/only-static" &&
	point "... read a file" reads "$tmp/cmake-only-static" static
point "the reference can be made: all that is public is documented" scripts/doc.sh "$build" "$tmp/doc"
echo "$failed failed, $SECONDS s"
((failed == 0))
