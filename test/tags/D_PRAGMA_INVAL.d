// tag: D_PRAGMA_INVAL 2
#pragma D nosuchpragma
BEGIN { trace(1); }
