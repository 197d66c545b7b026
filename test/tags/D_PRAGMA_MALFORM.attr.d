// tag: D_PRAGMA_MALFORM 2
#pragma D attributes Stable nosuchname
BEGIN { trace(1); }
