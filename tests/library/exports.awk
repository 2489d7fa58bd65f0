# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Are the exported symbols those that the public headers declare? Read: the headers; with
# part=exported `nm -D -C` of the shared library; with part=compiled `nm -C` of the archive.
#
# Declared is kdp::NAMESPACE::CLASS::NAME if the headers open each such namespace, define each such
# class and have the word NAME. All that is exported must be declared; every function that is
# declared and compiled must be exported, or who links the shared library misses it.

part == "" {
	line = $0
	sub(/\/\/.*/, "", line)
	if (match(line, /^namespace [a-z_:]+/)) {
		n = split(substr(line, RSTART + 10, RLENGTH - 10), names, "::")
		for (i = 1; i <= n; i++)
			scopes[names[i]] = 1
	}
	if (match(line, /(class|struct)( \[\[nodiscard\]\])?( KDP_API)? [A-Za-z_]+/)) {
		n = split(substr(line, RSTART, RLENGTH), names, " ")
		scopes[names[n]] = 1
	}
	gsub(/[^A-Za-z_0-9=]+/, " ", line)
	n = split(line, names, " ")
	for (i = 1; i <= n; i++)
		words[names[i]] = 1
	next
}

# Whether the symbol (demangled) is of the interface.
function declared(symbol,    n, i, names) {
	sub(/^(vtable|typeinfo|typeinfo name) for /, "", symbol)
	sub(/\(.*/, "", symbol)
	gsub(/\[abi:[a-z0-9]*\]/, "", symbol)
	n = split(symbol, names, "::")
	if (n < 2 || names[1] != "kdp")
		return 0
	for (i = 1; i < n; i++)
		if (!(names[i] in scopes))
			return 0
	sub(/^~/, "", names[n])
	return names[n] in words
}

{
	symbol = $0
	sub(/^[0-9a-f]* . /, "", symbol)
	version = symbol
	sub(/@@.*/, "", symbol)
}

part == "exported" {
	if ($2 == "A" && symbol ~ /^KDP_[0-9.]+$/)
		next # the version itself
	exported[symbol] = 1
	count++
	if (version !~ /@@KDP_[0-9.]+$/)
		problem("without a version: " symbol)
	else if (!declared(symbol))
		problem("exported, but declared in no public header: " symbol)
}

part == "compiled" && $2 == "T" && declared(symbol) && !(symbol in exported) {
	problem("declared in a public header, but not exported (KDP_API?): " symbol)
}

function problem(text) {
	print text
	problems++
}

END {
	if (count < 10)
		problem("only " count + 0 " symbols are exported")
	exit problems > 0
}
