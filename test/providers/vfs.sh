# The vfs provider: every probe, each with a known number of operations on a file system of our own.
# timeout: 300
# needs: root bpf btf gcc
. "$SRC/test/lib.bash"
if ! "$DTRACE" -ln vfs:vop:vop_read:entry >/dev/null 2>&1; then
	explained vfs:vop:vop_read:entry vfs_read
	skip "needs tracing of kernel functions"
fi
watch vfs
build vops providers/vops.c
n=$(scale 100)
[ "$n" -ge 5 ] || n=5
mount_tmpfs vops

cat >"$TMP/vfs.d" <<'D'
syscall::getppid:return /pid == $target/ { self->on = 1; }
syscall::getpgid:entry /pid == $target/ { self->on = 0; }
vfs:vop::entry /self->on/ { @n[probefunc, probename] = sum(1); @bad[probefunc] = sum(args[0] == NULL || args[1] == NULL); }
vfs:vop::return /self->on/ { @n[probefunc, probename] = sum(1); @bad[probefunc] = sum(args[0] == NULL && args[1] == NULL); }
vfs:vop::return /self->on && args[2]/ { @errors[probefunc, args[2]] = sum(1); }
vfs:vop:vop_mkdir:entry /self->on/ { @names[probefunc, stringof(args[1]->d_name.name)] = sum(1); }
vfs:vop:vop_read:return /self->on/ { @names[probefunc, stringof(args[1]->d_name.name)] = sum(1); }
END { printa("%s %s %@d\n", @n); printa("error %s %d %@d\n", @errors); printa("name %s %s %@d\n", @names); printa("wrong %s %@d\n", @bad); }
D
ktrace -q -s "$TMP/vfs.d" -c "$TMP/vops $dir $n"
expect 0 "$status" "$err"
expect "" "$err" messages
while read -r op times; do
	for p in entry return; do expect "$((n * times))" "$(awk -v o="$op" -v p=$p '$1 == o && $2 == p { print $3 }' "$TMP/out")" "$op:$p"; done
done <<'T'
vop_open 2
vop_close 2
vop_read 1
vop_write 1
vop_fsync 1
vop_readdir 1
vop_allocate 1
vop_copy_file_range 1
vop_lookup 1
vop_create 1
vop_mknod 1
vop_mkdir 1
vop_rmdir 1
vop_remove 4
vop_link 1
vop_symlink 1
vop_rename 1
vop_readlink 1
vop_getattr 1
vop_setattr 1
vop_getextattr 1
vop_setextattr 1
vop_listextattr 1
vop_deleteextattr 1
T
expect "" "$(awk '$1 == "wrong" && $3' "$TMP/out")" "inode and dentry"
expect "name vop_mkdir dir $n" "$(grep 'name vop_mkdir' "$TMP/out")" "name at entry"
expect "name vop_read file $n" "$(grep 'name vop_read' "$TMP/out")" "name at return"

# ---- paths, and their parts ----
ktrace -q -c "$TMP/vops $dir $n" -n '
	syscall::getppid:return /pid == $target/ { self->on = 1; }
	syscall::getpgid:entry /pid == $target/ { self->on = 0; }
	vfs:namei:lookup:entry /self->on/ { @n[args[1]] = sum(1); @all["entry"] = sum(1); @all["named"] = sum(args[1] != ""); } /* fstat() may ask for "" */
	vfs:namei:lookup:return /self->on/ { @all["return"] = sum(1); @error[args[0]] = sum(1); }
	vfs:namecache:lookup:hit /self->on && args[1] == "file"/ { @all["hit"] = sum(1); @bad["hit"] = sum(args[0] == NULL || args[2] == NULL); }
	vfs:namecache:lookup:miss /self->on && args[1] == "missing"/ { @all["miss"] = sum(1); @bad["miss"] = sum(args[0] == NULL); }
	vfs:namecache:lookup:hit-negative /pid == $target && args[1] == "not-there-at-all"/ { @all["hit-negative"] = sum(1); @bad["negative"] = sum(args[2] != NULL); }
	END { printa("all %s %@d\n", @all); printa("%s %@d\n", @n); printa("error %d %@d\n", @error); printa("wrong %s %@d\n", @bad); }'
expect "" "$err" messages
value() { awk -v k="$1" '$1 == "all" && $2 == k { print $3 }' "$TMP/out"; }
expect "$((17 * n))" "$(value named)" "paths"
expect "$(value entry)" "$(value return)" "paths resolved"
expect "file $((3 * n))" "$(grep '^file' "$TMP/out")" "one of them"
expect "error 2 $n" "$(grep '^error 2 ' "$TMP/out")" "errors"
for k in hit miss hit-negative; do [ "$(value $k)" -ge 1 ] || { echo "namecache: no $k"; cat "$TMP/out"; fails=1; }; done
expect "" "$(awk '$1 == "wrong" && $3' "$TMP/out")" "names in the cache"

# ---- together with fbt at the same function ----
ktrace -q -c "$TMP/vops $dir $n" -n '
	fbt::vfs_rmdir:entry, vfs:vop:vop_rmdir:entry /pid == $target/ { @[probeprov] = count(); }
	END { printa("%s %@d\n", @); }'
expect "fbt $n
vfs $n" "$(grep . "$TMP/out" | sort)" "with fbt"
fired
