# needs: root nobody bpf gcc python3
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
# A terminal: its other end knows whether it has been opened. It is asked before and after the same is done on purpose.
coproc terminal { python3 -c '
import fcntl, os, select, struct, sys
end = os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
fcntl.ioctl(end, 0x40045431, struct.pack("i", 0))
print(struct.unpack("i", fcntl.ioctl(end, 0x80045430, bytes(4)))[0], flush=True)
for line in sys.stdin:
    poll = select.poll()
    poll.register(end, 0)
    print("opened" if poll.poll(0) else "never opened", flush=True)'; }
asked() { echo >&"${terminal[1]}" && read -r answer <&"${terminal[0]}" && echo "$answer"; }
read -r number <&"${terminal[0]}"
theirs ln -s "/dev/pts/$number" "$link"
try device
expect "never opened" "$(asked)" "a terminal"
exec 6<>"/dev/pts/$number" 6>&-
expect opened "$(asked)" "a terminal that was opened"
