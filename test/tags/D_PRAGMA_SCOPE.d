// tag: D_PRAGMA_SCOPE 2
#pragma D attributes Stable/Stable/Common vmlinux`x
BEGIN { trace(1); }
