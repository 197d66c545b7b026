# The table of messages in doc/fleet.md is that of the protocol.
. "$SRC/test/lib.bash"
expect "$(sed -n 's/^DT_MESSAGE(\([0-9]*\), \([A-Z]*\), "\([a-z]*\)", "\(.*\)")$/| \1 | \2 | \3 | \4 |/p' "$SRC/src/fleet/messages.def")" \
	"$(sed -n '/^| number | message/,$p' "$SRC/doc/fleet.md" | tail -n +3)"
expect_match "which is $(sed -n 's/^#define DT_FLEET_VERSION //p' "$SRC/src/fleet/frames.h");" "$(cat "$SRC/doc/fleet.md")"

# The example of -S prints what the document says.
sed -n '/^\$ dtrace -e -E -S/,/^```/p' "$SRC/doc/fleet.md" >"$TMP/example"
sed -n '1,/grep/s/^\$ dtrace/"$DTRACE"/;1,/grep/p' "$TMP/example" >"$TMP/command"
expect "$(sed -n '/^clause/p' "$TMP/example")" "$(DTRACE_TARGETS=$TMP/none DTRACE=$DTRACE bash "$TMP/command" 2>&1)"
