# The tables of doc/spec are those of the source: opcodes, built-ins, actions, sections and options of DOF.
. "$SRC/test/lib.bash"
for f in "$SRC"/doc/spec/*.md; do
	expect "$(cat "$f")" "$("$SRC/doc/tables" --spec "$f")" "$(basename "$f"): doc/tables --update"
done
# and they are complete: a row for each line of the source
rows() { sed -n "/^<!-- table $2 -->/,/^<!-- end -->/p" "$SRC/doc/spec/$1" | grep -c '^| [0-9]'; }
lines() { grep -c "$1" "$SRC/$2"; }
expect "$(lines '^DT_OPCODE(' src/dif/opcodes.def)" "$(rows dif.md opcodes)" opcodes
expect "$(lines '^DT_BUILTIN_VAR(' src/dif/builtins.def)" "$(rows dif.md variables)" variables
expect "$(lines '^DT_SUBR(' src/dif/builtins.def)" "$(rows dif.md subroutines)" subroutines
expect "$(lines '^DT_ACT(' src/dif/actions.def)" "$(rows dif.md actions)" actions
expect "$(lines '^DT_STMT(' src/dif/actions.def)" "$(rows dof.md statements)" statements
expect "$(sed -n '/^enum dt_dof_sect {/,/^};/p' "$SRC/src/dif/dof.h" | grep -o 'DT_DOF_[A-Z]*' | wc -l)" "$(rows dof.md sections)" sections
expect "$(grep -cE '^DT_OPTION\([A-Z]+, "[a-z]+", [0-9]+,' "$SRC/src/base/options.def")" "$(rows dof.md options)" options
