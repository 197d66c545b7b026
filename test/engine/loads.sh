# Loads from kernel memory: of every size and sign, of zeros, and of invalid addresses; as plain loads where
# the kernel supports them.
# needs: root bpf btf
. "$SRC/test/lib.bash"
cat >"$TMP/loads.d" <<'EOT'
struct all { int8_t a; int16_t b; int32_t c; int64_t d; uint8_t e; uint16_t f; uint32_t g; uint64_t h; int z; };
BEGIN {
	printf("%d\n", curthread->pid == tid); /* BTF is open from here on */
	this->s = (struct all *)alloca(sizeof(struct all));
	this->s->a = this->s->b = this->s->c = this->s->d = -2;
	this->s->e = this->s->f = this->s->g = this->s->h = -2;
	printf("%d %d %d %d\n", this->s->a, this->s->b, this->s->c, this->s->d);
	printf("%d %d %d %x\n", this->s->e, this->s->f, this->s->g, this->s->h);
	printf("%d\n", this->s->z);
	printf("%d %d %d\n", ppid == $ppid, uid == $euid, gid == $egid);
	printf("%d %d\n", curthread->real_parent->tgid == ppid, curthread->cred->euid.val == uid);
}
BEGIN { trace(*(int *)0); }
BEGIN { trace(*(char *)0x7fffffffe000); }
BEGIN { trace(*(short *)0xdead000000000000); }
BEGIN { trace(*(int *)-8LL); }
BEGIN { trace(((struct task_struct *)NULL)->real_parent->pid); }
ERROR { printf("bad %x\n", arg5); }
BEGIN { exit(0); }
EOT
DTRACE_BPF_DUMP=1 "$DTRACE" -x engine=bpf -qs "$TMP/loads.d" >"$TMP/out" 2>"$TMP/err" </dev/null
expect 0 $?
expect "1
-2 -2 -2 -2
254 65534 4294967294 fffffffffffffffe
0
1 1 1
1 1
bad 0
bad 7fffffffe000
bad dead000000000000
bad fffffffffffffff8" "$(head -n 10 "$TMP/out")"
expect_match '^bad [0-9a-f]+$' "$(sed -n 11p "$TMP/out")"
if grep -qw bpf_rdonly_cast /proc/kallsyms; then
	grep -q 'call kernel function' "$TMP/err" || { echo "no plain loads"; fails=1; }
fi
# a program of several clauses follows pointers from the thread without the kernel's trust, which would make it search for each
if grep -qw bpf_rdonly_cast /proc/kallsyms; then
	DTRACE_BPF_DUMP=1 "$DTRACE" -x engine=bpf -qn 'BEGIN { trace(execname); trace(uid); } BEGIN { trace(execname); exit(0); }' \
		>"$TMP/out" 2>"$TMP/err" </dev/null
	expect "dtrace$(id -u)dtrace" "$(tr -d '\n' <"$TMP/out")"
	expect 3 "$(grep -c 'call kernel function' "$TMP/err")" "pointers that are followed"
	expect 3 "$(grep -c 'call helper 158$' "$TMP/err")"
fi
# reads of the current thread cannot fail: no helper is called, even if the value is 0
dump() { DTRACE_BPF_DUMP=1 "$DTRACE" -x engine=bpf -qn "$1" "${@:2}" >"$TMP/out" 2>"$TMP/err" </dev/null; }
helpers() { sed -n "/^$1:/,/^[a-z]/p" "$TMP/err" | sed "1,/^$1:/d" | grep -c 'call helper 113$'; } # of the last round
dump 'BEGIN { printf("%d %d %d", curthread->pid == tid, curthread->exit_state, curthread->tgid == pid); exit(0); }'
expect "1 0 1" "$(echo $(cat "$TMP/out"))"
expect 0 "$(helpers clause_0)" "reads that could fault"
# a number across two members, which the kernel does not accept as a member
dump 'BEGIN { this->both = *(uint64_t *)&curthread->pid; printf("%d", this->both == ((uint64_t)curthread->tgid << 32 | curthread->pid)); exit(0); }'
expect 1 "$(echo $(cat "$TMP/out"))" "$(tail -n 1 "$TMP/err")"
# arguments of tracepoints, and what they point to; a NULL pointer faults, wherever it comes from (kernel
# threads have no mm)
ktrace -qc 'sleep 0.3' -n '
	sdt:sched::sched_switch /pid == $target/ {
		@own[args[1]->pid == tid, args[1]->comm == execname, args[1] == curthread, args[1]->real_parent->tgid == ppid,
		    args[1]->real_parent->real_parent->pid == curthread->real_parent->real_parent->pid, args[1]->exit_signal] = count();
	}
	sdt:sched::sched_switch /!n && args[2]->mm == NULL/ { n = 1; trace(args[2]->mm->map_count); }
	sdt:sched::sched_switch /args[2]->mm != NULL/ { @mm[args[2]->mm->map_count > 0] = count(); }
	ERROR { @bad[arg4, arg5 < 4096] = count(); }
	END { printa("own %d %d %d %d %d %d %@d\n", @own); printa("bad %d %d %@d\n", @bad); printa("mm %d %@d\n", @mm); }'
expect 0 "$status"
expect_match 'invalid address \(0x[0-9a-f]+\) in action #2' "$err"
expect "bad 1 1 1
mm 1 N
own 1 1 1 1 1 17 N" "$(sed '/^bad/! s/ [0-9]*$/ N/' "$TMP/out" | grep . | sort)"
