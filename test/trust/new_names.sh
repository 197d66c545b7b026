# timeout: 240
# needs: root nobody bpf gcc
# A process that maps a file under ever new, long names, while stacks are traced: what is kept of them has a limit, and the
# stacks of others keep their names, those of the target also after it has ended. Of others that have ended names can be missing,
# which is said.
. ./lib.bash
make_file plain plain.so my_function
mkdir -m 777 "$THEIRS/names"
start run "$THEIRS/plain.so"
honest=$pid
start map "$THEIRS/names" 60
trace -qn 'syscall::getppid:entry /pid == $1/ { @[ustack()] = count(); } syscall::mmap:entry /pid == $2/ { @n = count(); @u[umod(arg0)] = count(); }
	tick-10s { printa("maps %@d\n", @n); exit(0); }' "$honest" "$pid"
end_all
LIMIT=$((LIMIT / 5))
cheap names
expect_match 'plain.so`my_function\+'$BACK "$out"
[ "$(sed -n 's/^maps //p' "$TMP/out")" -gt 20000 ] || echo "only $(grep maps "$TMP/out"): not much of a test"

# The target ends while it goes on.
mkdir -m 777 "$THEIRS/more"
start map "$THEIRS/more" 60
count='syscall::mmap:entry /pid == $1/ { @n = count(); } END { printa("maps %@d\n", @n); }'
trace -qn "$count syscall::getppid:entry /pid == \$target/ { @[ustack()] = count(); }" "$pid" -c "$TMP/hostile run $THEIRS/plain.so 8"
cheap target
expect_match 'plain.so`my_function\+'$BACK "$out"
expect_match 'hostile`main' "$out"
expect "" "$(grep -E '^ +0x' "$TMP/out")$err" "addresses of the target without names"
[ "$(sed -n 's/^maps //p' "$TMP/out")" -gt 10000 ] || echo "only $(grep maps "$TMP/out"): not much of a test"

# Another process ends before anything of it is read.
: >"$TMP/out"
{ # when it is traced
	wait_for 20 grep -qs ready "$TMP/out"
	HOSTILE_NAME=ends$$ exec "$TMP/hostile" run "$THEIRS/plain.so" 2
} >/dev/null &
trace -x aggrate=100s -qn "$count syscall::getppid:entry /execname == \"ends$$\"/ { @[ustack()] = count(); } BEGIN { printf(\"ready\n\"); }
	proc:::exit /execname == \"ends$$\"/ { gone = 1; } tick-1s /gone && ++seconds == 8/ { exit(0); }" "$pid"
wait $!
end_all
cheap others
expect_match '^dtrace: processes map more files than are remembered: addresses of processes that have ended may stay without names$' "$err"
