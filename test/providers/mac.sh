# mac_framework: the checks of security modules, and their results.
# timeout: 300
# needs: root bpf btf gcc
# uses: setfattr
. "$SRC/test/lib.bash"
if ! "$DTRACE" -lP mac_framework 2>/dev/null | grep -q mac-check-ok; then
	explained mac_framework:kernel:vnode_check_open:mac-check-ok security_file_open
	exit
fi
watch mac_framework
gcc -O1 -w -o "$TMP/mac" "$SRC/test/providers/mac.c" -lbpf || exit 1
mount_tmpfs mac
checks=$("$DTRACE" -ln 'mac_framework:::mac-check-ok' | awk 'NR > 1 { print $4 }')

# ---- every check, allowed ----
cat >"$TMP/mac.d" <<'D'
mac_framework:kernel::mac-check-ok /pid == $target/ { @ok[probefunc] = count(); @bad["error"] = sum(arg0); }
mac_framework:kernel::mac-check-err /pid == $target/ { @err[probefunc] = count(); @bad["no error"] = sum((int)arg0 <= 0); }
END { printa("ok.%s %@d\n", @ok); printa("err.%s %@d\n", @err); printa("%s: %@d\n", @bad); }
D
ktrace -q -s "$TMP/mac.d" -c "$TMP/mac $dir $$"
expect 0 "$status" "$err"
for check in $checks; do [ "$(value "ok.$check")" -ge 1 ] || { echo "$check: none"; count_failure; }; done
expect "0" "$(awk '$1 == "error:" { print $2 }' "$TMP/out")" "no error if allowed"

# ---- everything is denied: by programs that the security module "bpf" asks ----
no_bpf=
if grep -qsw bpf /sys/kernel/security/lsm || { mount -t securityfs none /sys/kernel/security 2>/dev/null && grep -qw bpf /sys/kernel/security/lsm; }; then
	ktrace -q -s "$TMP/mac.d" -c "$TMP/mac $dir $$ deny"
	expect 0 "$status" "$err"
	expect "" "$(grep "cannot deny" "$TMP/out")"
	for check in $checks; do
		[ "$(value "err.$check")" -ge 1 ] || { echo "$check: none denied"; count_failure; }
		grep -qx "denied $check" "$TMP/out" || { echo "$check: the call did not fail"; count_failure; }
	done
	expect "0" "$(awk '$1 == "no" && $2 == "error:" { print $3 }' "$TMP/out")" "an error if denied"
else
	no_bpf="mac-check-err: no security module that can be made to deny (CONFIG_LSM without bpf)"
fi

# ---- one check, its object ----
ktrace -q -c "cat /etc/hostname /etc/hostname" -n '
	mac_framework::vnode_check_open:mac-check-ok /pid == $target && stringof(args[1]->f_path.dentry->d_name.name) == "hostname"/ { @ = count(); }
	END { printa("open %@d\n", @); }'
# (a file of an overlay is also opened below it)
[ "$(value open)" -ge 2 ] || { echo "vnode_check_open: $(value open)"; count_failure; }
# ---- a refusal: a capability is needed to set such an attribute, for security modules that are not there
# ---- (Linux 6.1 with the security module "bpf" asks that one only, which allows it.)
if command -v setfattr >/dev/null && ! setpriv --reuid=65534 --clear-groups setfattr -n security.dtrace -v 1 /tmp 2>/dev/null; then
	ktrace -q -c "setpriv --reuid=65534 --clear-groups setfattr -n security.dtrace -v 1 /tmp" -n '
		mac_framework::vnode_check_setextattr:mac-check-err { printf("denied %d\n", args[0]); }'
	expect_match "^denied 1$" "$(cat "$TMP/out")"
fi
fired ${no_bpf:+"$no_bpf"}
