// tag: D_PROV_PRDUP 2
provider foo { probe bar(int); probe bar(int); };
