# Tools about processes, signals and system calls print what a known load did.
# needs: root bpf btf gcc
. "$SRC/test/lib.bash"
. "$SRC/test/tools/lib.bash"

tool execsnoop -- exec 7
want 7 "$(rows '^0 [0-9]+ [0-9]+ 0 true true a b$')"
want 7 "$(rows 'true')"
tool execsnoop "$name" 1 -- exec 7
want 7 "$(rows "^0 [0-9]+ [0-9]+ ENOENT $name /nonexistent/true\$")"
tool exitsnoop true -- exec 5
want 5 "$(rows '^0 [0-9]+ [0-9]+ [0-9]+ [0-9]+ 0 true$')"
want 6 "$(rows .)" "with the heading"
tool exitsnoop "$name" 1 -- children 8
want 4 "$(rows "^0 [0-9]+ [0-9]+ [0-9]+ [0-9]+ 3 $name\$")"
want 4 "$(rows "^0 [0-9]+ [0-9]+ [0-9]+ [0-9]+ SIGKILL $name\$")"
tool threadsnoop -- threads 9
want 9 "$(rows "^[0-9]+ 0 [0-9]+ $name [0-9]+ [0-9]+\$")"
tool threadsnoop "$name" 1 -- threads 3
want 3 "$(rows 'libc.so.6`pthread_create')" "stacks"

tool killsnoop -- kill 10
want 10 "$(rows "^0 ([0-9]+) $name kill SIGUSR1 \\1 0\$")"
want 5 "$(rows "^0 ([0-9]+) $name tgkill 0 \\1 0\$")"
tool killsnoop "$name" -- kill 4
want 4 "$(rows " kill SIGUSR1 ")"
tool sigsnoop -- kill 10
want 10 "$(rows "^[0-9]+ ([0-9]+) $name SIGUSR1 \\1 $name\$")"
tool sigsnoop "$name" -- children 6
want 3 "$(rows "^[0-9]+ ([0-9]+) $name SIGKILL \\1 $name\$")"
want 6 "$(rows "^[0-9]+ [0-9]+ $name SIGCHLD [0-9]+ $name\$")" # in the context of the child that ends

if "$DTRACE" -ln priv:::priv-ok >/dev/null 2>&1; then
	tool capable "$name" -- chroot 6
	want 6 "$(rows "^0 [0-9]+ $name CAP_SYS_CHROOT granted\$")"
	tool capable "$name" 1 -- chroot 6
	want 0 "$(rows "CAP_SYS_CHROOT")" "denied"
fi

tool syscount -- chroot 11
want 11 "$(sum 1 ' chroot$')"
want "$(sum 1 '^[0-9]+ [a-z_0-9]+$')" "$(sum 1 ' in all$')" "rows and total"
want "$(sum 1 ' in all$')" "$(sum 1 "^[0-9]+ [0-9]+ $name\$")" "by process and total"
tool syscount nosuchname -- chroot 3
want 0 "$(rows chroot)"
tool procsystime -- sleep 8
want 8 "$(sum 3 "^$name clock_nanosleep ")"
[ "$(sum 4 "^$name clock_nanosleep ")" -ge 8000 ] || want "8 ms" "$(rows clock_nanosleep)" # sleeping less than asked for is not possible
want 1 "$(squeezed | awk -v n="$name" '$1 == n && $2 == "clock_nanosleep" && $5 >= 1000 && $6 >= $5' | wc -l)" "average and longest"
tool errinfo -- open 0 "$TMP"
loading=$(sum 4 "^$name openat ENOENT ") # the dynamic linker's, where it has no cache
tool errinfo -- open 12 "$TMP"
want $((loading + 12)) "$(sum 4 "^$name openat ENOENT ")"
tool dtruss chroot -- chroot 5
want 5 "$(rows '^([0-9]+)/\1 [0-9]+ chroot\(0x[0-9a-f]+, 0x[0-9a-f]+, 0x[0-9a-f]+\) = 0$')"
want 6 "$(rows .)" "with the heading"
tool dtruss -- open 3 "$TMP"
want 3 "$(rows ' openat\(0x(f{8})?ffffff9c, 0x[0-9a-f]+, 0x0\) = ENOENT$')"
