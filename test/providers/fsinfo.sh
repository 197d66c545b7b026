# The fsinfo provider: every probe, with a known number of operations on a file system of our own.
# timeout: 300
# needs: root bpf btf gcc
. "$SRC/test/lib.bash"
if ! "$DTRACE" -ln fsinfo:::read >/dev/null 2>&1; then
	explained fsinfo:::read vfs_read
	skip "needs tracing of kernel functions"
fi
watch fsinfo
build vops providers/vops.c
n=$(scale 100)
[ "$n" -ge 5 ] || n=5
mount_tmpfs vops
ktrace -q -c "$TMP/vops $dir $n" -n '
	syscall::getppid:return /pid == $target/ { self->on = 1; }
	syscall::getpgid:entry /pid == $target/ { self->on = 0; }
	fsinfo::: /self->on/ { @n[probename] = sum(1); @bytes[probename] = sum(args[1]); @bad[probename] = sum(args[0]->fi_fs != "tmpfs"); }
	fsinfo:::write /self->on/ { @path[args[0]->fi_pathname, args[0]->fi_name, args[0]->fi_mount] = sum(1); }
	END { printa("%s %@d\n", @n); printa("bytes %s %@d\n", @bytes); printa("wrong %s %@d\n", @bad); printa("path %s %s %s %@d\n", @path); }'
expect 0 "$status" "$err"
expect "" "$err" messages
while read -r op times; do
	expect "$((n * times))" "$(awk -v o="$op" '$1 == o { print $2 }' "$TMP/out")" "$op"
done <<'T'
open 2
close 2
read 1
write 1
fsync 1
readdir 1
space 1
lookup 1
create 1
mkdir 1
rmdir 1
remove 4
link 1
symlink 1
rename 1
readlink 1
getattr 1
setattr 1
T
expect "bytes read $((n * 100))
bytes write $((n * 100))" "$(awk '$1 == "bytes" && $3' "$TMP/out" | sort)" "bytes"
expect "" "$(awk '$1 == "wrong" && $3' "$TMP/out")" "file systems"
base=$("$DTRACE" -qn 'BEGIN { printf("%s", root == "/" ? "" : root); exit(0); }')$dir # guests are in a chroot()
expect "path $base/file file $base $n" "$(grep '^path' "$TMP/out")" "path"
fired
