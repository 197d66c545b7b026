# The io provider: every probe, with known I/O on disks of our own (a loop device; one without requests where there is one), against /sys/block/*/stat.
# timeout: 200
# needs: root bpf btf losetup mkfs.ext4
. "$SRC/test/lib.bash"
watch io
n=$(scale 400)
[ "$n" -ge 20 ] || n=20

module loop
disk= mounted=
undo() {
	[ -n "$mounted" ] && umount "$mounted"
	[ -n "$disk" ] && losetup -d "$disk"
	return 0
}
at_end undo
truncate -s 64M "$TMP/image"
disk=$(losetup -f --show "$TMP/image" 2>/dev/null) || skip "needs a loop device"
name=${disk##*/}
blockdev --getsz "$disk" >/dev/null

# stat DISK FIELD...: /sys/block/DISK/stat: 1 reads 3 sectors read 5 writes 7 sectors written 12 discards 16 flushes
stat_of() { awk -v f="${*:2}" '{ n = split(f, a, " "); for (i = 1; i <= n; i++) s = s $a[i] " "; print s }' "/sys/block/$1/stat"; }
# iotrace DISK COMMAND: all that happens on that disk; $moved: reads, sectors, writes, sectors by the kernel's own count
iotrace() {
	local -a a b
	a=($(stat_of "$1" 1 3 5 7))
	ktrace -q -c "$2" -s "$TMP/io.d" "\"$1\""
	b=($(stat_of "$1" 1 3 5 7))
	moved="$((b[0] - a[0])) $((b[1] - a[1])) $((b[2] - a[2])) $((b[3] - a[3]))"
	expect 0 "$status" "$2: $err"
	expect "" "$(grep -v -e 'records ' -e copied "$TMP/err")" "$2: messages"
}

cat >"$TMP/io.d" <<'D'
io:::start, io:::done /args[1]->dev_statname == $1/ {
	@n[probename, args[0]->b_cmd == BIO_READ ? "read" : args[0]->b_cmd == BIO_WRITE ? "write" : args[0]->b_cmd == BIO_FLUSH ? "flush" : "other"] = sum(1);
	@bytes[probename, args[0]->b_flags & B_READ ? "read" : "write"] = sum(args[0]->b_bcount);
	@same["numbers"] = sum(getmajor(args[0]->b_edev) != args[1]->dev_major || getminor(args[0]->b_edev) != args[1]->dev_minor ||
	    args[1]->dev_pathname != strjoin("/dev/", $1) || args[0]->b_bcount != args[0]->b_bufsize || args[0]->b_error != 0 || args[0]->b_resid != 0);
	@same["state"] = sum((args[0]->b_flags & B_DONE ? "done" : "start") != probename);
}
io:::start /args[1]->dev_statname == $1 && args[0]->b_cmd < BIO_DELETE/ { @first = min(args[0]->b_blkno); @last = max(args[0]->b_blkno + args[0]->b_bcount / 512); }
sdt:::block_bio_queue /progenyof($target)/ { self->bio = arg0; mine[arg0] = 1; }
sdt:::block_bio_complete /mine[arg1]/ { mine[arg1] = 0; } /* sdt fires before io does */
io:::wait-start /progenyof($target)/ {
	this->here = args[1]->dev_statname == $1;
	this->mine = mine[self->bio]; /* once: it may end meanwhile */
	@wait["wait-start"] = sum(1); @wait["known"] = sum(this->here && args[0]->b_bcount != 0);
	@wait["over"] = sum(!this->here && !this->mine);
	@wait["ending"] = sum(this->here && args[0]->b_bcount == 0);
	@wait["elsewhere"] = sum(!this->here && args[0]->b_edev != 0 && this->mine);
	self->in = 1; self->dev = args[0]->b_edev; self->bytes = args[0]->b_bcount; self->block = args[0]->b_blkno; self->cmd = args[0]->b_cmd; self->end = args[0]->b_iodone;
}
io:::wait-done /progenyof($target)/ {
	@wait["wait-done"] = sum(1); @same["thread"] = sum(!self->in);
	@same["wait"] = sum(args[0]->b_edev != self->dev || args[0]->b_bcount != self->bytes || args[0]->b_blkno != self->block || args[0]->b_cmd != self->cmd || args[0]->b_iodone != self->end);
	self->in = 0;
}
sdt:::sched_switch /args[1]->tgid == 1/ { @init["init leaves"] = count(); }
sdt:::sched_switch /args[2]->tgid == 1/ { @init["init comes"] = count(); }
END {
	printa("%s %s: %@d\n", @n); printa("%s bytes %s: %@d\n", @bytes); printa("wrong %s: %@d\n", @same);
	printa("from: %@d\n", @first); printa("to: %@d\n", @last); printa("%s: %@d\n", @wait); printa("%s: %@d\n", @init);
}
D

# ---- reads and writes of known number, and nothing else ----
io_on() { # disk; RAM disks do not count
	iotrace "$1" "dd if=/dev/zero of=/dev/$1 bs=4096 count=$n seek=3 oflag=direct"
	[ "$1" = ram0 ] || expect "0 0 $n $((n * 8))" "$moved" "$1: the kernel's own count of writes"
	expect "$n $n" "$(labelled "start write") $(labelled "done write")" "$1: writes"
	expect "$((n * 4096)) $((n * 4096))" "$(labelled "start bytes write") $(labelled "done bytes write")" "$1: bytes written"
	expect "24 $(((n + 3) * 8))" "$(labelled from) $(labelled to)" "$1: blocks"
	expect "0 0" "$(labelled "wrong numbers") $(labelled "wrong state")" "$1: fields"
	iotrace "$1" "dd if=/dev/$1 of=/dev/null bs=8192 count=$((n / 2)) iflag=direct"
	[ "$1" = ram0 ] || expect "${moved%% *}" "$(labelled "start read")" "$1: reads"
	[ "$1" = ram0 ] || expect "$((512 * $(cut -d ' ' -f 2 <<<"$moved")))" "$(labelled "start bytes read")" "$1: bytes read"
	expect "$(labelled "start read") $(labelled "start bytes read")" "$(labelled "done read") $(labelled "done bytes read")" "$1: reads begin and end"
	[ "$(labelled "start read")" -ge $((n / 2)) ] || { echo "$1: too few reads"; fails=1; }
	expect "" "$(labelled "start write")" "$1: no writes"
}
io_on "$name"
# A thread that waits returns, and wait-done is about that thread. Nothing is known of what is done before the
# thread gets to wait: then once more (with one CPU it may always be so). Also if one was not seen that got the CPU from process 1,
# where some kernels run no programs (doc/kernel-engine.md).
hidden() { [ -z "$(labelled "init leaves")" ] && [ -n "$(labelled "init comes")" ]; }
waited() {
	[ "$(labelled known)" -gt 0 ] 2>/dev/null && { [ "$(labelled wait-start)" = "$(labelled wait-done)" ] || ! hidden; } && return
	iotrace "$name" "dd if=$disk of=/dev/null bs=8192 count=$((n / 2)) iflag=direct"
	return 1
}
[ "$(nproc)" = 1 ] || wait_for 30 waited
waits=$(labelled wait-start) back=$(labelled wait-done)
if [ -n "$waits" ]; then
	expect "$waits" "$back" "who waits comes back"
	expect 0 "$(labelled "wrong thread")" "who waits"
	# Each waits for its own request; if that ended on another CPU while the thread was going to sleep, it is not known; if it is just
	# ending there, nothing of it is left. The program itself may have to be read from another disk.
	expect "$waits" "$(($(labelled known) + $(labelled over) + $(labelled ending) + $(labelled elsewhere)))" \
		"what is waited for ($(grep -E '^(known|over|ending|elsewhere):' "$TMP/out" | xargs))"
	expect 0 "$(labelled "wrong wait")" "what was waited for"
fi

# ---- flush: a request of its own, once ----
iotrace "$name" "dd if=/dev/zero of=$disk bs=4096 count=1 conv=fsync"
expect "1 1" "$(labelled "start flush") $(labelled "done flush")" flush
expect "1 1" "$(labelled "start write") $(labelled "done write")" "written, then flushed"

# ---- a disk without requests: one bio at a time ----
if module brd rd_nr=1 rd_size=65536 && [ -b /dev/ram0 ]; then
	io_on ram0
	ktrace -q -c "dd if=/dev/zero of=/dev/ram0 bs=4096 count=1 oflag=direct" -n 'io:::start /args[1]->dev_statname == "ram0"/ { printf("%s %d %d\n", args[1]->dev_name, args[1]->dev_instance, arg2); }'
	expect "brd 0 0" "$(grep . "$TMP/out")" "driver"
fi

# ---- the names of files: cached pages and O_DIRECT ----
mkfs.ext4 -q -O ^has_journal "$disk" >/dev/null 2>&1
mkdir -p "$TMP/mnt/"
# At its mount point, in any writing process. Without a journal there is nothing but the file and the file
# system's own blocks.
if mount "$disk" "$TMP/mnt" 2>/dev/null; then
	mounted=$TMP/mnt
	mkdir -p "$TMP/mnt/some/where"
	sync -f "$TMP/mnt"
	base=$("$DTRACE" -qn 'BEGIN { printf("%s", root == "/" ? "" : root); exit(0); }')$TMP/mnt # guests are in a chroot()
	cat >"$TMP/files.d" <<'D'
io:::start /args[1]->dev_statname == $1 && args[2]->fi_name != "<none>"/ {
	@[args[2]->fi_name, args[2]->fi_dirname, args[2]->fi_pathname, args[2]->fi_fs, args[2]->fi_mount, args[0]->b_flags & B_PHYS ? "direct" : "cached"] = sum(args[0]->b_bcount);
	@from[args[2]->fi_name] = min(args[2]->fi_offset);
	@to[args[2]->fi_name] = max(args[2]->fi_offset);
}
END { printa("%s %s %s %s %s %s %@d\n", @); printa("from %s %@d\n", @from); printa("to %s %@d\n", @to); }
D
	ktrace -q -s "$TMP/files.d" "\"$name\"" -c "dd if=/dev/zero of=$TMP/mnt/some/where/file bs=64k count=16 conv=fsync"
	expect "file $base/some/where $base/some/where/file ext4 $base cached 1048576" "$(grep ext4 "$TMP/out")" "cached pages"
	expect "from file 0" "$(grep ^from "$TMP/out")" "offset in the file"
	ktrace -q -s "$TMP/files.d" "\"$name\"" -c "dd if=/dev/zero of=$TMP/mnt/some/where/direct bs=64k count=16 oflag=direct"
	expect "direct $base/some/where $base/some/where/direct ext4 $base direct 1048576" "$(grep direct "$TMP/out" | grep ext4)" "O_DIRECT"
	# every member of the types: the first piece of a file
	name_dev=$(cat "/sys/block/$name/dev")
	for what in start done; do
		write="/bin/dd if=/dev/zero of=$TMP/mnt/some/where/$what bs=64k count=4 conv=fsync status=none"
		fields "io:::$what /args[2]->fi_name == \"$what\"/" -c "$write" <<-T
		= bufinfo_t args[0]
		b_flags (% & (B_WRITE | B_READ | B_PAGEIO | B_PHYS | B_ASYNC | B_DONE | B_BUSY | B_ERROR)) == (B_WRITE | B_PAGEIO | $([ $what = done ] && echo B_DONE || echo B_BUSY))
		b_cmd % == BIO_WRITE
		b_bcount % > 0 && % <= 262144
		b_addr % == NULL
		b_blkno % > 0 && % < 131072
		b_lblkno % == args[0]->b_blkno
		b_resid % == 0
		b_bufsize % == args[0]->b_bcount
		b_iodone % != NULL
		b_error % == 0
		b_edev getmajor(%) == ${name_dev%:*} && getminor(%) == ${name_dev#*:}
		= devinfo_t args[1]
		dev_major % == ${name_dev%:*}
		dev_minor % == ${name_dev#*:}
		dev_instance % == ${name_dev#*:}
		dev_type % == 0
		dev_name % == "loop"
		dev_statname % == "$name"
		dev_pathname % == "$disk"
		= fileinfo_t args[2]
		fi_name % == "$what"
		fi_dirname % == "$base/some/where"
		fi_pathname % == "$base/some/where/$what"
		fi_offset % == 0
		fi_fs % == "ext4"
		fi_mount % == "$base"
		fi_oflags % == 0
		T
	done

	# a reader of data not in memory waits for the file, which is also known in wait-done
	file_waited() { # it may be there before the thread gets to wait
		umount "$mounted" && mount "$disk" "$mounted"
		ktrace -q -c "dd if=$TMP/mnt/some/where/file of=/dev/null bs=64k" -n '
			io:::wait-start, io:::wait-done /pid == $target && args[1]->dev_statname == $1 && args[2]->fi_name != "<none>"/ {
				@[probename, args[2]->fi_pathname, args[2]->fi_fs, args[0]->b_flags & B_READ ? "read" : "write", args[2]->fi_offset % 4096] = count(); }
			END { printa("%s %s %s %s %d\n", @); }' "\"$name\""
		grep -q '^wait-done' "$TMP/out"
	}
	if [ "$(nproc)" -gt 1 ]; then
		wait_for 30 file_waited
		for p in wait-start wait-done; do expect "$p $base/some/where/file ext4 read 0" "$(grep "^$p" "$TMP/out")" "$p: file"; done
	fi
	umount "$mounted" && mounted=
else
	echo "cannot mount ext4 here: names of files were left out"
fi

# ---- errors: the disk is larger than its backing file ----
mkdir -p "$TMP/small"
if mount -t tmpfs -o size=256k small "$TMP/small" 2>/dev/null; then
	losetup -d "$disk"
	truncate -s 1M "$TMP/small/image"
	mounted=$TMP/small
	disk=$(losetup -f --show "$TMP/small/image") || exit 1
	ktrace -q -c "dd if=/dev/zero of=$disk bs=64k count=16 oflag=direct" -n 'io:::done /args[1]->dev_statname == $1/ { @[args[0]->b_error == EIO || args[0]->b_error == ENOSPC, (args[0]->b_flags & B_ERROR) != 0, args[0]->b_resid] = count(); }
		END { printa("%d %d %d %@d\n", @); }' "\"${disk##*/}\""
	grep -q '^1 1 65536 1$' "$TMP/out" || { echo "error: not seen"; cat "$TMP/out" "$TMP/err"; fails=1; }
	expect 2 "$(lines '^[01]')" "errors and others"
	losetup -d "$disk" && disk=
fi

# ---- listing ----
expect "start done wait-start wait-done" "$("$DTRACE" -lP io | awk 'NR > 1 { print $NF }' | xargs)" "-l"
expect "args[0]: bufinfo_t *
args[1]: devinfo_t *
args[2]: fileinfo_t *" "$("$DTRACE" -lvn io:::start | sed -n 's/^.*\(args\[\)/\1/p')" "-lv"
fired
