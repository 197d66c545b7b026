// tag: D_PRAGMA_UNUSED
#pragma D attributes Stable/Stable/Common nosuchname
BEGIN { trace(1); }
