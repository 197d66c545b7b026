// tag: D_PRAGMA_SCOPE
#pragma D attributes Stable/Stable/Common vmlinux`x
BEGIN { trace(1); }
