# What all tools have in common: found by name, listed, a manual page, an end by Ctrl-C.
# timeout: 200
# needs: root bpf btf
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1

# ---- --tools ----
dt --tools
expect "0 " "$status $err"
expect "$(cd "$SRC/tools" && for f in *.d; do sed -n '3s/^ \* //p' "$f"; done | sort)" "$(sed 's/  */ - /' <<<"${out%$'\n'}")" "--tools"

# ---- by name ----
mkdir own
printf '/*\n * mine - a tool of one'"'"'s own\n */\nBEGIN { printf("mine %%s\\n", $$1); exit(0); }\n' >own/mine.d
export DTRACE_TOOLS=/nonexistent:$TMP/own
dt -q -s mine hello
expect "0 mine hello" "$status $(xargs <<<"$out")" "of one's own"
dt --tools
expect 1 "$(grep -c "^mine  *a tool of one's own\$" <<<"$out")"
expect 1 "$(grep -c "^execsnoop " <<<"$out")" "the others are there as well"
cp own/mine.d own/execsnoop.d
dt -q -s execsnoop first
expect "mine first" "$(xargs <<<"$out")" "an earlier directory replaces it"
unset DTRACE_TOOLS
echo 'BEGIN { printf("a file\n"); exit(0); }' >execsnoop
dt -q -s execsnoop
expect "a file" "$(xargs <<<"$out")" "a file of this name comes first"
rm execsnoop
dt -s nosuchtool
expect "1 dtrace: failed to open nosuchtool: No such file or directory" "$status $err"
dt -s ../execsnoop
expect "1 dtrace: failed to open ../execsnoop: No such file or directory" "$status $err"

# ---- every tool starts, and ends by Ctrl-C with its summary and without a message ----
sleep 1000 &
pid=$!
at_end 'kill $pid'
started() { [ -s tool.out ] || ! kill -0 $tracer 2>/dev/null; }
for f in "$SRC"/tools/*.d; do
	t=$(basename "$f" .d)
	target=()
	grep -q '{-p pid' "$f" && target=(-p $pid)
	: >tool.out # of the one before
	env --default-signal=INT "$DTRACE" -s "$t" "${target[@]}" >tool.out 2>tool.err </dev/null &
	tracer=$!
	wait_for 20 started
	kill -INT $tracer 2>/dev/null
	wait $tracer
	status=$?
	# probes that this kernel or this process does not have
	grep -qE 'does not match any probes|needs tracing of the kernel function' tool.err && { echo "$t: not here: $(head -n 1 tool.err)"; continue; }
	# what others do on a busy machine may be too much, or they have files that are refused; that is said
	expect "0 " "$status $(grep -vE '^dtrace: ([0-9]+ ([a-z ]+ )?drops?( on CPUs? [0-9,-]+)?|[^:]*: addresses of processes that have ended may stay without names|/.*: not read: .*)$' tool.err)" "$t"
	[ -s tool.out ] || { echo "$t printed nothing"; count_failure; }
done

# ---- manual pages ----
"$SRC/tools/mkman" man
expect "$(cd "$SRC/tools" && ls *.d | sed 's/\.d$//')" "$(cd man && ls | sed -E 's/^dtrace-(.*)\.8$/\1/')"
if command -v man >/dev/null; then
	expect "" "$(for p in man/*; do man --warnings=w -E UTF-8 -l "$p" 2>&1 >/dev/null; done)" "warnings"
	expect_match 'dtrace-execsnoop - programs that are started' "$(MANPAGER=cat man -l man/dtrace-execsnoop.8)"
fi
