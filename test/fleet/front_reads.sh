# A front learns and does what the policy allows, and no more: options that would make the agent read files for it are not taken,
# and processes whose provider it may not use are not even looked at.
# needs: root bpf gcc python3 strace
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
printf 'user=0 providers=syscall,dtrace\n' >"$TMP/policy"
agent web-1 -p "$TMP/policy"
front() { python3 "$SRC/test/fleet/front.py" "$TMP/t/web-1.sock" "$@" 2>&1; }
expect_match '^9 ' "$(front 'web-1:dtrace:::BEGIN { trace(1); }')" # STARTED

# The C preprocessor would read any file, and a message would quote it.
echo 'the:hidden:line:of:root:x' >"$TMP/secret"
chmod 600 "$TMP/secret"
for option in cpp cpphdrs; do
	said=$(front "#include \"$TMP/secret\"
web-1:dtrace:::BEGIN { trace(1); }" cpp=yes $option=yes)
	expect_match '^7 ' "$said"
	expect "" "$(grep -o 'hidden' <<<"$said")" "$option"
done
expect "" "$(grep -o 'hidden' "$TMP/web-1.err")" "messages of the agent"
# Nor do files that options and pragmas name.
mkdir "$TMP/lib"
ln -s "$TMP/secret" "$TMP/lib/x.d"
for option in "libdir=$TMP/lib" "syslibdir=$TMP/lib" "ctypes=$TMP/written" "cpppath=/bin/cat"; do
	said=$(front 'web-1:dtrace:::BEGIN { trace(1); }' "$option" cpp=yes)
	expect_match '^9 ' "$said"
	said=$(front "#pragma D option $option
web-1:dtrace:::BEGIN { trace(1); }")
	expect_match '^7 .*acts before the program is read' "$said"
	expect "" "$(grep -o 'hidden' <<<"$said")" "$option"
done
expect no "$([ -e "$TMP/written" ] && echo yes || echo no)" "a file was written"

# A process that it may not trace is not stopped to find its functions, and its functions are not named.
start 1
for description in "pid$pid:libc*:malloc:entry" "pid$pid:a.out::entry" 'nothere*:::x' 'pid*:libc*:malloc:entry'; do
	: >"$TMP/strace.err"
	strace -f -o "$TMP/trace" -e trace=ptrace,openat -p "$(cat "$TMP/t/web-1.pid")" 2>"$TMP/strace.err" &
	tracer=$!
	wait_for 20 grep -q attached "$TMP/strace.err"
	said=$(front "web-1:$description { trace(1); }")
	front "list $description" >"$TMP/list"
	kill $tracer
	wait $tracer 2>/dev/null
	case $description in
	*\**:*:*:*) ;;
	*) expect_match "^7 .*probes of provider pid$pid are not allowed by its policy" "$said" ;;
	esac
	expect 0 "$(grep -c '^23 ' "$TMP/list")" "probes of $description"
	expect 0 "$(grep -cE "ptrace\(PTRACE_(SEIZE|ATTACH)|/proc/$pid/" "$TMP/trace")" "what was done to the process for $description"
done
moves
kill $pid
