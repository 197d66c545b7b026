# The systemd unit: systemd understands it, make install puts it in its place, and dtraced can trace with the capabilities that it leaves.
# needs: root bpf gcc python3
# uses: systemd-analyze
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
. "$SRC/test/fleet/sessions.bash"
unit=$SRC/packaging/dtraced.service
expect "	sed 's|@SBIN@|/usr/local/sbin|' packaging/dtraced.service >/nowhere/usr/local/lib/systemd/system/dtraced.service" \
	"$(make -C "$SRC" -n install DESTDIR=/nowhere 2>/dev/null | grep '@SBIN@' | sed 's/^[ \t]*/\t/')" "make install"
if command -v systemd-analyze >/dev/null; then
	sed "s|@SBIN@|$BUILD|; /^Documentation=/d" "$unit" >"$TMP/dtraced.service"
	expect "" "$(systemd-analyze verify --man=no "$TMP/dtraced.service" 2>&1 | grep -F dtraced.service)" "systemd-analyze verify"
fi
caps=$(sed -n 's/^CapabilityBoundingSet=//p' "$unit" | tr ' ' '\n' | sed 's/CAP_/+/' | tr A-Z a-z | paste -sd,)
script all <<E2
#pragma D option quiet
#pragma D option switchrate=50ms
BEGIN { printf("ready\n"); }
profile-97 { @[ustack(2)] = count(); @k[stack(2)] = count(); }
syscall::close:entry /$mine/ { printf("number %d\n", arg0); }
proc:::exec-success /execname == "$load"/ { printf("exec %s\n", execname); }
E2
setpriv --no-new-privs --bounding-set "-all,$caps" --inh-caps=-all "$BUILD/dtraced" -n web -l "$TMP/t/web.sock" -s "$TMP/s" -o "$TMP/o" 2>"$TMP/keep.err" &
keeper=$!
at_end "kill $keeper 2>/dev/null; wait $keeper 2>/dev/null"
beginning all
$(load 10)
kill $keeper
wait $keeper
expect "10 1" "$(shown all | grep -c ^number) $(shown all | grep -c ^exec)"
expect "" "$(cat "$TMP/keep.err")"
expect 0 "$(said_of all drops)"
