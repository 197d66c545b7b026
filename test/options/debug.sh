# -x debug, and DTRACE_DEBUG in the environment: what the library does.
. "$SRC/test/lib.bash"
dt -q -x debug -n 'BEGIN { trace(ENOENT); } END { } BEGIN { exit(0); }'
expect_match '^libdtrace DEBUG: compiled .*/errno.d: 0 clauses$' "$err"
expect_match '^libdtrace DEBUG: compiled a string: 3 clauses$' "$err"
expect_match '^libdtrace DEBUG: clause 2: 1 probe$' "$err"
expect_match '^libdtrace DEBUG: engine vm, 3 clauses on probes$' "$err"
export DTRACE_DEBUG=1
dt -q -n 'BEGIN { exit(0); }'
expect_match '^libdtrace DEBUG: compiled a string: 1 clause$' "$err"
