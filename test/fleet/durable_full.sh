# A full disk, a folder that cannot be written, no privilege: what is lost is counted and said; the others go on.
# needs: root nobody bpf gcc python3 mountns
# timeout: 120
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
. "$SRC/test/fleet/sessions.bash"
mkdir "$TMP/disk"
mount -t tmpfs -o size=512k small "$TMP/disk" || skip "cannot mount tmpfs"
at_end 'umount "$TMP/disk" 2>/dev/null'
rmdir "$TMP/o"
ln -s "$TMP/disk" "$TMP/o"
script count <<E2
#pragma D option quiet
#pragma D option switchrate=20ms
#pragma D option logsize=64k
BEGIN { printf("ready\n"); }
syscall::close:entry /$mine/ { printf("%d\n", arg0); }
E2
keep
beginning count
$(load 100)
wait_for 60 eval 'kept count | grep -q "\"1099"'
dd if=/dev/zero of="$TMP/disk/ballast" bs=4k count=1000 2>/dev/null # up to the last block
$(load 900)
full() { [ "$(said_of count lostlines)" -gt 0 ]; }
wait_for 60 full
expect running "$(said_of count state)"
rm "$TMP/disk/ballast"
$(load 1)
told() { kept count | grep -q '"type":"drop","kind":"STORE"'; }
wait_for 60 eval 'told || { '"$(load 1)"'; false; }'
kill $keeper
wait $keeper
# Lines are whole; those that are there and those that were lost, as the output itself says, are all.
/usr/bin/python3 - "$TMP/o/count" "$TMP/counts" <<'E2'
import glob, json, sys
records = lost = 0
for f in sorted(glob.glob(sys.argv[1] + "/[0-9]*.ndjson")):
    for line in open(f):
        o = json.loads(line)
        records += o["type"] == "record" and o["output"][0]["text"] != "ready\n"
        lost += o.get("count", 0) if o.get("kind") == "STORE" else 0
open(sys.argv[2], "w").write("%d %d" % (records, lost))
E2
read -r records lost <"$TMP/counts"
expect "$lost" "$(said_of count lostlines)" "lines lost"
[ "$lost" -gt 0 ] && [ "$records" -ge 100 ] || { echo "records $records, lost $lost"; count_failure; }
expect_match 'lines \([0-9]+ bytes\) of output could not be written: No space left on device' "$(kept count)"

# Without privilege: one that needs the kernel waits, with the reason; one that does not runs.
rm -rf "$TMP/s" "$TMP/nobody"
mkdir -m 755 "$TMP/s"
mkdir -m 700 "$TMP/nobody"
script kernel <<'E2'
syscall::close:entry { trace(pid); }
E2
script plain <<'E2'
BEGIN { printf("ready\n"); }
E2
chown nobody "$TMP/nobody"
chmod 711 "$TMP"
setpriv --reuid=nobody --clear-groups "$BUILD/dtraced" -l "$TMP/nobody/sock" -s "$TMP/s" -o "$TMP/nobody/o" 2>"$TMP/nobody.err" &
plain=$!
at_end "kill $plain 2>/dev/null; wait $plain 2>/dev/null"
rm "$TMP/o"
ln -s "$TMP/nobody/o" "$TMP/o"
wait_state kernel waiting
beginning plain
wait_for 60 grep -q 'dtraced: session kernel: .*this needs root' "$TMP/nobody.err"
expect_match 'this needs root' "$(said_of kernel why)"
kill $plain
wait $plain
refused() { # PATTERN FLAGS
	local pattern=$1
	shift
	expect_match "$pattern" "$(timeout 20 setpriv --reuid=nobody --clear-groups "$BUILD/dtraced" -l "$TMP/nobody/sock" "$@" 2>&1)"
}
refused 'cannot make /no/such: No such file' -s "$TMP/s" -o /no/such
refused 'cannot read /no/such: No such file' -s /no/such -o "$TMP/nobody/o"
chmod 777 "$TMP/s"
refused 'a folder of scripts must belong to root or to the user of dtraced' -s "$TMP/s" -o "$TMP/nobody/o"
