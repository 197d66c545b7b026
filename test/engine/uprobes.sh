# timeout: 200
# Places in user code on every kernel: links for many places where the kernel has them, else perf events.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
gcc -O2 -Wall -Wextra -o "$TMP/pid" "$SRC/test/processes/pid.c" -pthread || exit 1
n=$(scale 20000)

# all threads; every form of return, one of them under a condition
ktrace -qn 'pid$target:a.out:add:entry { @a = count(); } pid$target:a.out:add:return { @b = count(); }' -c "$TMP/pid threads $n"
expect "$((8 * n)) $((8 * n))" "$(last_fields)" "$err"
ktrace -qn 'pid$target:a.out:maybe:return, pid$target:a.out:tail:return, pid$target:a.out:choose:return, pid$target:a.out:ways:return { @[probefunc] = count(); }' -c "$TMP/pid calls 10"
expect "10 10 10 10" "$(last_fields)" "$err"
ktrace -qx uretprobe -n 'pid$target:a.out:ways:return { @ = count(); }' -c "$TMP/pid calls 10"
expect 10 "$(last_fields)" "$err"
ktrace -qn 'pid$target:a.out:ten:entry { printf("%d %d %d %d", arg0, arg5, arg6, arg9); exit(0); }' -c "$TMP/pid calls 1"
expect "1 6 7 10" "$(echo $out)" "$err"

# children and images
ktrace -qn 'pid$target:a.out:add:entry { @ = count(); }' -c "$TMP/pid forks 5"
expect 5 "$(last_fields)" "$err"
ktrace -qn 'pid$target:a.out:add:entry { @ = count(); }' -c "$TMP/pid vforks 5"
expect 5 "$(last_fields)" "$err"
ktrace -qn 'pid$target:a.out:add:entry { @ = count(); }' -c "$TMP/pid execs 5"
expect 5 "$(last_fields)" "$err"
ktrace -qx follow -n 'pid$target:a.out:add:entry { @ = count(); }' -c "$TMP/pid forks 5"
expect 20 "$(last_fields)" "$err"

# all processes, by the path of a file; one that starts later
ktrace -qn "pid*:$TMP/pid:add:entry /pid == \$target/ { @ = count(); }" -c "$TMP/pid execs 3"
expect 3 "$(last_fields)" "$err"
ktrace -qZn 'pid$target:pid:ways:entry { @ = count(); } pid$target:nosuch.so::entry { @n = count(); }' -c "$TMP/pid calls 6"
expect 6 "$(last_fields)" "$err"
