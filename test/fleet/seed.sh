# The two scripts of the article about HyperTrace, as they are printed there but for the name of the operating system.
# needs: root bpf btf gcc
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
agent scylla1-web
agent scylla1-db
trace -x targetwait=100s -x quiet -En 'Linux-6*:proc:::exec { printf("%s: user = %u, gid = %u: %s\n", vmname, uid, gid, stringof(args[0])); }' \
	-c "env $TMP/$load 0"
expect "host: user = 0, gid = 0: $TMP/$load
scylla1-db: user = 0, gid = 0: $TMP/$load
scylla1-web: user = 0, gid = 0: $TMP/$load" "$(grep -F "$TMP/$load" "$TMP/out" | sort)"

# io needs a disk that is written to; the machine may have none, so only that it runs on both.
trace -x targetwait=100s -x quiet -En 'scylla1-*:io:::start { @[vmname, immstack()] = count(); } tick-1s { exit(0); }'
expect "0 " "$status $err"
fleet -x quiet -n "scylla1-*:syscall::close:entry /$mine/ { @[vmname, immstack()] = count(); } syscall::close:entry /$mine/ { @[vmname, immstack()] = count(); }" -c "$(load 7)"
one=$(grep -A100 '^  host' "$TMP/out" | sed '1d; /^ *7$/,$d')
expect_match 'syscall' "$one"
expect "$(for m in host scylla1-db scylla1-web; do printf '  %s\n%s\n7\n' $m "$one"; done)" "$(sed '/^$/d; s/^\(  [hs].*[^ ]\) *$/\1/; s/^ *7$/7/' "$TMP/out")" "stacks as text"
