# Speculation ids that go from thread to thread all the time, among threads that preempt each other in
# their probes: every speculation is committed with its own data, none with another's. All of it fits into the
# buffers, however late they are read.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
build work engine/work.c -lpthread
ktrace -q -x nspec=3 -x bufsize=32m -x switchrate=10ms -n 'syscall::getppid:entry /pid == $target/ { self->s = speculation(); }
syscall::getppid:entry /self->s/ { @got = count(); }
syscall::getppid:entry /self->s/ { speculate(self->s); printf("data\n"); }
syscall::getppid:return /self->s/ { commit(self->s); self->s = 0; }
END { printa("%@d had\n", @got); }' -c "$TMP/work $((20000 / ${SLOW:-1})) 16"
expect "$(sed -n 's/ had$//p' "$TMP/out")" "$(grep -c data "$TMP/out")" "committed records"
expect "" "$(grep -v -e 'has exited' -e unavailable <<<"$err")"
