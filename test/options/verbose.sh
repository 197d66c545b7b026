# -x verbose is -S: the DIF of programs on standard error.
. "$SRC/test/lib.bash"
hide() { sed 's/0x[0-9a-f]\{6,\}/ADDR/' <<<"$err"; }
dt -e -S -n 'BEGIN { trace(pid); }'
want=$(hide)
expect_match '^DIFO ADDR returns D type \(integer\) \(size 4\)$' "$want"
dt -e -x verbose -n 'BEGIN { trace(pid); }'
expect "$want" "$(hide)"
