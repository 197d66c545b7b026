// tag: D_SYNTAX 2
BEGIN /(1/ { trace(1); }
