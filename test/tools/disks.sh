# Tools about disks print what a known load did: requests past the page cache are those of the process itself.
# needs: root bpf btf gcc
. "$SRC/test/lib.bash"
. "$SRC/test/tools/lib.bash"
find_disk
at_end leave_disk
[ -n "$disk" ] || skip "no ext4 here"
dir=$disk/$name.dir
mkdir "$dir"
at_end 'rm -rf "$dir"; leave_disk'
n=16
# Beside each tool: how many requests of the load have begun, how many of them are its reads, and how many of these are seen
# to end. On a busy machine some are given to the disk by a thread of the kernel instead, and not all ends are told: what is
# told must be there.
beside='io:::start /progenyof($target) && args[0]->b_bcount == 8192 && args[0]->b_flags & B_READ/ { _begun[arg0, arg2] = 1; @_n["_begun"] = count(); }
	io:::done /_begun[arg0, arg2]/ { _begun[arg0, arg2] = 0; @_n["_ended"] = count(); }
	io:::start /progenyof($target) && args[0]->b_bcount/ { @_n["_all"] = count(); }
	END { printa("%s %@d\n", @_n); }'

tool biosnoop -n "$beside" -- direct $n "$dir"
[ "$(value _begun)" -gt 0 ] && [ "$(value _begun)" -le $n ] || want "up to $n" "$(value _begun)" "reads"
want "$(value _ended)" "$(rows "^[0-9]+ [0-9]+ $name [a-z0-9]+ R [0-9]+ 8192 [0-9]+ .*/data\$")" reads
on=$(squeezed | awk '$5 == "R" && $7 == 8192 { print $4; exit }')
tool biosnoop nosuchdisk -- direct 2 "$dir"
want 1 "$(rows .)" "another disk"
tool biolatency "$on" -x argref -n "$beside" -- direct $n "$dir"
want "$(value _ended)" "$(awk -v on="$on" '$0 == on ", read, us" { on_it = 1 } /write/ { on_it = 0 } on_it && /\|/ { k += $NF } END { print k + 0 }' "$TMP/out")"
tool biotop 100 -x argref -n "$beside" -- direct $n "$dir"
want "$(value _ended) $(($(value _ended) * 8192))" "$(squeezed | awk -v n="$name" '$2 == n && $4 == "R" { print $5, $6 }')"

tool bitesize "$name" -x argref -n "$beside" -- direct $n "$dir"
want "$(value _begun)" "$(awk '/, read, bytes$/ { r = 1 } /, write, bytes$/ { r = 0 } r && $1 == 8192 { print $NF }' "$TMP/out")" reads
want "$(value _all)" "$(samples)"
# the first one has none before it
tool seeksize "$name" -x argref -n "$beside" -- direct $n "$dir"
want $(($(value _all) - 1)) "$(samples)"
# reads of one place: each begins 16 blocks before the end of the one before; there is one read after something else at least
[ "$(awk '$1 == -16 { n += $NF } END { print n + 0 }' "$TMP/out")" -lt "$(value _begun)" ] || want "fewer than $(value _begun)" "-16"
tool iopattern 100 -x argref -n "$beside" -- direct $n "$dir"
want $(($(value _begun) * 8192)) "$(sum 4 "^$on ")" "read"
