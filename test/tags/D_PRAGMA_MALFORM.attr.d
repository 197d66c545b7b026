// tag: D_PRAGMA_MALFORM
#pragma D attributes Stable nosuchname
BEGIN { trace(1); }
