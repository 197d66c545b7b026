// tag: D_PRAGMA_INVAL
#pragma D nosuchpragma
BEGIN { trace(1); }
