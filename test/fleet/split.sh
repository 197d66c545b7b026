# -E -S: where each clause runs, and what it sends.
# needs: root bpf
. "$SRC/test/lib.bash"
export DTRACE_TARGETS=$TMP/none
split() { # EXPECTED PROGRAM
	trace -e -E -S -n "$2"
	expect "$1" "$(grep '^clause' <<<"$err")" "$2"
}
split 'clause 1, web-*:syscall::read:entry: runs on its machines
clause 2, dtrace:::BEGIN: runs here' 'int x; web-*:syscall::read:entry { @[pid] = count(); self->x = 1; } dtrace:::BEGIN { x = 1; }'
split 'clause 1, web-*:syscall::read:entry: sends tid, pid, arg2 (at most 24 bytes) for each firing; the rest runs at the front
clause 1, at the front:' 'int64_t n[int]; web-*:syscall::read:entry /execname == "sh"/ { n[pid] += arg2; }'
# The whole expression is sent, not its parts; names of the probe and the time are known at the front.
split 'clause 1, web-*:syscall::read:entry: sends tid, arg0 + arg1 * 2 (at most 16 bytes) for each firing; the rest runs at the front
clause 1, at the front:
clause 2, dtrace:::BEGIN: sends tid (at most 8 bytes) for each firing; the rest runs at the front
clause 2, at the front:' 'int64_t x; web-*:syscall::read:entry { x = arg0 + arg1 * 2; trace(probefunc); trace(timestamp); } dtrace:::BEGIN { x = 0; }'
# self-> that depends on a global is kept at the front, wherever it is assigned; another one is not.
split 'clause 1, web-*:syscall::read:entry: sends tid (at most 8 bytes) for each firing; the rest runs at the front
clause 1, at the front:
clause 2, web-*:syscall::write:entry: sends tid, self->b (at most 16 bytes) for each firing; the rest runs at the front
clause 2, at the front:
clause 3, web-*:syscall::close:entry: runs on its machines' 'int x; self int a; self int b; web-*:syscall::read:entry /x/ { self->a = 1; }
	web-*:syscall::write:entry /self->a/ { trace(self->b); } web-*:syscall::close:entry { self->b = 1; }'
# ... also if what is kept at the front only says whether it is assigned, or it is assigned inside if, a loop or switch of such a clause.
for how in 'x ? (self->a = 1) : 0;' 'x && (self->a = 1);' 'x || (self->a = 1);' 'x = 1; if (arg0) { self->a = 1; }' 'x = 1; for (this->i = 0; this->i < 3; this->i++) { self->a = 1; }' \
	'x = 1; switch (arg0) { case 1: self->a = 1; }'; do
	trace -e -E -S -n "int x; self int a; this int i; web-*:syscall::read:entry { $how } web-*:syscall::write:entry { trace(self->a); }"
	expect 'clause 2, web-*:syscall::write:entry: sends tid (at most 8 bytes) for each firing; the rest runs at the front' "$(grep '^clause 2, web' <<<"$err")" "$how"
done
# Once for those in a loop. Speculations: all of them, if such a clause uses one.
split 'clause 1, web-1:syscall::read:entry: sends tid, arg0 * 3 (at most 16 bytes) for each firing; the rest runs at the front
clause 1, at the front:' 'int x; this int i; web-1:syscall::read:entry { x++; for (this->i = 0; this->i < 3; this->i++) { x += arg0 * 3; } }'
split 'clause 1, web-1:syscall::read:entry: sends tid (at most 8 bytes) for each firing; the rest runs at the front
clause 1, at the front:
clause 2, web-2:syscall::read:entry: sends tid (at most 8 bytes) for each firing; the rest runs at the front
clause 2, at the front:' 'int x; web-1:syscall::read:entry { x++; self->s = speculation(); speculate(self->s); trace(1); }
	web-2:syscall::read:entry { this->t = speculation(); commit(this->t); }'
# A variable of this machine only stays in its kernel; one that ERROR shares with another machine does not.
split 'clause 1, host:syscall::read:entry: runs on its machines
clause 2, web-1:syscall::read:entry: runs on its machines' 'int x; host:syscall::read:entry { x++; } web-1:syscall::read:entry { trace(1); }'
split 'clause 1, dtrace:::ERROR: sends tid (at most 8 bytes) for each firing; the rest runs at the front
clause 1, at the front:
clause 2, web-1:syscall::read:entry: sends tid (at most 8 bytes) for each firing; the rest runs at the front
clause 2, at the front:' 'int x, y; dtrace:::ERROR { y++; } web-1:syscall::read:entry { x++; }'
