# timeout: 120
# .gnu_debuglink names a file beside the object: one of 200 GB that is not on the disk is not read for its checksum, a FIFO is not
# waited for, and a device is not opened.
. ./lib.bash
STACKS='syscall::getppid:entry /pid == $1/ { @[ustack()] = count(); } tick-1s { exit(0); }'
try() {
	make_file debuglink linked.so linked.debug
	start run "$THEIRS/linked.so"
	trace -qn "$STACKS" "$pid"
	end_all
	cheap "$1"
	expect_match 'linked.so`0x' "$out"
}
link=$THEIRS/linked.debug
theirs "$TMP/hostile" make plain "$link" not_believed
theirs truncate -s 200G "$link" 2>/dev/null || theirs truncate -s 15G "$link"
try sparse
rm -f "$link"
theirs "$TMP/hostile" make plain "$link" not_believed # neither build id nor checksum
theirs truncate -s 15G "$link"
try "sparse, of a size that can be"
rm -f "$link"
theirs mkfifo "$link"
try FIFO
rm -f "$link"
theirs ln -s /dev/ptmx "$link" # opening it makes a terminal
before=$(ls /dev/pts | wc -l)
try device
expect "$before" "$(ls /dev/pts | wc -l)" "terminals"
