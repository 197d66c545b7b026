// tag: D_PRAGMA_UNUSED 2
#pragma D attributes Stable/Stable/Common nosuchname
BEGIN { trace(1); }
