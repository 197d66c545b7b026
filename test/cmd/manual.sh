# The manual page has every option and every flag.
. "$SRC/test/lib.bash"
man=$SRC/doc/dtrace.1
for o in $(sed -nE 's/^DT_OPTION\([A-Z]+, "([a-z]+)".*/\1/p' "$SRC/src/base/options.def"); do
	grep -qE "^\.B $o(=|\$)" "$man" || { echo "option $o is not in the manual"; fails=1; }
done
for f in $(sed -nE "s/^    \{'(.)', .*/\1/p" "$SRC/cmd/args.c"); do
	grep -qE "\\\\-$f( |\$|\\\\fR)" "$man" || { echo "flag -$f is not in the manual"; fails=1; }
done
