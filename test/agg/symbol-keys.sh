# Keys made by sym(), mod(): addresses in one function, or one module, are one key.
. "$SRC/test/lib.bash"
addr=$(awk '$3 == "vfs_read" { print $1; exit }' /proc/kallsyms 2>/dev/null)
[[ ${addr:-0} =~ ^0*$ ]] && skip "kernel addresses are hidden"
dt -qn "BEGIN { @[sym(0x$addr)] = count(); @[sym(0x$addr + 4)] = count(); exit(0); }"
expect '  vmlinux`vfs_read                                                  2' "$(sed -n 2p <<<"$out")"
dt -qn "BEGIN { @[mod(0x$addr)] = count(); @[mod(0x$addr + 400000)] = count(); exit(0); }"
expect '  vmlinux                                                           2' "$(sed -n 2p <<<"$out")"
dt -qn "BEGIN { printf(\"%a|%a|%20a|\\n\", 0x$addr, 0x$addr + 4, 0x$addr); exit(0); }"
expect 'vmlinux`vfs_read|vmlinux`vfs_read+0x4|    vmlinux`vfs_read|' "$(sed -n 1p <<<"$out")"
