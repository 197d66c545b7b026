// tag: D_PROV_PRXLATOR 3
struct out { int a; };
provider foo { probe bar(int x) : (struct out *x); };
