# timeout: 300
# Every .d test that both engines can run prints the same on both: all of them, once more, in the kernel.
# needs: root bpf
. "$SRC/test/lib.bash"
[ "${ENGINE:-vm}" = bpf ] && exit 0 # the whole run is in the kernel already
ENGINE=bpf "$SRC/test/run" action agg $(cd "$SRC/test" && echo compat/*.d) compat/scripts/ lang output printf scripts subr var >"$TMP/log" 2>&1
expect 0 $? "$(tail -n 40 "$TMP/log")"
