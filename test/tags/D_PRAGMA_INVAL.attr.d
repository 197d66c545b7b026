// tag: D_PRAGMA_INVAL 2
#pragma D attributes Stable nosuchname
BEGIN { trace(1); }
