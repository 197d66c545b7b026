# Functions with statements that several clauses call, at system calls and clock events: they get the probe's arguments and
# errno, records are those of the clause. One that asks for stacks stays in its clauses. In all cases nothing is repeated
# that need not be: instructions are counted.
# needs: root bpf
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
# FUNCTION STATEMENT: a large function with this at its end
large() {
	echo "inline void $1(string what) { int v = 0;"
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo "v = v * 3 + (v >> $i) + $i;"; done
	echo "$2 }"
}
{
	echo '#pragma D option quiet'
	echo 'int n; uint64_t a, b;'
	large plain 'printf("%s %s:%s %x %d %d %d\n", what, probefunc, probename, arg0, (int)arg1, errno, v != 0); @[what] = count();'
	large deep 'printf("%s %d ", what, stackdepth > 0); plain(strjoin("in ", what));'
	cat <<'D'
syscall::kill:entry /pid == $target && !n/ { plain("one"); }
syscall::kill:entry /pid == $target && !n/ { printf("x "); plain("two"); n = 1; }
syscall::kill:return /pid == $target && n == 1/ { plain("three"); deep("four"); }
syscall::kill:return /pid == $target && n == 1/ { deep("five"); plain("six"); n = 2; }
profile-997 /arg0 && !a/ { a = arg0; plain("clock"); }
profile-997 /arg1 && !b/ { b = arg1; deep("clock"); }
profile-997 /a && b && n == 2/ { exit(0); }
D
} >p.d
trace -s p.d -c "sh -c 'while :; do kill -0 999999; i=0; while [ \$i -lt 1000 ]; do i=\$((i + 1)); done; done 2>/dev/null'"
expect 0 "$status" "$err"
cat >want <<'E2'
one kill:entry f423f 0 0 1
x two kill:entry f423f 0 0 1
three kill:return fffffffffffffffd -3 3 1
four 1 in four kill:return fffffffffffffffd -3 3 1
five 1 in five kill:return fffffffffffffffd -3 3 1
six kill:return fffffffffffffffd -3 3 1
E2
expect "$(cat want)" "$(grep kill: out)"
expect_match 'clock [01] in clock [^ ]*:profile-997 0 ' "$(cat out)"
expect_match 'clock [^ ]*:profile-997 ffff' "$(cat out)"
expect_match '^ *in five  *1$' "$(grep 'in five  ' out)"

# 10 clauses, 50 clauses: for each of the 40 an assignment of the arguments and a call
many() {
	large f "printf(\"%s %d\\n\", what, v); @[what] = sum(v);$2"
	for ((i = 0; i < $1; i++)); do echo "BEGIN { f(\"c$i\"); }"; done
	echo 'BEGIN { exit(0); }'
}
instructions() { # of the last try: an old kernel refuses the first
	DTRACE_BPF_DUMP=1 "$DTRACE" -x engine=bpf -qs "$1" 2>&1 >"$1.out" | awk '/^dtrace:/ { n = 0 } /^ *[0-9]+: / { n++ } END { print n }'
}
for more in '' ' for (v = 0; v < 9; v++) @l = sum(v);' ' if (v == 1) { return; } printf("%d", arg0);'; do
	many 10 "$more" >ten.d
	many 50 "$more" >fifty.d
	ten=$(instructions ten.d) fifty=$(instructions fifty.d)
	expect 1 $((fifty - ten < 40 * 60)) "'$more': $ten and $fifty instructions"
	"$DTRACE" -x engine=vm -qs fifty.d >vm.out
	expect "$(cat vm.out)" "$(cat fifty.d.out)" "'$more'"
done
# one clause: nothing is called
many 1 '' >one.d
DTRACE_BPF_DUMP=1 "$DTRACE" -x engine=bpf -qs one.d 2>&1 | grep -c '^function:' >count
expect 0 "$(cat count)"
# several descriptions are several clauses
{ large f 'printf("%s %s %d\n", what, probename, v);'; echo 'BEGIN, END { f("x"); } BEGIN { exit(0); }'; } >both.d
"$DTRACE" -x engine=vm -S -qs both.d 2>&1 | grep -o 'DIFO 0x[0-9a-f]*' | sort | uniq -d | wc -l >count
expect 1 "$(($(cat count) > 20))" "DIFOs that both have: $(cat count)"
