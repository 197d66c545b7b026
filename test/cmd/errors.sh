# The shapes of error messages.
. "$SRC/test/lib.bash"
fails_with() { # message, arguments
	local want=$1
	shift
	dt "$@"
	expect 1 "$status" "status of $*"
	expect "dtrace: $want" "$err"
}
cd "$TMP" || exit 1
printf 'BEGIN\n{\n\ttrace(nosuch);\n}\n' >a.d
printf 'BEGIN\n{\n# 17 "other.h"\n\ttrace(1;\n}\n' >b.d
dt -s a.d
expect_match '^dtrace: failed to compile script a.d: line 3: .*nosuch' "$err"
dt -x errtags -s a.d
expect_match '^dtrace: failed to compile script a.d: \[D_IDENT_UNDEF\] line 3: ' "$err"
fails_with 'failed to compile script b.d: "other.h", line 17: syntax error: expected ) near ";"' -s b.d
dt -n 'BEGIN { trace(nosuch); }'
expect_match '^dtrace: invalid probe specifier BEGIN \{ trace\(nosuch\); \}: in action list: ' "$err"
dt -n 'BEGIN /nosuch/ { }'
expect_match '^dtrace: invalid probe specifier BEGIN /nosuch/ \{ \}: in predicate: ' "$err"
# a long program is not repeated, only what is around the error
long='syscall::read:entry, syscall::write:entry { @[execname, probefunc] = count(); }'
fails_with "invalid probe specifier ...nc] = count(); } tick-1s { trunc(@, nosuch); exit(0); } END { exit(0); }: in action list: failed to resolve nosuch: Unknown variable name" -en "$long tick-1s { trunc(@, nosuch); exit(0); } END { exit(0); }"
fails_with "invalid probe specifier ...END { trace(nosuch); }...: line 2: failed to resolve nosuch: Unknown variable name" -en "$long
END { trace(nosuch); }
END { trace(2); }"
fails_with 'invalid probe specifier syscall::nosuchcall:entry { @[execname, probefunc] = count(); } END { ex...: probe description syscall::nosuchcall:entry does not match any probes: no system call "nosuchcall"' -en 'syscall::nosuchcall:entry { @[execname, probefunc] = count(); } END { exit(0); }'
fails_with 'failed to open nosuch.d: No such file or directory' -s nosuch.d
fails_with 'no probes specified' -q
dt -x bufsise=4m -n BEGIN
expect_match '^dtrace: failed to set -x bufsise=4m: .*bufsize' "$err"
dt -b pink -n BEGIN
expect_match '^dtrace: failed to set -b pink: ' "$err"
fails_with 'failed to execute nosuchcommand: No such file or directory' -c nosuchcommand -n BEGIN
fails_with "failed to execute 'a: a quote is not closed" -c "'a" -n BEGIN
fails_with 'failed to grab pid 2147483600: No such process' -p 2147483600 -n BEGIN
fails_with 'invalid pid: x1' -p x1 -n BEGIN
dt -n 'BEGIN { system("true"); }'
expect 1 "$status"
expect_match "^dtrace: could not enable tracing: Destructive actions not allowed" "$err"
dt -o /nosuch/dir/file -n BEGIN
expect "dtrace: failed to open output file '/nosuch/dir/file': No such file or directory" "$err"
dt -a -n 'BEGIN { }'
expect_match '^dtrace: could not enable tracing: ' "$(tail -n 1 <<<"$err")"
dt -A -n BEGIN
expect 1 "$status"
dt -n 'BEGIN { exit(0); } syscall::openat:entry { }'
expect "0 dtrace: the vm engine fires only dtrace:::BEGIN, END and ERROR" "$status $(tail -n 1 <<<"$err")"
