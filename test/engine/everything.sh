# timeout: 120
# Every variable, subroutine, operator, action and aggregating function, in a program of every kind: the
# kernel accepts it, and values known in advance are those of the interpreter.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
build load engine/load.c -lpthread

# Values that are the same everywhere: format and expression.
cat >"$TMP/values" <<'EOT'
%d strlen("hello")
%s strjoin("ab", strjoin("cd", "ef"))
%s lltostr(-1234)
%s lltostr(255, 16)
%s basename("/usr/bin/x/")
%s dirname("/usr/bin/x")
%s cleanpath("/a/./b/../c//d")
%s strchr("abcabc", 'b')
%s strrchr("abcabc", 'b')
%s strstr("hello world", "o w")
%d strstr("hello", "xyz") == NULL
%s strtok("a:b,c", ":,")
%s strtok(NULL, ":,")
%s substr("hello", 1, 3)
%s substr("hello", -2)
%d index("banana", "an", 2)
%d rindex("banana", "an")
%x htons(0x1234)
%x htonl(0x12345678)
%x htonll(0x123456789abcdef0)
%x ntohs(0x1234)
%x ntohl(0x12345678)
%x ntohll(0x123456789abcdef0)
%s toupper("Hello")
%s tolower("Hello")
%s json("{\"a\": [1, {\"b\": \"x\"}]}", "a[1].b")
%d strtoll("-0x1f", 16)
%d strtoll("777", 8)
%s inet_ntoa((ipaddr_t *)(this->ip = (ipaddr_t *)alloca(4), *this->ip = 0x0100007f, this->ip))
%s inet_ntop(2, this->ip)
%s stringof("str")
%d "abc" < "abd"
%d "abc" == "abc"
%d "b" > "abc"
%d x + 2 * 3 - 4 / 2 % 3
%d -7 / 2
%d -7 % 3
%d 7 << 3 | 5 & 6 ^ 1
%d ~x
%d -x >> 1
%d (uint64_t)-1 > 1
%d !x
%d x ? 3 : 4
%d x && 0 || 1 ^^ 1
%d (x = 5, x++ + ++x)
%d x--
%d (x += 3, x -= 1, x *= 2, x /= 3, x %= 4, x <<= 2, x >>= 1, x |= 8, x &= 12, x ^= 3)
%d sizeof(int)
%d (a["k", 1] = 7, a["k", 1] + a["k", 2])
%s (s["k"] = "v", s["k"])
%d (self->n = 4, self->n)
%s (self->s = "self", self->s)
%d (self->a[1, "x"] = 6, self->a[1, "x"])
%d (this->n = 9, this->n)
%s (this->s = "this", this->s)
%d (this->p = (int *)alloca(16), this->p[1] = 77, this->p[1] + this->p[2])
%d (this->q = (char *)alloca(8), bcopy("abc", this->q, 4), this->q[1])
%d (short)0x12345
%d (unsigned char)-1
%d getmajor(makedev_(8, 3))
%d pid == $target
%d tid >= pid
%s execname
%d timestamp > 0 && walltimestamp > 0
%d cpu >= 0
%d id > 0 && epid > 0
%d rand() >= 0
EOT
sed -i '/makedev_/d' "$TMP/values"
# Values known only to the kernel, which vary: they must be accepted and not fault.
cat >"$TMP/kernel" <<'EOT'
curthread->pid
curthread->comm
vtimestamp
ppid
uid
gid
errno
ipl
stackdepth
caller
ustackdepth
ucaller
uregs[0]
cgroupid
nspid
pidns
mntns
netns
userns
zonename
threadname
probeprov
probemod
probefunc
probename
arg0
arg1
arg2
progenyof($target)
progenyof(1)
curthread->parent->comm
curthread->mm != NULL
stringof(curthread->comm)
execargs
cgroupname
containerid
mutex_owned(&curthread->signal->cred_guard_mutex)
rw_read_held(&curthread->mm->mmap_lock)
getf(0) != NULL
EOT
[ -r /sys/kernel/btf/vmlinux ] || grep -vE 'curthread|ppid|uid|gid|ns$|vtimestamp|ipl|progenyof|cgroup|nspid|container|execargs|getf|threadname' "$TMP/kernel" >"$TMP/k" && [ -r /sys/kernel/btf/vmlinux ] || mv "$TMP/k" "$TMP/kernel"

script() { # probe, predicate: the clauses
	local i=0 format expr
	echo "int x; self string s; "
	echo "$1 /$2/ { fired++; x = 1; }"
	while read -r format expr; do
		[ $((i % 8)) = 0 ] && { [ $i = 0 ] || echo "}"; echo "$1 /fired == 1 && $2/ {"; }
		echo "printf(\"V $i $format\\n\", $expr);"
		i=$((i + 1))
	done <"$TMP/values"
	echo "}"
}
actions() { # probe, predicate
	local expr n=0
	while read -r expr; do
		echo "$1 /fired == 1 && $2/ { trace($expr); printf(\"\\nK $((n++))\\n\"); }"
	done <"$TMP/kernel"
	cat <<-EOT
	$1 /fired == 1 && $2/ { trace(1); trace("s"); print(x); this->m = alloca(8); tracemem(this->m, 8); stack(); stack(2); ustack(); ustack(3); }
	$1 /fired == 1 && $2/ { sym(caller); func(caller); mod(caller); usym(ucaller); ufunc(ucaller); umod(ucaller); uaddr(ucaller); }
	$1 /fired == 1 && $2/ { printf("A %d %s %x %c %Y %a %%\n", 1, "s", 255, 'c', walltimestamp, caller); }
	$1 /fired == 1 && $2/ { s0 = speculation(); }
	$1 /fired == 1 && $2/ { speculate(s0); printf("S\n"); }
	$1 /fired == 1 && $2/ { commit(s0); }
	$1 /fired == 1 && $2/ { s1 = speculation(); }
	$1 /fired == 1 && $2/ { speculate(s1); printf("T\n"); }
	$1 /fired == 1 && $2/ { discard(s1); }
	$1 /fired == 1 && $2/ {
		@a1 = count(); @a2 = sum(x); @a3 = avg(x); @a4 = min(x); @a5 = max(x); @a6 = stddev(x); @a7 = quantize(x);
		@a8 = lquantize(x, 0, 10, 2); @a9 = llquantize(x, 10, 0, 3, 10); @b1 = quantize(x, 5);
		@c1[pid, "s", execname, probefunc, stack(2), ustack(2), sym(caller), func(caller)] = count();
		@c2[1, (char)2, (short)3, 4LL, cpu, timestamp] = sum(1); @c3[strjoin("a", "b"), self->s] = lquantize(x, 0, 10, 1);
	}
	$1 /fired == 1 && $2/ { clear(@a1); trunc(@a2); trunc(@a3, 1); normalize(@a4, 2); denormalize(@a4); setopt("quiet"); }
	$1 /fired == 1 && $2/ { raise(0); chill(1000); freopen(""); system("true"); }
	$1 /fired == 1 && $2/ { printf("done\n"); exit(0); }
	EOT
}

# the interpreter's values: there pid and names are not \$target's
{ script BEGIN 1; echo 'BEGIN { exit(0); }'; } >"$TMP/vm.d"
sed -i 's/pid == $target/1/; s/", execname/", "load"/' "$TMP/vm.d"
"$DTRACE" -x engine=vm -qs "$TMP/vm.d" >"$TMP/want" 2>"$TMP/err" || { echo "vm: $(cat "$TMP/err")"; exit 1; }
grep '^V' "$TMP/want" >"$TMP/want.v"
expect "$(wc -l <"$TMP/values")" "$(wc -l <"$TMP/want.v")" "values the interpreter printed"

run() { # name, probe, predicate
	{ script "$2" "$3"; actions "$2" "$3"; } >"$TMP/$1.d"
	ktrace -wq -c "$TMP/load -t 1 -n $(scale 400000)" -s "$TMP/$1.d"
	expect 0 "$status" "$1: $(head -n 2 "$TMP/err")"
	expect "$(cat "$TMP/want.v")" "$(grep '^V' "$TMP/out")" "$1"
	expect_match '^done$' "$out"
	expect_match 'A 1 s ff c ' "$out"
	expect "S" "$(grep '^[ST]$' "$TMP/out")" "$1: speculations"
	expect "" "$err" "$1: messages"
	expect "$(wc -l <"$TMP/kernel")" "$(lines '^K')" "$1: values of the kernel"
}
run entry syscall::getppid:entry 'pid == $target'
run return syscall::getppid:return 'pid == $target'
run profile profile-997 'pid == $target && execname == "load"'
[ ! -r /sys/kernel/btf/vmlinux ] || run sdt sdt:raw_syscalls::sys_enter 'pid == $target && execname == "load"'
