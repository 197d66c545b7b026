# Below the version in which a name appeared it is free; from there on it is taken.
. "$SRC/test/lib.bash"
while read -r version names; do
	before=1.$((${version#1.} - 1))
	text=
	for name in $names; do text+="int $name; "; done
	dt -e -x version=$before -n "$text BEGIN { trace(${names%% *}); }"
	expect "0 " "$status $err" "free below $version"
	for name in $names; do
		dt -e -x errtags -x version=$version -n "int $name;"
		expect_match '\[D_DECL_IDRED\]' "$name in $version: $err"
		dt -e -x version=$before -n "BEGIN { $name; }"
		expect 1 "$status" "$name is not known in $before"
	done
done <<'T'
1.1 freopen index rindex strchr strrchr strstr strtok substr
1.2 func mod sym uaddr ucaller ufunc umod usym ustackdepth setopt
1.3 htons htonl htonll ntohs ntohl ntohll
1.5 inet_ntoa inet_ntoa6 inet_ntop
1.6 stddev
1.7 llquantize vmregs
1.8 tolower toupper
1.9 print
1.10 getf
1.11 json strtoll
1.14 threadname
T
