# timeout: 120
# needs: root nobody bpf gcc
# A process that maps a file under ever new, long names, while stacks are traced: what is kept of them has a limit, and the
# stacks of others keep their names.
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
