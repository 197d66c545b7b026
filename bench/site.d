provider bench { probe site(int n); };
