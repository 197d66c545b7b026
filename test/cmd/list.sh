# -l: one line per probe; -lv: also stability and arguments.
. "$SRC/test/lib.bash"
dt -l -P dtrace
expect "   ID   PROVIDER            MODULE                          FUNCTION NAME
    1     dtrace                                                     BEGIN
    2     dtrace                                                     END
    3     dtrace                                                     ERROR
" "$out"
one="   ID   PROVIDER            MODULE                          FUNCTION NAME
    1     dtrace                                                     BEGIN
"
dt -l -n BEGIN
expect "$one" "$out"
dt -l -i 1
expect "$one" "$out"
dt -l -n 'BEGIN { trace(1); }' -o "$TMP/f"
expect "$one" "$(cat "$TMP/f")
"
dt -lv -i 1
expect "$one
	Probe Description Attributes
		Identifier Names: Stable
		Data Semantics:   Stable
		Dependency Class: Common

	Argument Attributes
		Identifier Names: Stable
		Data Semantics:   Stable
		Dependency Class: Common

	Argument Types
		None

" "$out"
dt -l -n 'nosuch:::'
expect 1 "$status"
expect_match '^dtrace: failed to match nosuch:::: ' "$err"
dt -l -n 'syscall:vmlinux:open*:entry'
expect 0 "$status"
expect_match '^ *[0-9]+    syscall .* openat entry$' "$out"
# -i accepts the ids of -l
id=$(awk '$4 == "openat" || $3 == "openat" { print $1 }' <<<"$out")
dt -l -i "$id"
expect_match ' openat entry$' "$out"
# everything
dt -l
expect 0 "$status"
expect_match '^ *[0-9]+    syscall .* read return$' "$out"
# -lv: members of translated arguments
dt -lv -n io:::start
expect "		args[1]: devinfo_t *
			int dev_major
			int dev_minor" "$(grep -A2 'args\[1\]' "$TMP/out")"
