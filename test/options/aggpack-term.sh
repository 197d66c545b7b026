# Packed distributions are UTF-8 unless the terminal is known not to support it; encoding= overrides this.
. "$SRC/test/lib.bash"
packed() { TERM=$1 "$DTRACE" -x engine=vm -q -x aggpack ${2-} -n 'BEGIN { @[1] = quantize(1); exit(0); }' | tail -n 1; }
utf8='        1    0 : █ : 2    | 1' ascii='        1    0 : X : 2    | 1'
expect "$utf8" "$(packed xterm)" xterm
for t in dumb sun sun-color; do expect "$ascii" "$(packed $t)" $t; done
expect "$utf8" "$(packed dumb '-x encoding=utf8')" utf8
expect "$ascii" "$(packed xterm '-x encoding=ascii')" ascii
