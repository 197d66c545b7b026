// tag: D_SYNTAX
BEGIN /(1/ { trace(1); }
