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
# Beside each tool: how many of the reads of the load have begun, and how many are seen to end. On a busy machine the kernel
# does not tell of all of them; what it tells must be there.
beside='io:::start /progenyof($target) && args[0]->b_bcount == 8192 && args[0]->b_flags & B_READ/ { _begun[arg0, arg2] = 1; @_n["_begun"] = count(); }
	io:::done /_begun[arg0, arg2]/ { _begun[arg0, arg2] = 0; @_n["_ended"] = count(); }
	END { printa("%s %@d\n", @_n); }'

tool biosnoop -n "$beside" -- direct $n "$dir"
want $n "$(value _begun)" "reads"
want "$(value _ended)" "$(rows "^[0-9]+ [0-9]+ $name [a-z0-9]+ R [0-9]+ 8192 [0-9]+ .*/data\$")" reads
on=$(squeezed | awk '$5 == "R" && $7 == 8192 { print $4; exit }')
tool biosnoop nosuchdisk -- direct 2 "$dir"
want 1 "$(rows .)" "another disk"
tool biolatency "$on" -x argref -n "$beside" -- direct $n "$dir"
want "$(value _ended)" "$(awk -v on="$on" '$0 == on ", read, us" { on_it = 1 } /write/ { on_it = 0 } on_it && /\|/ { k += $NF } END { print k + 0 }' "$TMP/out")"
tool biotop 100 -x argref -n "$beside" -- direct $n "$dir"
want "$(value _ended) $(($(value _ended) * 8192))" "$(squeezed | awk -v n="$name" '$2 == n && $4 == "R" { print $5, $6 }')"

tool bitesize "$name" -- direct $n "$dir"
want $n "$(awk '/, read, bytes$/ { r = 1 } /, write, bytes$/ { r = 0 } r && $1 == 8192 { print $NF }' "$TMP/out")" reads
# reads of one place: each begins 16 blocks before the end of the one before
tool seeksize "$name" -- direct $n "$dir"
want $((n - 1)) "$(awk '$1 == -16 { n += $NF } END { print n + 0 }' "$TMP/out")"
tool iopattern 100 -- direct $n "$dir"
want $((n * 8192)) "$(sum 4 "^$on ")" "read"
