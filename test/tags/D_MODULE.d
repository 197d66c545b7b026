// tag: D_MODULE 2
import nosuchmodule;
BEGIN { trace(1); }
