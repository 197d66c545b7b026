# A fault ends the clause and nothing else, in the kernel as in the interpreter.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
build work engine/work.c -lpthread
ktrace -q -x faultmax=0 -n 'syscall::getppid:entry /pid == $target/ { trace(*(int *)arg9); @never = count(); }
syscall::getppid:entry /pid == $target/ { @after = count(); }
ERROR { @e[arg4, arg5] = count(); } END { printa("after %@d\n", @after); printa("error %d %d %@d\n", @e); }' -c "$TMP/work 100 2"
expect_match '^after 200$' "$out"
expect_match '^error 1 0 200$' "$out"
expect 200 "$(grep -c 'invalid address (0x0) in action #1' "$TMP/err")"
