// tag: D_LLQUANT_FACTORNSTEPS 2
BEGIN { @ = llquantize(1, 10, 0, 2, 3); }
