# No function of more than 80 lines, no file of more than 700, so that each can be read at once.
# Tables (.def) may be longer. No function needs to be; one that does gets an exception here, with the reason.
. "$SRC/test/lib.bash"

cd "$SRC" || exit 1
for f in $(find src cmd -name '*.c' -o -name '*.h' | sort); do
	n=$(wc -l <"$f")
	[ "$n" -le 700 ] || { echo "$f has $n lines"; count_failure; }
done
# A function is what lies between braces in the first column; its name is the last word before a ( there.
long=$(find src cmd -name '*.c' | sort | xargs awk '
	/^[a-zA-Z_].*\(/ && !/;[[:blank:]]*$/ { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }
	/^{/ { start = FNR; next }
	/^}/ && start {
		lines = FNR - start + 1
		if (lines > 80)
			print FILENAME ": " name "() has " lines " lines"
		start = 0
	}')
expect "" "$long"
