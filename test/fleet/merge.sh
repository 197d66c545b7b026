# One program on four machines: every aggregating function gives what one machine gives that has seen all events.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
program="syscall::close:entry /$mine/ {
	@count = count(); @sum = sum(arg0); @min = min(arg0); @max = max(arg0); @avg = avg(arg0); @dev = stddev(arg0);
	@q = quantize(arg0); @l = lquantize(arg0, 1000, 2000, 250); @ll = llquantize(arg0, 10, 0, 6, 10);
	@keys[arg0 % 7, execname] = count();
}"
trace -qn "$program" -c "$(load 700 4)"
want=$out
agent web-1
agent web-2
agent db
fleet -qn "*:$program" -c "$(load 700)"
expect "$want" "$out" "four machines with 700 events each, one with 2800"
expect "" "$err"

# Only some of them; each by its name; the front is called host.
fleet -qn "web-*:syscall::close:entry /$mine/ { @[vmname] = count(); } h*t:syscall::close:entry /$mine/ { @h[vmname] = count(); }" -c "$(load 300)"
expect "host 300
web-1 300
web-2 300" "$(sorted)"

# printa() and clear() of the front work on what all have sent; what comes later is counted again.
fleet -qn "web-*:syscall::close:entry /$mine/ { @ = count(); } END { printa(\"%@d\n\", @); clear(@); printa(\"%@d\n\", @); }" -c "$(load 250)"
expect "500
0" "$(sorted | sort -rn)"

# By the operating system's name.
fleet -qn "Linux-*:syscall::close:entry /$mine/ { @ = count(); }" -c "$(load 10)"
expect 40 "$(last_fields)"

# Variables of threads and clauses are the machine's own.
fleet -qn "web-*:syscall::close:entry /$mine/ { self->n = arg0; } web-*:syscall::close:return /self->n/ { this->x = self->n; @ = sum(this->x); self->n = 0; }" -c "$(load 4)"
expect $((2 * (1000 + 1001 + 1002 + 1003))) "$(last_fields)"
