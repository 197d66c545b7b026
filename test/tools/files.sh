# Tools about files print what a known load did.
# needs: root bpf btf gcc
# uses: mountns
. "$SRC/test/lib.bash"
. "$SRC/test/tools/lib.bash"
dir=$TMP/dir
mkdir "$dir"

tool opensnoop -- open 10 "$dir"
want 10 "$(rows "^0 [0-9]+ $name [0-9]+ 0 $dir/data\$")"
want 10 "$(rows "^0 [0-9]+ $name -1 ENOENT $dir/nosuch\$")"
tool opensnoop "$name" 1 -- open 4 "$dir"
want 4 "$(rows nosuch)"
want 0 "$(rows dir/data)"
case $HOSTTYPE in x86_64) access=access ;; *) access=faccessat ;; esac # the only one there
tool statsnoop -- stat 10 "$dir"
want 10 "$(rows "^0 [0-9]+ $name newfstatat 0 $dir\$")"
want 10 "$(rows "^0 [0-9]+ $name $access ENOENT $dir/nosuch\$")"
tool statsnoop "$name" 1 -- stat 3 "$dir"
want 3 "$(rows nosuch)"
want 0 "$(rows newfstatat.0)"

tool syncsnoop "$name" -- sync 5 "$dir"
for call in fsync fdatasync; do want 5 "$(rows "^[0-9]+ [0-9]+ $name $call [0-9]+ $dir/data\$")"; done

if unshare -m true 2>/dev/null; then
	mkdir "$dir/mnt"
	cat >"$TMP/mounts" <<-M
		mount -t tmpfs dttest $dir/mnt
		umount $dir/mnt
		umount $dir/nosuch 2>/dev/null
	M
	tool mountsnoop -- /usr/bin/env unshare -m sh "$TMP/mounts"
	want 1 "$(rows "^[0-9]+ mount [0-9]+ 0 mount dttest $dir/mnt tmpfs 0x[0-9a-f]+\$|^[0-9]+ mount [0-9]+ 0 move_mount ")"
	want 1 "$(rows "^[0-9]+ umount [0-9]+ 0 umount2 - $dir/mnt - 0x[0-9a-f]+\$")"
	want 1 "$(rows "^[0-9]+ umount [0-9]+ ENOENT umount2 - $dir/nosuch - ")"
fi

# the dynamic linker reads the C library as well
tool rwtop 100 -- rw 20 "$dir"
want $((20 * 1010)) "$(sum 4 "^[0-9]+ $name ")"
tool rwbytype -- rw 20 "$dir"
want "20 20000" "$(squeezed | awk -v n="$name" '$1 == n && $2 == "file" { print $5, $6 }')" "files"
want "20 200" "$(squeezed | awk -v n="$name" '$1 == n && $2 == "pipe" { print $5, $6 }')" "pipes"
tool filetop 100 -- rw 20 "$dir"
want "10000 20000" "$(squeezed | awk -v f="$dir/data" '$4 == f { print $2, $3 }')"
tool fsslower 0 "$name" -- rw 20 "$dir"
want 20 "$(rows "^[0-9]+ [0-9]+ $name write 1000 [0-9]+ [a-z0-9]+ $dir/data\$")"
want 20 "$(rows "^[0-9]+ [0-9]+ $name pread64 500 [0-9]+ [a-z0-9]+ $dir/data\$")"
want 1 "$(rows "^[0-9]+ [0-9]+ $name openat 0 [0-9]+ [a-z0-9]+ $dir/data\$")"
tool fsslower 100000 -- rw 20 "$dir"
want 1 "$(rows .)" "nothing takes 100 s"

# 32 pages are written, read from the disk, read from memory; what the dynamic linker reads is in memory
find_disk
at_end leave_disk
if [ -n "$disk" ] && "$DTRACE" -ln sdt:filemap::mm_filemap_get_pages >/dev/null 2>&1; then
	mkdir "$disk/$name.dir"
	at_end 'rm -rf "$disk/$name.dir"'
	"$TMP/$name" cache 32 "$disk/$name.dir"
	tool cachestat 100 -- cache 32 "$disk/$name.dir"
	reads=$(sum 1 '^[0-9]+ [0-9]+ [0-9]+ [0-9]+$')
	# the start of the program reads as well, as much as its libraries need
	[ "$reads" -ge 64 ] || want "at least 64" "$reads" "reads"
	want $(((reads - 32) * 100 / reads)) "$(sum 2 '^[0-9]+ [0-9]+ [0-9]+ [0-9]+$')" "hits"
	want 64 "$(sum 3 '^[0-9]+ [0-9]+ [0-9]+ [0-9]+$')" "pages added"
fi

if "$DTRACE" -ln vfs:vop:vop_read:entry >/dev/null 2>&1; then
	tool vfsstat 100 -- rw 20 "$dir"
	want 40 "$(sum 2 '^[0-9]+ [0-9]+ [0-9]+ [0-9]+ [0-9]+$')" writes
else
	echo "vfsstat needs a kernel whose functions can be traced"
fi
