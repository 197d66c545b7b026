# Loads from kernel memory: of every size and sign, of zeros, and of what is not there; as plain loads where the kernel has them.
. "$SRC/test/bpf/lib.bash"
[ -r /sys/kernel/btf/vmlinux ] || { echo "needs BTF"; exit 77; }
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
