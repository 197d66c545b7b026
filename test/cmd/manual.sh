# The manual page has every option, flag, action, variable, subroutine, conversion and tag.
. "$SRC/test/lib.bash"
man=$SRC/doc/dtrace.1

# What comes from the tables of the source is as doc/tables writes it (doc/tables --update).
expect "$("$SRC/doc/tables")" "$(sed -n '/^\.\\" tables begin/,/^\.\\" tables end/p' "$man" | sed '1d;$d')" "doc/tables"
count() { grep -c "$1" "$SRC/$2"; }
entries() { sed -n "/^\.SH $1\$/,/^\.SH/p" "$man" | grep -c '^\.TP$'; }
expect "$(count '^DT_OPTION(' src/base/options.def)" "$(entries OPTIONS)" options
expect "$(count '^DT_BUILTIN_VAR(' src/dif/builtins.def)" "$(entries VARIABLES)" variables
expect "$(count '^DT_SUBR(' src/dif/builtins.def)" "$(entries SUBROUTINES)" subroutines
expect "$(count '^DT_TAG(' src/base/tags.def)" "$(entries 'ERROR TAGS')" tags
expect "$(count '^DT_ACTION(' src/dif/actions.def)" "$(entries ACTIONS)" actions
expect "$(count '^DT_AGGFUNC(' src/dif/actions.def)" "$(entries 'AGGREGATING FUNCTIONS')" "aggregating functions"

for f in $(sed -nE "s/^    \{'(.)', .*/\1/p" "$SRC/cmd/args.c"); do
	grep -qE "\\\\-$f( |\$|\\\\fR)" "$man" || { echo "flag -$f is not in the manual"; fails=1; }
done
for f in $(sed -nE 's/^    \{"([a-z]+)", \{0, .*/\1/p' "$SRC/cmd/args.c"); do
	grep -qE "^\.BI? [\\]-[\\]-$f( |\$)" "$man" || { echo "flag --$f is not in the manual"; fails=1; }
done
# {"diouxX", "", ...}: letters and their size; sizes of integers are not listed one by one
formats=$(sed -n '/^\.SH FORMATS$/,/^\.SH EXIT/p' "$man")
while read -r letters size; do
	for ((i = 0; i < ${#letters}; i++)); do
		grep -qE "^\.BR? .*%$size${letters:i:1}( |\$|\")" <<<"$formats" || { echo "%$size${letters:i:1} is not in the manual"; fails=1; }
	done
done < <(sed -n '/^static const struct dt_conversion conversions\[\] = {/,/^};/p' "$SRC/src/dif/format.c" | sed -nE 's/^    \{"([a-zA-Z]+)", "([lw]?)", DT_TAKES_[A-Z_]*(CHAR|STRING|INTEGER|ADDRESS|POINTER|FLOAT|HOST|PORT|STACK|TIME), .*/\1 \2/p')
for flag in '#' 0 + '@'; do
	grep -qxF -- ".B $flag" <<<"$formats" || { echo "flag $flag of conversions is not in the manual"; fails=1; }
done
# every entry says something, and something of its own
expect "" "$("$SRC/doc/tables" | grep -c '^\\&[.]$' | grep -v '^0$')" "entries without a description"
expect "" "$("$SRC/doc/tables" | awk '/^\.SH ERROR TAGS/ { on = 1 } on && /^\\&/ && seen[$0]++' | grep -v unused)" "tags with the same description"
