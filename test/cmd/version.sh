# -V prints the version of D.
. "$SRC/test/lib.bash"
expect "dtrace: Sun D 1.14" "$("$DTRACE" -V)"
expect "dtrace: Sun D 1.14" "$("$DTRACE" -32 -V)"
