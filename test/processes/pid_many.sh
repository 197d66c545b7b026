# timeout: 300
# Exact counts: all threads of the process, none of other processes, children and images that share the file.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
build pid processes/pid.c -pthread
n=$(scale 20000)


# eight threads at once
trace -qn 'pid$target:a.out:add:entry { @e = count(); } pid$target:a.out:add:return { @r = count(); }' -c "$TMP/pid threads $n"
expect "$((8 * n)) $((8 * n))" "$(last_fields)" "$err"
expect "" "$err"

# children are not followed: three calls in each child, one of ours for each
trace -qn 'pid$target:a.out:add:entry { @ = count(); }' -c "$TMP/pid forks 50"
expect 50 "$(last_fields)" "$err"
# one that shares the memory
trace -qn 'pid$target:a.out:add:entry { @ = count(); }' -c "$TMP/pid vforks 50"
expect 50 "$(last_fields)" "$err"
# the same program exec'd again and again by the same process
trace -qn 'pid$target:a.out:add:entry { @ = count(); }' -c "$TMP/pid execs 50"
expect 50 "$(last_fields)" "$err"

# with option follow they are, from the first instruction on: forks, execs and what they are called
trace -x follow -qn 'pid$target:a.out:add:entry { @ = count(); }' -c "$TMP/pid forks 50"
expect 200 "$(last_fields)" "$err"
trace -x follow -qn 'pid$target:a.out:add:entry { @[probeprov] = count(); @self[pid == $target] = count(); }' -c "$TMP/pid forks 10"
expect "40 10 30" "$(awk 'NF == 2 && $1 ~ /^pid/ { print $2 } NF == 2 && $1 == 1 { a = $2 } NF == 2 && $1 == 0 { b = $2 } END { print a, b }' <<<"$out" | xargs)" "$err"
# others that run the same program do not fire
"$TMP/pid" threads 100000 &
other=$!
trace -x follow -qn 'pid$target:a.out:add:entry { @ = count(); }' -c "$TMP/pid forks 20"
expect 80 "$(last_fields)" "$err"
kill $other 2>/dev/null
wait $other 2>/dev/null

# two processes of one program, each with its own probes and a clause for both; a third that is not traced
for i in 1 2 3; do
	"$TMP/pid" wait 10 >"$TMP/ready$i" &
	p[i]=$!
done
for i in 1 2 3; do wait_for 20 grep -q ready "$TMP/ready$i"; done
: >"$TMP/out" # discard earlier output
"$DTRACE" -qn "pid${p[1]}:a.out:ways:entry, pid${p[2]}:a.out:ways:entry { @[probeprov, pid] = count(); }
	pid${p[2]}:a.out:ways:entry { @n[probeprov, pid] = count(); }
	BEGIN { printf(\"on\n\"); }" -p ${p[1]} -p ${p[2]} >"$TMP/out" 2>"$TMP/err" &
tracer=$!
wait_for 60 grep -q on "$TMP/out" # it is printed when all probes are there
wait_for 60 running ${p[1]}
wait_for 60 running ${p[2]}
# the third one has no breakpoint in it: its code is what is in the file
at=$(nm "$TMP/pid" | awk '$3 == "ways" { print $1 }')
base=$(awk '/r-xp/ && /pid$/ { print $1, $3; exit }' /proc/${p[3]}/maps)
start=${base%%-*} off=${base##* }
code() { dd if="$1" bs=1 skip="$2" count=8 2>/dev/null | od -An -tx1; }
expect "$(code "$TMP/pid" $((0x$at)))" "$(code /proc/${p[3]}/mem $((0x$start + 0x$at - 0x$off)))"
[ "$(code "$TMP/pid" $((0x$at)))" != "$(code /proc/${p[1]}/mem $((0x$start + 0x$at - 0x$off)) 2>/dev/null)" ] || true
kill -USR1 ${p[1]} ${p[2]} ${p[3]}
wait ${p[1]} ${p[2]} ${p[3]}
wait $tracer
expect "pid${p[1]} ${p[1]} 10
pid${p[2]} ${p[2]} 10
pid${p[2]} ${p[2]} 10" "$(awk 'NF == 3 { $1 = $1; print }' "$TMP/out" | sort)" "$(cat "$TMP/err")"

# 2,000 functions, one program, all called once
{
	for ((i = 0; i < 2000; i++)); do echo "__attribute__((noinline)) int f$i(volatile int *x) { return *x += $i; }"; done
	echo 'int main(void) { volatile int x = 0;'
	for ((i = 0; i < 2000; i++)); do echo "f$i(&x);"; done
	echo 'return 0; }'
} >"$TMP/big.c"
gcc -O1 -o "$TMP/big" "$TMP/big.c"
trace -qn 'pid$target:a.out:f[0-9]*:entry { @[probefunc] = count(); @e = count(); } pid$target:a.out:f[0-9]*:return { @r = count(); }' -c "$TMP/big"
expect "2000 2000 2000" "$(awk 'NF == 2 { n += $2 } NF == 1 { print $1 } END { print n }' "$TMP/out" | xargs)" "$err"
