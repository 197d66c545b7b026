# Kernel types come from BTF by their names, the kernel's or a module's.
# needs: btf
. "$SRC/test/lib.bash"
cat >"$TMP/a.d" <<'D'
#pragma D option quiet
#pragma D option version=1.14
typedef struct file my_file_t;
atomic_t a;
u32 u;
enum pid_type which;
struct string { int self; };

BEGIN
{
	/* by tag, by typedef, with a module */
	printf("%d %d\n", sizeof (struct task_struct) == sizeof (vmlinux`struct task_struct),
	    sizeof (struct vmlinux`task_struct) == sizeof (kernel`struct task_struct));
	printf("%d %d\n", sizeof (curthread->comm), sizeof (*curthread) == sizeof (struct task_struct));
	printf("%d\n", sizeof (((struct file *)0)->f_inode->i_sb->s_id));
	printf("%d\n", offsetof(my_file_t, f_inode) == offsetof(struct file, f_inode));
	/* members of anonymous structs and unions */
	printf("%d\n", offsetof(struct page, lru) == offsetof(struct page, mapping) - 16);
	/* variables of kernel types */
	a.counter = 3;
	u = -1;
	printf("%d %u\n", a.counter, u);
	/* enumerators, alone and compared with their enum */
	which = PIDTYPE_TGID;
	printf("%d %d %d\n", which, which == PIDTYPE_TGID, (enum pid_type)0 == PIDTYPE_PID);
	/* a type of the program hides the kernel's; words of D can be tags */
	printf("%d\n", sizeof (struct string));
	exit(0);
}
D
dt -s "$TMP/a.d"
expect "" "$err"
expect "1 1
16 1
32
1
1
3 4294967295
1 1 1
4" "${out%$'\n\n'}"
# bit-fields: a store does not change their neighbours
dt -qn 'BEGIN { this->t = (struct task_struct *)alloca(sizeof (struct task_struct));
	this->t->in_execve = 1; this->t->in_iowait = 1; this->t->in_execve = 0;
	printf("%d %d\n", this->t->in_execve, this->t->in_iowait); exit(0); }'
expect "0 1" "$(echo $out)"
tag() {
	dt -x errtags -n "BEGIN { $2; }"
	expect_match "\\[$1\\] " "$err"
}
tag D_TYPE_MEMBER 'trace(curthread->no_such_member)'
tag D_OP_SOU 'trace(curthread.comm)'
tag D_OP_INCOMPLETE 'trace(((struct no_such_struct *)0)->x)'
tag D_DECL_IDENT 'trace(sizeof (no_such_module`struct task_struct))'
tag D_SIZEOF_BITFIELD 'trace(sizeof (curthread->in_execve))'
dt -x errtags -n 'BEGIN { trace(curthread->com); }'
expect_match 'did you mean "comm"' "$err"
