# -x setenv, -x unsetenv: the environment of -c.
. "$SRC/test/lib.bash"
export GONE=1 KEPT=2
dt -q -x setenv=NEW=a=b -x setenv=KEPT=3 -x unsetenv=GONE -c 'sh -c "echo NEW=$NEW KEPT=$KEPT GONE=$GONE"' -n 'END { }'
expect "NEW=a=b KEPT=3 GONE=" "$(echo $out)"
